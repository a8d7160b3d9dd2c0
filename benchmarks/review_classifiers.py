"""Two classifiers of reviews, one forwards and one backwards, side by side."""

import concurrent.futures

import jax
import keras
import numpy as np
import packed_reviews
from side_by_side import SideBySide

from kerasrnn import models
from kerasrnn import training

# Batches whose reviews are sorted by length together.
POOL = 50
# Reviews in a batch that is answered.
ANSWERED = 256


class Classifiers:
    """Two classifiers that start from language models.

    Args:
        reviews: `Reviews`.
        languages: The language models.
        steps: Integer, the steps of the training.
        seed: Integer.
    """

    batch_size = 64

    def __init__(self, reviews, languages, steps, seed):
        self.reviews, built = reviews, []
        for number, model in enumerate(languages):
            keras.utils.set_random_seed(seed + number)
            encoder = models.Encoder.from_language_model(
                model, pad_id=reviews.pad_id, word_dropout=0.1
            )
            built.append(models.TextClassifier(encoder, "pooled", dropout=0.5))
            built[-1].build((None, None))
        rate = training.cosine_schedule(5e-4, steps, min(100, steps // 10))
        self.group = SideBySide(
            built,
            keras.optimizers.Adam(rate, global_clipnorm=5.0),
            keras.losses.BinaryCrossentropy(from_logits=True),
        )
        # Compiled for all lengths in parallel, on all processors.
        state = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), self.group.state
        )
        learn = jax.jit(
            jax.vmap(self.group.step, in_axes=(0, 0, None)), donate_argnums=0
        )
        answer = jax.jit(jax.vmap(lambda *x: self.group.answer(*x)[0]))
        labels = jax.ShapeDtypeStruct((self.batch_size, 1), "float32")
        lowered = {}
        for length in packed_reviews.LENGTHS:
            batch, answered = (
                jax.ShapeDtypeStruct((2, rows, length), "int32")
                for rows in (self.batch_size, ANSWERED)
            )
            lowered["learn", length] = learn.lower(state, batch, labels)
            lowered["answer", length] = answer.lower(state, answered)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            found = pool.map(lambda x: x.compile(), lowered.values())
            self.compiled = dict(zip(lowered, found, strict=True))

    def train_epoch(self, labels, rng):
        """Trains on the first reviews, as many as there are labels.

        Returns:
            The mean losses of the two.
        """
        losses, lengths = [], self.reviews.lengths
        order, size = rng.permutation(len(labels)), self.batch_size
        # The last batch is filled up with the first reviews.
        order = np.pad(order, (0, -len(order) % size), mode="wrap")
        ends = range(POOL * size, len(order), POOL * size)
        pools = [x[np.argsort(lengths[x])] for x in np.split(order, ends)]
        batches = np.concatenate(pools).reshape(-1, size)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            batches = rng.permutation(batches)
            for rows, x in zip(
                batches, pool.map(self.reviews.batch, batches), strict=True
            ):
                y = labels[rows, None].astype("float32")
                learn = self.compiled["learn", x.shape[-1]]
                self.group.state, loss = learn(self.group.state, x, y)
                losses.append(loss)
        return np.mean(losses, axis=0)

    def answers(self, indices):
        """Returns probabilities of class 1, `(2, reviews)`."""
        found = np.zeros((2, len(indices)), "float32")
        order = np.argsort(self.reviews.lengths[indices])
        waiting = []
        for start in range(0, len(order), ANSWERED):
            rows = order[start : start + ANSWERED]
            filled = np.pad(rows, (0, ANSWERED - len(rows)), mode="edge")
            x = self.reviews.batch(indices[filled])
            answer = self.compiled["answer", x.shape[-1]]
            waiting.append((rows, answer(self.group.state, x)))
        for rows, logits in waiting:
            logits = np.array(logits, "float32")[:, : len(rows), 0]
            found[:, rows] = 1 / (1 + np.exp(-logits))
        return found
