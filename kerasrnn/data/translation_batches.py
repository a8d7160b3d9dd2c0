"""Batches of similar length, of token ids."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.alignments import alignment_matrix
from kerasrnn.data.alignments import split_words
from kerasrnn.data.alignments import word_links
from kerasrnn.data.batches import checked_weights
from kerasrnn.data.batches import in_parallel
from kerasrnn.data.batches import length_batches
from kerasrnn.data.batches import pad_to
from kerasrnn.data.batches import with_end
from kerasrnn.data.batches import with_start
from kerasrnn.data.stored_rows import select_rows
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import Pairs


def translation_batches(
    pairs: Pairs,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    batch_size: int,
    max_length: int = 100,
    seed: int | None = None,
    sample_weight: Sequence[float] | None = None,
) -> tf.data.Dataset:
    """Batches of a parallel corpus for `Translator.fit`.

    Sentences of similar length share a batch, which keeps padding low. An end
    token is appended to the source if its vocabulary has one. The decoder
    input is the target after a start token; the labels are the target with an
    end token.

    Args:
        pairs: List of `(source, target)` strings; or, of some or all of them,
            `(source, target, alignment)` with links of their words, such as
            `"0-0 1-2"`, as `read_parallel_corpus` returns them.
        source_tokenizer: A `Tokenizer`.
        target_tokenizer: A `Tokenizer` with start and end token.
        batch_size: Positive integer, sentences in a batch.
        max_length: Positive integer. Longer sentences are truncated to
            this many tokens.
        seed: Integer, the seed of the shuffling, which differs in every
            epoch. Tokenizers that can then also split words at random, which
            the seed does not make reproducible. `None` for neither.
        sample_weight: List of floats, the weight of each pair in the loss;
            `None` for equal weights.

    Returns:
        A `tf.data.Dataset` of `({"source", "target"}, labels)`, int32
        tensors of shape `(batch, time)` padded with `pad_id`. If there are
        alignments, the inputs also have `"alignment"`, a float32 tensor of
        shape `(batch, target_time, source_time)`: how much each label's token
        should attend to each source token. A row sums to 1, or to 0 if nothing
        is known. With weights, each batch also has these, float32 of shape
        `(batch,)`.

    Raises:
        ValueError: when there is no pair, `max_length` is not positive, the
            target tokenizer has no start or end token, or the weights are not
            a non-negative number for each pair.

    Example:

    >>> words = ["<pad>", "<unk>", "<s>", "</s>", "red", "book"]
    >>> tokenizer = WordTokenizer(words)
    >>> pairs = [("red book", "book red")]
    >>> for inputs, labels in translation_batches(
    ...     pairs, tokenizer, tokenizer, batch_size=1
    ... ):
    ...     print(inputs["source"].numpy().tolist())
    ...     print(inputs["target"].numpy().tolist(), labels.numpy().tolist())
    [[4, 5, 3]]
    [[2, 5, 4]] [[5, 4, 3]]
    """
    if not pairs:
        raise ValueError("`pairs` must hold at least one pair. Received: [].")
    positive_integer("max_length", max_length)
    if min(target_tokenizer.start_id, target_tokenizer.end_id) < 0:
        raise ValueError(
            "The target vocabulary needs a start and an end token. Received: "
            f"start_id={target_tokenizer.start_id}, "
            f"end_id={target_tokenizer.end_id}"
        )
    source_length = max_length + (source_tokenizer.end_id >= 0)
    tokenizers = source_tokenizer, target_tokenizer
    weights = links = None
    if sample_weight is not None:
        weights = checked_weights(sample_weight, len(pairs), "pair")
    if any(len(pair) > 2 for pair in pairs):
        links = word_links("".join(pair[2:]) for pair in pairs)

    def texts_at(indices):
        chosen = select_rows(pairs, indices)
        return [
            np.array([pair[side].encode() for pair in chosen], object)
            for side in (0, 1)
        ]

    def encode(indices):
        # Tensors of all texts would hold a large corpus a second time.
        given = tf.numpy_function(
            texts_at, [indices], [tf.string, tf.string], stateful=False
        )
        given = [tf.ensure_shape(side, [None]) for side in given]
        sides, guide = zip(tokenizers, given, strict=True), ()
        if links is None:
            source, target = (split(*side) for side in sides)
        else:
            found = [split_words(*side, split, max_length) for side in sides]
            (source, target), numbers = zip(*found, strict=True)
            guide = *(tf.gather(side, indices) for side in links), *numbers
        rows = {"source": source, "target": target, "guide": guide}
        if weights is not None:
            rows["weights"] = tf.gather(weights, indices)
        # By target, then by source.
        widest = max_length + 1
        return target.row_lengths() * widest + source.row_lengths(), rows

    def split(tokenizer, texts):
        if seed is not None and hasattr(tokenizer, "sample"):
            return tokenizer.sample(texts)[:, :max_length]
        return tokenizer.tokenize(texts, max_length)

    def padded(rows):
        source, target, guide = (rows[x] for x in ("source", "target", "guide"))
        start, end = target_tokenizer.start_id, target_tokenizer.end_id
        if source_tokenizer.end_id >= 0:
            source = with_end(source, source_tokenizer.end_id)
        inputs = {
            "source": pad_to(source, source_tokenizer.pad_id, source_length),
            "target": pad_to(
                with_start(target, start), target_tokenizer.pad_id
            ),
        }
        labels = pad_to(with_end(target, end), target_tokenizer.pad_id)
        if guide:
            widths = [tf.shape(x)[1] for x in (inputs["source"], labels)]
            inputs["alignment"] = alignment_matrix(guide[:2], guide[2:], widths)
        if weights is not None:
            return inputs, labels, rows["weights"]
        return inputs, labels

    dataset = length_batches(len(pairs), encode, batch_size, seed)
    return in_parallel(dataset, padded).prefetch(2)
