"""The console scripts and the HTTP server, without messages of libraries.

This package imports `kerasrnn`, and so TensorFlow, only inside functions, after
log messages were silenced.

The HTTP server loads no models itself. Each version of a model runs in its own
process, `kerasrnn.serving.http.worker`.
"""
