"""Loops over time whose gradients are written by hand."""
