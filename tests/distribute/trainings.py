"""Two small trainings, as one device, several or a worker computes them.

    python -m tests.distribute.trainings NAME OUTPUT SECONDS CELL...

NAME is none, mirrored or workers. After every batch it waits for SECONDS. It
prints the logs of the cells as JSON.
"""

import json
import sys
import time

import keras
import numpy as np
import tensorflow as tf

from kerasrnn import distribute
from kerasrnn.metrics import Perplexity
from kerasrnn.models import LanguageModel
from kerasrnn.training import TokenCrossentropy
from kerasrnn.training import TrainingFolder
from kerasrnn.training import build_cell

RNG = np.random.default_rng(0)
IDS, LABELS = RNG.integers(1, 20, (2, 6, 4, 10))
# Each worker has another number of tokens, once none at all.
LABELS[:, 2:, 7:] = -1
LABELS[1, 2:] = -1
FRESH = np.zeros((6, 4), "int32")
FRESH[0] = 1


class Wait(keras.callbacks.Callback):
    """Leaves time to stop the process within an epoch."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds, self.epoch = seconds, 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.seconds:
            print("batch", batch, "of epoch", self.epoch, flush=True)
            time.sleep(self.seconds)


def windows():
    """Windows of texts, whose states are carried from batch to batch."""
    inputs = {"ids": IDS, "fresh": FRESH}
    batches = tf.data.Dataset.from_tensor_slices((inputs, LABELS))
    return 4, batches, batches


def sentences():
    """Shuffled sentences in batches of seven, the last of a single one."""
    rows = [x.reshape(24, 10)[:22] for x in (IDS, LABELS)]
    data = tf.data.Dataset.from_tensor_slices(tuple(rows))
    return None, data.shuffle(22, seed=1).batch(7), data.batch(7)


CASES = {"lstm": windows, "gam_rhn": sentences}


def trained(cell, output, seconds):
    """Trains for three epochs, and returns the log."""
    keras.utils.set_random_seed(1)
    batch_size, batches, validation = CASES[cell]()
    model = LanguageModel(
        20, build_cell(cell, 6, 2), batch_size=batch_size, augmented_loss=0.5
    )
    model.build()
    # Nearly every gradient is clipped.
    optimizer = keras.optimizers.Adam(0.05, global_clipnorm=0.2)
    model.compile(optimizer, TokenCrossentropy(-1), metrics=[Perplexity(-1)])
    optimizer.build(model.trainable_variables)
    return TrainingFolder(output, {"cell": cell}, "val_loss").fit(
        model,
        batches,
        epochs=3,
        validation_data=validation,
        callbacks=[Wait(seconds)],
        verbose=0,
    )


def main(name, output, seconds, *cells):
    strategy = tf.distribute.get_strategy()
    if name != "none":
        devices = 2 if name == "mirrored" else None
        strategy = distribute.make_strategy(name, devices)
    with strategy.scope(), distribute.worker_folder(output) as folder:
        logs = {cell: trained(cell, folder, float(seconds)) for cell in cells}
    print(json.dumps(logs))


if __name__ == "__main__":
    main(*sys.argv[1:])
