"""Recurrent cells, each beside the layer that runs it."""
