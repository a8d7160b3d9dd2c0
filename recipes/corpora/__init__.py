"""The corpora that the recipes make themselves, without any data."""
