"""The console scripts, which say what they have to say and nothing else.

This package imports `kerasrnn`, and so TensorFlow, inside functions only: the
terminal is made quiet before.
"""
