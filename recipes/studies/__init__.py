"""Comparisons and ablations, whose results are in the tables of README.md."""
