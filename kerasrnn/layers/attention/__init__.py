"""Attention mechanisms, and the cells and layers that attend."""
