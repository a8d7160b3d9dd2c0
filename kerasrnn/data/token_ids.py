"""The ids of many texts, one after another."""

from collections.abc import Iterator

import numpy as np

from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import Strings

# Ragged tensors take far more memory than arrays.
_AT_ONCE = 1000


def id_rows(
    texts: Strings, tokenizer: Tokenizer, max_length: int | None = None
) -> Iterator[np.ndarray]:
    """Yields the ids of each text, an int32 array of shape `(tokens,)`.

    Args:
        texts: List of strings.
        tokenizer: A `Tokenizer`.
        max_length: Positive integer. Longer texts are truncated to this many
            tokens. `None` keeps all tokens.

    Example:

    >>> tokenizer = ReviewTokenizer(["<pad>", "<unk>", "a", "bad", "book"])
    >>> [row.tolist() for row in id_rows(["a book", "bad"], tokenizer)]
    [[2, 4], [3]]
    """
    for start in range(0, len(texts), _AT_ONCE):
        ids = tokenizer.tokenize(texts[start : start + _AT_ONCE], max_length)
        ends = ids.row_splits.numpy()[1:-1]
        yield from np.split(ids.flat_values.numpy(), ends)
