"""Batches of rows of ids: encoded, sorted by length, padded."""

import itertools
import reprlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor

# How many batches are sorted by length together. More means less padding,
# and less shuffling.
POOL = 50
_IN_BUFFER = 2**20  # indices that are shuffled in a buffer


# Ids of texts.


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
    while part := list(itertools.islice(texts, 1000)):
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


# Batches of rows of similar length.


def length_batches(count, encode, batch_size, seed=None, pool=None):
    """Batches of encoded rows, by length.

    Pools of rows are encoded in parallel, but in the same order each time: a
    seed gives the same batches.

    Args:
        count: Positive integer, the number of rows.
        encode: Function from an int64 tensor of indices of rows, `(pool,)`, to
            a tuple of their lengths, `(pool,)`, and a nest of tensors, ragged
            or not, of as many rows.
        batch_size: Positive integer, rows in a batch.
        seed: Integer, the seed of the shuffling, which differs in every
            epoch. `None` keeps the order of the pools.
        pool: Positive integer, rows that are sorted together. Defaults to
            those of 50 batches.

    Returns:
        A `tf.data.Dataset` of such nests, of `batch_size` rows.

    Raises:
        ValueError: when `batch_size` is not a positive integer.
    """
    positive_integer("batch_size", batch_size)
    dataset = tf.data.Dataset.range(count)
    if seed is not None:
        dataset = _shuffled(dataset, count, seed)

    def sorted_rows(indices):
        lengths, rows = encode(indices)
        order = tf.argsort(lengths)
        return tf.nest.map_structure(lambda x: tf.gather(x, order), rows)

    def batches(*rows):
        rows = rows if len(rows) > 1 else rows[0]
        return tf.data.Dataset.from_tensor_slices(rows).batch(batch_size)

    dataset = dataset.batch(pool or POOL * batch_size)
    dataset = in_parallel(dataset, sorted_rows).flat_map(batches)
    if seed is not None:
        dataset = dataset.shuffle(POOL, seed=seed)
    size = -(-count // batch_size)
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(size))
    return without_tuning(dataset)


def _shuffled(dataset, count, seed):
    """Shuffles the numbers below a count, anew in every epoch.

    A buffer takes 190 bytes for each. One vector of many takes 8.
    """
    if count <= _IN_BUFFER:
        return dataset.shuffle(count, seed=seed)
    seeds = tf.data.Dataset.random(seed, rerandomize_each_iteration=True)

    def epoch(seed):
        order = tf.random.experimental.stateless_shuffle(
            tf.range(count, dtype=tf.int64), [seed, 0]
        )
        return tf.data.Dataset.from_tensor_slices(order)

    return seeds.take(1).flat_map(epoch)


def index_batches(lengths, batch_size, seed=None):
    """Batches of the indices of rows, by length.

    Args:
        lengths: Integer tensor of shape `(rows,)`.
        batch_size: Positive integer, rows in a batch.
        seed: As in `length_batches`; but `None` sorts all rows by length.

    Returns:
        A `tf.data.Dataset` of int64 tensors of shape `(batch,)`.
    """

    def encode(indices):
        return tf.gather(lengths, indices), indices

    pool = len(lengths) if seed is None else None
    return length_batches(len(lengths), encode, batch_size, seed, pool)


def in_parallel(dataset, function):
    """Maps a dataset by several threads, which keep its order."""
    return dataset.map(
        function, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )


def without_tuning(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns a dataset that tf.data does not tune while it runs.

    Tuning is done by a thread that sleeps for longer and longer, up to a
    minute. At the end of an epoch the iterator waits for it, and TensorFlow
    2.21 often fails to wake it. Our datasets leave nothing to tune: their
    batches are small, and ready long before a model needs them.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


# Padding, and weights of rows.


def with_start(ids: tf.RaggedTensor, start_id: int) -> tf.RaggedTensor:
    """Puts an id before every row.

    Args:
        ids: Integer `RaggedTensor` of shape `(batch, tokens)`.
        start_id: Integer.
    """
    start = tf.fill((ids.nrows(), 1), tf.cast(start_id, ids.dtype))
    return tf.concat([start, ids], axis=1)


def with_end(
    ids: tf.RaggedTensor, end_id: int, also_empty: bool = True
) -> tf.RaggedTensor:
    """Appends an id to every row.

    Args:
        ids: Integer `RaggedTensor` of shape `(batch, tokens)`.
        end_id: Integer.
        also_empty: Whether rows without ids get it as well.
    """
    end = tf.fill((ids.nrows(), 1), tf.cast(end_id, ids.dtype))
    if not also_empty:
        end = tf.ragged.boolean_mask(end, ids.row_lengths()[:, None] > 0)
    return tf.concat([ids, end], axis=1)


def pad_to(ids: Tensor, pad_id: int, most: int | None = None) -> Tensor:
    """Pads rows on the right to one length, at least 1.

    Args:
        ids: Integer tensor or `RaggedTensor` of shape `(batch, time, ...)`.
        pad_id: Integer, the id of padding.
        most: Integer, the maximum length: longer rows are truncated. `None`
            for any.

    Returns:
        Integer tensor of shape `(batch, time, ...)`.
    """
    if isinstance(ids, tf.RaggedTensor):
        ids = ids.to_tensor(pad_id)
    ids = ids[:, :most]
    missing = tf.unstack(tf.maximum(0, 1 - tf.shape(ids)[1:]))
    paddings = [[0, 0], *([0, count] for count in missing)]
    return tf.pad(ids, paddings, constant_values=pad_id)


def checked_weights(weights, count, kind):
    """Returns weights as a float32 array of shape `(count,)`.

    Args:
        weights: List of numbers.
        count: Integer, the number of rows.
        kind: String, what a row is, such as `"text"`.

    Raises:
        ValueError: when they are not one non-negative number for each row.
    """
    shape = ""
    try:
        found = np.asarray(weights, "float32")
        shape = f" of shape {found.shape}"
        right = found.shape == (count,) and np.isfinite(found).all()
    except (TypeError, ValueError):
        right = False
    if not right or (found < 0).any():
        raise ValueError(
            f"`sample_weight` must be a non-negative number for each {kind}. "
            f"Received: {reprlib.repr(weights)}{shape} for {count} {kind}s"
        )
    return found
