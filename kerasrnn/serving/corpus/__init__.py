"""Predictions for a whole file, in shards: `kerasrnn-corpus`."""
