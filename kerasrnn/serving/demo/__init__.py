"""A page to try models: `kerasrnn-demo`."""
