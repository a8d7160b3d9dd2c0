"""Piano rolls in, music out."""
