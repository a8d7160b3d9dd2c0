"""A small training on JAX, by one device, two devices or two processes.

    python -m tests.distribute.jax_training COUNT OUTPUT [ADDRESS RANK]

COUNT is the number of devices, here and elsewhere. It prints the log as JSON.
"""

import json
import math
import sys

import keras
import numpy as np

from kerasrnn import distribute
from kerasrnn.layers import FastLSTMCell
from kerasrnn.metrics import Perplexity
from kerasrnn.models import LanguageModel
from kerasrnn.training import TokenCrossentropy
from kerasrnn.training import TrainingFolder

RNG = np.random.default_rng(0)
IDS, LABELS = RNG.integers(1, 20, (2, 6, 4, 10)).astype("int32")
LABELS[:, 2:, 7:] = -1
LABELS[1, 2:] = -1
FRESH = np.zeros((6, 4), "int32")
FRESH[0] = 1


class Windows(keras.utils.PyDataset):
    """The rows of every batch that belong to one process."""

    def __init__(self, rank, count):
        super().__init__()
        self.rows = slice(rank * 4 // count, (rank + 1) * 4 // count)

    def __len__(self):
        return len(IDS)

    def __getitem__(self, i):
        inputs = {"ids": IDS[i, self.rows], "fresh": FRESH[i, self.rows]}
        return inputs, LABELS[i, self.rows]


def trained(batches, output):
    """Trains for three epochs, and returns the log."""
    keras.utils.set_random_seed(1)
    model = LanguageModel(20, FastLSTMCell(6), batch_size=4, augmented_loss=0.5)
    model.build()
    optimizer = keras.optimizers.Adam(0.05, global_clipnorm=0.2)
    model.compile(optimizer, TokenCrossentropy(-1), metrics=[Perplexity(-1)])
    return TrainingFolder(output, {"seed": 1}, "val_loss").fit(
        model,
        batches,
        epochs=3,
        validation_data=batches,
        # All processes save the same epochs.
        minutes=math.inf,
        verbose=0,
    )


def main(count, output, address=None, rank="0"):
    processes = 1 if address is None else int(count)
    if address is not None:
        keras.distribution.initialize(address, processes, int(rank))
    strategy = distribute.make_strategy("mirrored", int(count))
    batches = Windows(int(rank), processes)
    with strategy.scope():
        print(json.dumps(trained(batches, f"{output}/{rank}")))


if __name__ == "__main__":
    main(*sys.argv[1:])
