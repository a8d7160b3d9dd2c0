"""Batches of labelled texts of similar length."""

import reprlib
from collections.abc import Callable
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.batches import checked_weights
from kerasrnn.data.batches import id_parts
from kerasrnn.data.batches import index_batches
from kerasrnn.data.batches import pad_to
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


def labelled_batches(
    texts: Strings,
    labels: Sequence[float],
    tokenizer: Tokenizer,
    batch_size: int,
    max_length: int | None = None,
    seed: int | None = None,
    sample_weight: Sequence[float] | None = None,
    features: Callable[[tf.RaggedTensor], Callable[[Tensor], Tensor]]
    | None = None,
) -> tf.data.Dataset:
    """Returns batches of labelled texts for `TextClassifier.fit`.

    Texts of similar length share a batch, which reduces padding.

    Args:
        texts: List of strings.
        labels: List with one label for each text: integers, the classes; or
            floats, the probabilities of class 1, for a model with one logit; or
            an array `(texts, labels)` of 0 and 1, for multi-label texts.
        tokenizer: A `Tokenizer` with a padding token.
        batch_size: Positive integer, texts in a batch.
        max_length: Positive integer. Longer texts are truncated to this many
            tokens. `None` for no limit.
        seed: Integer, the seed of the shuffling, which differs in every
            epoch. `None` sorts the texts by length instead.
        sample_weight: List of floats, the weight of each text in the loss;
            `None` for equal weights.
        features: Function from the ragged ids of all texts to a function from
            indices of texts to further inputs of the model; `None` for no
            further inputs. Otherwise, batches have a dictionary of `"ids"` and
            `"features"` instead of ids.

    Returns:
        A `tf.data.Dataset` of `(ids, labels)`: int32 ids of shape
        `(batch, time)` padded with `pad_id`, with at least one column, and
        labels of shape `(batch, 1)`, int32 for classes and float32 for
        probabilities; or `(batch, labels)` for multi-label texts. With weights,
        also these, float32 of shape `(batch,)`.

    Raises:
        ValueError: when there are no texts, the numbers of texts, labels and
            weights differ, a label or weight is not a non-negative number,
            multi-label targets are not an array of numbers from 0 to 1, or the
            tokenizer has no padding token.

    Example:

    >>> texts = ["a good book", "bad"]
    >>> tokenizer = ReviewTokenizer(["<pad>", "<unk>", "a", "bad", "book"])
    >>> for ids, labels in labelled_batches(texts, [1, 0], tokenizer, 2):
    ...     print(ids.numpy().tolist(), labels.numpy().tolist())
    [[3, 0, 0], [2, 1, 4]] [[0], [1]]
    """
    if not len(texts) or len(texts) != len(labels):
        raise ValueError(
            "`texts` and `labels` must have the same length, which must not be "
            f"0. Received: {len(texts)} texts and {len(labels)} labels."
        )
    if tokenizer.pad_id < 0:
        raise ValueError(
            "The vocabulary needs a padding token. "
            f"Received: pad_id={tokenizer.pad_id}"
        )
    optional_positive_integer("max_length", max_length)
    ids = tf.concat([*id_parts(texts, tokenizer, max_length)], axis=0)
    known = features and features(ids)
    columns = [_targets(labels)]
    if sample_weight is not None:
        columns.append(checked_weights(sample_weight, len(texts), "text"))

    def gathered(indices):
        rows = pad_to(tf.gather(ids, indices), tokenizer.pad_id)
        if known is not None:
            rows = {"ids": rows, "features": known(indices)}
        return rows, *(tf.gather(column, indices) for column in columns)

    dataset = index_batches(ids.row_lengths(), batch_size, seed)
    return dataset.map(gathered).prefetch(2)


def _targets(labels):
    """Returns labels as an array `(texts, 1)` or `(texts, labels)`."""
    try:
        found = np.asarray(labels)
        found = found.astype(
            "int32" if found.dtype.kind in "iub" else "float32"
        )
        most = 1 if found.ndim == 2 else np.inf
        is_finite = found.ndim in (1, 2) and np.isfinite(found).all()
        right = is_finite and found.min() >= 0 and found.max() <= most
    except (TypeError, ValueError):
        right = False
    # Tuples are numbers of labels, as in `read_labelled_corpus`.
    if not right or isinstance(labels[0], tuple):
        raise ValueError(
            "`labels` must have a non-negative number for each text, or be an "
            "array (texts, labels) of 0 and 1, such as from `numbers` of a "
            f"multi-label `TextLabeller`. Received: {reprlib.repr(labels)}"
        )
    return found.reshape(len(found), -1)
