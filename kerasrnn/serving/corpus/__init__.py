"""A whole file answered in shards: `kerasrnn-corpus`."""
