"""The console scripts, without the messages of libraries.

This package imports `kerasrnn`, and so TensorFlow, inside functions only: the
terminal is made quiet before.
"""
