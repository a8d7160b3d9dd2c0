"""The HTTP server in front of exported models, without TensorFlow.

It holds no model: each version has a process of its own, which is
`kerasrnn.serving.http.worker`. So this package imports nothing of `kerasrnn`,
which imports TensorFlow.
"""
