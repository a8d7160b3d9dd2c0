"""The language model, its losses and dynamic evaluation."""
