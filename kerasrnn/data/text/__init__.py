"""Plain text, vocabularies and word vectors."""
