"""The corpora that the recipes generate, without any data."""
