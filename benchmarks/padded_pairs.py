"""Batches of pairs of sentences in a few shapes, each of which is compiled."""

import math

import keras
import numpy as np
from packed_pairs import SIDES

# Lengths of a source, as shares of those of a target, that are tried.
RATIOS = 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.7


def choose_shapes(source, target, count):
    """The shapes of batches that leave the least padding.

    Args:
        source: Integer array of shape `(pairs,)`, lengths of sentences.
        target: The same of the other language.
        count: Integer, how many shapes there may be.

    Returns:
        An ascending list of pairs of lengths, of source and target. Their sum
        over all pairs is least: it is the number of steps that recurrent layers
        take.
    """
    least, best = math.inf, None
    for ratio in RATIOS:
        needed = np.maximum(target, np.ceil(source / ratio)).astype(int)
        up_to = np.cumsum(np.bincount(needed))
        lengths = np.arange(len(up_to))
        # `more[i, j]`: a shape for the rows longer than i, up to j.
        more = (up_to - up_to[:, None]) * lengths * 1.0
        more[np.tril_indices(len(lengths))] = math.inf
        cost, ends = up_to * lengths, [[x] for x in lengths]
        for _ in range(count - 1):
            both = np.vstack([cost, cost[:, None] + more])
            before = np.argmin(both, axis=0)
            ends = [
                ends[j] if i == 0 else [*ends[i - 1], j]
                for j, i in enumerate(before)
            ]
            cost = both.min(axis=0)
        if (total := cost[-1] * (1 + ratio)) < least:
            least = total
            best = [(math.ceil(ratio * x), int(x)) for x in ends[-1]]
    return best


class PaddedPairs(keras.utils.PyDataset):
    """The batches of an epoch, padded to a few shapes.

    In each epoch, the pairs of a shape are shuffled and share batches; those
    that do not fill one join the next shape. No pair is left out.

    Args:
        pairs: Dictionary of arrays, of `packed_pairs.pairs_of`.
        ids: Dictionary of `source_pad_id`, `pad_id` and `start_id`.
        batch_size: Integer.
        shapes: Integer, how many shapes batches may have.
        rng: A `numpy.random.Generator` to shuffle with; `None` for the order
            of length.
    """

    def __init__(self, pairs, ids, batch_size, shapes, rng=None):
        super().__init__()
        self.batch_size, self.pad_id, self.rng = batch_size, ids["pad_id"], rng
        lengths = [pairs[f"{side}_lengths"].astype(int) for side in SIDES]
        self.shapes = choose_shapes(*lengths, shapes)
        self.source, self.labels = (
            padded(pairs[side], *facts)
            for side, *facts in zip(
                *(SIDES, lengths, self.shapes[-1]),
                (ids["source_pad_id"], self.pad_id),
                strict=True,
            )
        )
        self.target = np.roll(self.labels, 1, axis=1)
        self.target[:, 0] = ids["start_id"]
        self.shape_of = np.max(
            [
                np.searchsorted(widths, x)
                for widths, x in zip(
                    zip(*self.shapes, strict=True), lengths, strict=True
                )
            ],
            axis=0,
        )
        self.tokens = sum(x.sum() for x in lengths)
        self.shuffle()

    def shuffle(self):
        """Draws the batches of an epoch: a shape, and pairs."""
        size, left, found = self.batch_size, np.array([], int), []
        for shape in range(len(self.shapes)):
            rows = np.flatnonzero(self.shape_of == shape)
            rows = rows if self.rng is None else self.rng.permutation(rows)
            rows = np.concatenate([left, rows])
            full = len(rows) // size * size
            found += [(shape, x) for x in rows[:full].reshape(-1, size)]
            left = rows[full:]
        if len(left):
            found.append((shape, left))
        if self.rng is not None:
            found = [found[i] for i in self.rng.permutation(len(found))]
        self.batches = found

    def on_epoch_end(self):
        if self.rng is not None:
            self.shuffle()

    def padding(self):
        """The share of padding in an epoch."""
        cells = sum(sum(self.shapes[shape]) for shape, _ in self.batches)
        return 1 - self.tokens / (cells * self.batch_size)

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        shape, rows = self.batches[index]
        source, target = self.shapes[shape]
        # A smaller batch is filled with a pair without labels.
        missing = self.batch_size - len(rows)
        full = np.concatenate([rows, np.repeat(rows[:1], missing)])
        labels = self.labels[full, :target]
        labels[len(rows) :] = self.pad_id
        inputs = {
            "source": self.source[full, :source],
            "target": self.target[full, :target],
        }
        return inputs, labels


def padded(flat, lengths, width, pad_id):
    """The rows of a flat array as an int32 matrix."""
    found = np.full((len(lengths), width), pad_id, "int32")
    found[np.arange(width) < lengths[:, None]] = flat
    return found
