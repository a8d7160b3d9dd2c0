"""Text in, its probability or its continuation out."""
