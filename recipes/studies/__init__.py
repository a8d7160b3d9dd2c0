"""Comparisons and ablations: what made the tables of the recipes."""
