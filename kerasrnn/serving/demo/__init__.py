"""A web page to try models: `kerasrnn-demo`."""
