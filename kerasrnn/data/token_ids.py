"""Many texts, of which a part is encoded at a time."""

import itertools
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import Strings

_AT_ONCE = 1000


def in_parts(
    texts: Iterable[Any], encode: Callable[[list], Any]
) -> Iterator[Any]:
    """Yields what a function makes of a thousand texts at a time.

    Ragged tensors take far more memory than arrays.

    Args:
        texts: Iterable of strings, or of rows that have one.
        encode: Function of a list of some of them, such as `tokenize` of a
            `Tokenizer`.
    """
    texts = iter(texts)
    while part := list(itertools.islice(texts, _AT_ONCE)):
        yield encode(part)


def id_parts(
    texts: Strings, tokenizer: Tokenizer, max_length: int | None = None
) -> Iterator[tf.RaggedTensor]:
    """Yields the ids of a thousand texts after another, `(texts, tokens)`.

    The arguments are those of `id_rows`.
    """
    return in_parts(
        texts,
        lambda part: tokenizer.tokenize(
            tf.constant(part, tf.string), max_length
        ),
    )


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
    for ids in id_parts(texts, tokenizer, max_length):
        ends = ids.row_splits.numpy()[1:-1]
        yield from np.split(ids.flat_values.numpy(), ends)
