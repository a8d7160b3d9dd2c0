"""The classifier of texts, and what summarizes an encoder's outputs."""
