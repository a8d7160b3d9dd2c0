"""Recurrent cells and their layers."""
