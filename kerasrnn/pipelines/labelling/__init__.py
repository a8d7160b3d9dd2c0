"""Text in, labels out."""
