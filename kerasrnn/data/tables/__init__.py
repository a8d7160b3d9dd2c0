"""Rows of tables of any format."""
