"""Checks, decodes and batches lists of strings."""

from collections.abc import Iterable

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import NO_LISTS
from kerasrnn.arguments import is_string
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import string_list
from kerasrnn.data.batches import id_parts
from kerasrnn.data.stored_rows import StoredRows
from kerasrnn.warning import warn

# Maximum number of tokens per character, as in "&amp;" with separated
# punctuation.
_MOST_TOKENS = 8


def decoded(strings):
    """Converts a string tensor `(batch,)` to a list of Python strings."""
    return [text.decode() for text in strings.numpy()]


def text_list(texts):
    """Converts an iterable of strings to a list, or raises `ValueError`.

    Rows on disk, which a reader has checked, stay there.

    Bytes, as TensorFlow gives strings, are decoded; those that are not UTF-8
    become U+FFFD, as in an export.
    """
    if isinstance(texts, StoredRows):
        return texts
    return [
        text.decode(errors="replace") if isinstance(text, bytes) else text
        for text in string_list("texts", texts, is_right=is_string)
    ]


def pair_list(pairs):
    """Converts an iterable of `(source, target)` strings to a list.

    Rows on disk, which a reader has checked, stay there.

    Raises:
        ValueError: when it is anything else. A pair may have a third item, its
            word alignments.
    """
    if isinstance(pairs, StoredRows):
        return pairs
    if isinstance(pairs, Iterable) and not isinstance(pairs, NO_LISTS):
        listed = list(pairs)
        is_array = (tuple, list, np.ndarray)
        if all(isinstance(x, is_array) and len(x) in (2, 3) for x in listed):
            sides = (text_list(pair[i] for pair in listed) for i in (0, 1))
            more = (pair[2:] for pair in listed)
            return [(*x, *rest) for *x, rest in zip(*sides, more, strict=True)]
    raise ValueError(
        "Expected: a list of pairs `(source, target)`, such as "
        f"`zip(sources, targets)`. Received: a {type(pairs).__name__}, "
        f"{pairs!r:.80}"
    )


def warn_of_cut(texts, tokenizer, max_length):
    """Warns about texts that are truncated.

    Args:
        texts: List of strings.
        tokenizer: The `Tokenizer` of the texts.
        max_length: Integer, the number of tokens that are read; `None` for no
            limit.
    """
    if max_length is None:
        return
    most = max_length // _MOST_TOKENS
    long = [text for text in texts if len(text) + 1 > most]
    count = sum(
        int(tf.math.count_nonzero(ids.row_lengths() > max_length))
        for ids in id_parts(long, tokenizer, max_length + 1)
    )
    if count:
        warn(
            f"{count} of {len(texts)} texts were cut after {max_length} "
            "tokens, the `max_length` of the pipeline. The rest was not read.",
        )


def indices_by_length(rows, batch_size):
    """Yields batches of indices of rows with similar lengths.

    Args:
        rows: List of strings, lists or arrays.
        batch_size: Positive integer.

    Raises:
        ValueError: when `batch_size` is not a positive integer.
    """
    positive_integer("batch_size", batch_size)
    order = np.argsort([len(row) for row in rows], kind="stable")
    for start in range(0, len(rows), batch_size):
        yield order[start : start + batch_size]
