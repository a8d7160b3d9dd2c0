"""Checks of what a tokenizer is trained on."""

from collections.abc import Iterable


def check_vocabulary_size(size, required):
    """Raises `ValueError` when a vocabulary has no room for more tokens."""
    if size <= required:
        raise ValueError(
            f"`vocabulary_size` must be greater than {required}, the number "
            "of its special tokens. "
            f"Received: vocabulary_size={size}"
        )


def listed_texts(corpus: Iterable[str]) -> list[str]:
    """Returns a corpus as a list; a string, a list of letters, is refused."""
    if isinstance(corpus, (str, bytes)):
        raise ValueError(
            "`texts` must be a list of strings. "
            f"Received: the string {corpus!r:.80}"
        )
    return list(corpus)
