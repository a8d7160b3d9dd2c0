"""Loops over the steps of cells, and their gradients."""
