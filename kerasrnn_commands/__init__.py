"""The console scripts, without the messages of libraries, and the HTTP server.

This package imports `kerasrnn`, and so TensorFlow, inside functions only: the
terminal is made quiet before.

The server in front of exported models holds no model: each version has a
process of its own, which is `kerasrnn.serving.http.worker`.
"""
