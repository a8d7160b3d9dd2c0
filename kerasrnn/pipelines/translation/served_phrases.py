"""Phrases that a client wants in a translation, or does not want."""

import tensorflow as tf

from kerasrnn.pipelines.graphs import TEXTS
from kerasrnn.pipelines.served_ids import PAD
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import text_list
from kerasrnn.tokenizers import normalize_text

WITH_PHRASES = [
    TEXTS,
    tf.TensorSpec([None], tf.string, name="prefix"),
    tf.TensorSpec([None, None], tf.string, name="required"),
    tf.TensorSpec([None, None], tf.string, name="forbidden"),
]

# The most numbers that are kept of the phrases of a batch: for each a table of
# n rows and n columns, where n - 1 is the number of tokens of the longest.
_MOST = 2**22
_TOO_MANY = (
    "The number of phrases, times the square of the tokens of the longest, "
    f"must be at most {_MOST}. Received the tokens of each:"
)
_UNKNOWN = "All words of a phrase must be in the target vocabulary. Received:"


def phrase_ids(texts, tokenizer):
    """Returns the ids of phrases, padded with -1, in one more dimension.

    Args:
        texts: String tensor of shape `(batch,)` or `(batch, phrases)`; an empty
            string is not a phrase.
        tokenizer: The `Tokenizer` of the target.

    Raises:
        tf.errors.InvalidArgumentError: when the vocabulary lacks a word, or
            there are too many or too long phrases.
    """
    flat = tf.reshape(texts, [-1])
    ids = tokenizer.tokenize(flat)
    wrong = unwritable(flat, ids, tokenizer)
    lengths = ids.row_lengths()
    size = tf.reduce_max(tf.concat([lengths, [0]], axis=0)) + 1
    few = ids.nrows() * size * size <= _MOST
    checks = [
        tf.debugging.Assert(tf.equal(tf.size(wrong), 0), [_UNKNOWN, wrong]),
        tf.debugging.Assert(few, [_TOO_MANY, lengths]),
    ]
    with tf.control_dependencies(checks):
        ids = ids.to_tensor(PAD)
    return tf.reshape(ids, tf.concat([tf.shape(texts), tf.shape(ids)[1:]], 0))


def unwritable(phrases, ids, tokenizer):
    """Returns those of the phrases `(count,)` whose ragged ids lack a word."""
    is_unknown = tf.reduce_any(ids == tokenizer.unknown_id, axis=1)
    is_lost = (normalize_text(phrases) != "") & (ids.row_lengths() == 0)
    return tf.boolean_mask(phrases, is_unknown | is_lost)


def phrase_columns(texts, tokenizer, prefix, required, forbidden):
    """Returns the phrases of a list of texts, a list for each argument.

    Args:
        texts: List of strings.
        tokenizer: The `Tokenizer` of the target.
        prefix: List of strings, or `None`.
        required, forbidden: Lists of lists of strings, or `None`.

    Raises:
        ValueError: when there are not as many phrases as texts, or the
            vocabulary lacks a word.
    """
    blank = [""] * len(texts)
    columns = {"prefix": blank if prefix is None else text_list(prefix)}
    for name, lists in (("required", required), ("forbidden", forbidden)):
        rows = [
            text_list(row)
            for row in ([[]] * len(texts) if lists is None else lists)
        ]
        width = max([1, *map(len, rows)])
        columns[name] = [row + [""] * (width - len(row)) for row in rows]
    for name, column in columns.items():
        if len(column) != len(texts):
            raise ValueError(
                f"`{name}` must have an item for each text. Received: "
                f"{len(texts)} texts and {len(column)} items"
            )
        flat = tf.reshape(tf.constant(column, tf.string), [-1])
        wrong = unwritable(flat, tokenizer.tokenize(flat), tokenizer)
        if len(wrong):
            raise ValueError(f"{_UNKNOWN} {decoded(wrong)}")
    return list(columns.values())


def count_tokens(ids):
    """Returns the number of tokens of phrases, `(batch,)`."""
    axes = list(range(1, ids.shape.rank))
    return tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=axes)
