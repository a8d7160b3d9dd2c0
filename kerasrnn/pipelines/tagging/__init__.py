"""Text in, tagged spans out."""
