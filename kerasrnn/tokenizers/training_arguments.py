"""Checks of what a tokenizer is trained on."""


def check_vocabulary_size(size, required):
    """Raises `ValueError` when a vocabulary has no room for more tokens."""
    if size <= required:
        raise ValueError(
            f"`vocabulary_size` must be greater than {required}, the number "
            "of its special tokens. "
            f"Received: vocabulary_size={size}"
        )
