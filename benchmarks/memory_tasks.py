"""Compares what recurrent layers remember, with equal numbers of parameters.

    python benchmarks/memory_tasks.py
    python benchmarks/memory_tasks.py --tasks parity --models LSTM GatedDelta

Six generated problems, each of several sizes:

copy            10 symbols out of 8, then `size` blanks, then a mark after
                which the symbols are to be repeated in their order
                (Hochreiter & Schmidhuber 1997, as in Arjovsky et al. 2016);
                accuracy over the symbols, by chance 0.125
adding          the sum of two marked numbers among `size` random numbers, one
                in each half (Hochreiter & Schmidhuber 1997); correct when
                within 0.04
temporal order  three marks X or Y far apart among `size` other symbols, their
                order is asked for (ibid.); accuracy, by chance 0.125
parity          whether the number of ones is odd, trained at every step of 40
                bits and asked at the end of `size` (Grazzi et al. 2024);
                accuracy, by chance 0.5
recall          `size` pairs of a key and a value, each 1 of 32, then all keys
                in another order, for each of which its value is asked (MQAR of
                Arora et al. 2023); accuracy, by chance 0.03
selective copy  8 symbols out of 8 at random places among `size` blanks, to be
                repeated in their order (Gu & Dao 2023); accuracy over the
                symbols, by chance 0.125

All models have an embedding as wide as their layer, and about as many
parameters as that of a `GatedDelta` with one memory of 64 keys and values.
Cells that are linear in their state, but for the matrix memories, are in two
layers. All are trained alike: Adam, batches of 64 fresh sequences, until 99.5 %
of the answers to 512 held-out sequences are right or `--updates` are over. A
result on disk is not computed again. The table and the picture are made from
all of them. They show the means over seeds after the last update; the picture
has a dot for each seed, and a line for chance.
"""

import argparse
import collections
import json
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import speeds
from keras import ops
from matplotlib.figure import Figure

from kerasrnn import layers
from kerasrnn.plots import save_figure
from kerasrnn.plots.style import STYLES
from kerasrnn.training import Stopwatch

BATCH_SIZE, BATCHES_AN_EPOCH, HELD_OUT, ENOUGH = 64, 100, 512, 0.995
COPIED, ALPHABET, SCATTERED, KEYS, BITS = 10, 8, 8, 32, 40


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    add("--sizes", type=int, nargs="+", help="instead of those of a task")
    add("--models", nargs="+", default=list(MODELS), choices=MODELS)
    add("--memory", type=int, default=64, help="keys and values of GatedDelta")
    add("--updates", type=int, default=1000, help="maximum number of steps")
    add("--learning-rate", type=float, default=1e-2, help="of Adam")
    add("--seeds", type=int, nargs="+", default=[13, 14, 15])
    add("--output", default="saved_models/memory_tasks", help="folder")
    return parser.parse_args()


def copy_task(rng, count, size):
    """One-hot inputs `(count, size + 21, 10)`, symbols `(count, 10)`."""
    symbols = rng.integers(0, ALPHABET, (count, COPIED))
    blank, mark = ALPHABET, ALPHABET + 1
    inputs = np.full((count, 2 * COPIED + size + 1), blank)
    inputs[:, :COPIED] = symbols
    inputs[:, COPIED + size] = mark
    return one_hot(inputs, ALPHABET + 2), symbols


def adding_task(rng, count, size):
    """Numbers and marks `(count, size, 2)`, sums `(count, 1)`."""
    inputs = np.zeros((count, size, 2), "float32")
    inputs[..., 0] = rng.random((count, size))
    rows, half = np.arange(count), size // 2
    inputs[rows, rng.integers(0, half, count), 1] = 1
    inputs[rows, rng.integers(half, size, count), 1] = 1
    return inputs, (inputs[..., 0] * inputs[..., 1]).sum(1, keepdims=True)


def temporal_order_task(rng, count, size):
    """One-hot inputs `(count, size, 6)`, classes `(count, 1)` of 8."""
    inputs = rng.integers(0, 4, (count, size))
    marks = rng.integers(0, 2, (count, 3))
    rows = np.arange(count)
    for mark, start in zip(marks.T, (0.1, 0.33, 0.66), strict=True):
        first = int(start * size)
        places = first + rng.integers(0, max(1, size // 10), count)
        inputs[rows, places] = 4 + mark
    return one_hot(inputs, 6), marks @ [[4], [2], [1]]


def parity_task(rng, count, size):
    """One-hot bits `(count, size, 2)`, parities `(count, 1)`, or of all 40."""
    bits = rng.integers(0, 2, (count, size))
    parities = np.cumsum(bits, 1) % 2
    return one_hot(bits, 2), parities[:, -BITS if size <= BITS else -1 :]


def recall_task(rng, count, size):
    """One-hot inputs `(count, 3 * size, 64)`, values `(count, size)`."""
    keys = rng.permuted(np.tile(np.arange(KEYS), (count, 1)), axis=1)[:, :size]
    values = rng.integers(0, KEYS, (count, size))
    pairs = np.stack([keys, KEYS + values], 2).reshape(count, 2 * size)
    order = rng.permuted(np.tile(np.arange(size), (count, 1)), axis=1)
    asked, answers = (
        np.take_along_axis(x, order, axis=1) for x in (keys, values)
    )
    return one_hot(np.concatenate([pairs, asked], 1), 2 * KEYS), answers


def selective_copy_task(rng, count, size):
    """One-hot inputs `(count, size + 8, 10)`, symbols `(count, 8)`."""
    symbols = rng.integers(0, ALPHABET, (count, SCATTERED))
    places = rng.permuted(np.tile(np.arange(size), (count, 1)), axis=1)
    places = np.sort(places[:, :SCATTERED], axis=1)
    inputs = np.full((count, size + SCATTERED), ALPHABET)
    np.put_along_axis(inputs, places, symbols, axis=1)
    inputs[:, size:] = ALPHABET + 1
    return one_hot(inputs, ALPHABET + 2), symbols


def one_hot(ids, count):
    return np.eye(count, dtype="float32")[ids]


# Function that makes sequences, number of answers, and sizes.
TASKS = {
    "copy": (copy_task, ALPHABET, [20, 50, 100]),
    "adding": (adding_task, 1, [50, 100]),
    "temporal order": (temporal_order_task, 8, [50, 100]),
    "parity": (parity_task, 2, [256]),
    "recall": (recall_task, KEYS, [16]),
    "selective copy": (selective_copy_task, ALPHABET, [32]),
}


def stacked(cell):
    """A function of units: two cells, one above the other."""
    return lambda units: layers.FastRNN(
        [cell(units), cell(units)], return_sequences=True
    )


def alone(layer, **options):
    return lambda units: layer(units, return_sequences=True, **options)


def gam_rhn(units):
    """Uses the proportions of the authors' experiment on temporal order."""
    head = max(1, units // 6)
    return layers.GAMRHN(units, 1, head, 6, head, return_sequences=True)


def matrix_memory(layer, conv_width=4, **options):
    """Uses one head, whose keys and values are as wide as the layer."""
    return lambda units: layer(
        *(units, 1, units, units, conv_width), return_sequences=True, **options
    )


# Functions of the units.
MODELS = {
    "LSTM": alone(layers.FastLSTM),
    "GRU": alone(layers.FastGRU),
    "RHN": alone(layers.RHN, depth=2),
    "GAM-RHN": gam_rhn,
    "sLSTM": alone(layers.SLSTM),
    "minGRU": stacked(layers.MinGRUCell),
    "RG-LRU block": stacked(
        lambda units: layers.ResidualBlockCell(
            layers.RGLRUCell(units), hidden_dim=units
        )
    ),
    "GatedDelta": matrix_memory(layers.GatedDelta),
    "GatedDelta, negative": matrix_memory(
        layers.GatedDelta, allow_negative_eigenvalues=True
    ),
    "GatedDelta, negative, no convolution": matrix_memory(
        layers.GatedDelta, 0, allow_negative_eigenvalues=True
    ),
    "mLSTM": matrix_memory(layers.MLSTM),
}


def build_model(task, model, width, memory):
    """Returns a model from inputs `(batch, time, width)` to answers per step.

    It has as many units as it can without having more parameters than a
    `GatedDelta` of `memory` units.
    """
    _, answers, _ = TASKS[task]

    def of_units(units, model=model):
        inputs = keras.Input((None, width))
        outputs = MODELS[model](units)(keras.layers.Dense(units)(inputs))
        return keras.Model(inputs, keras.layers.Dense(answers)(outputs))

    parameters = of_units(memory, "GatedDelta").count_params()
    low, high = 1, 512
    while high - low > 1:
        middle = (low + high) // 2
        few = of_units(middle).count_params() <= parameters
        low, high = (middle, high) if few else (low, middle)
    return of_units(low)


def at_the_end(function):
    """Applies a loss or metric to the last steps, which have targets."""

    def measured(targets, outputs):
        return function(targets, outputs[:, -targets.shape[1] :])

    measured.__name__ = function.__name__
    return measured


def is_close(targets, outputs):
    return ops.cast(ops.abs(targets - outputs[..., 0]) < 0.04, "float32")


def loss_and_accuracy(task):
    if task == "adding":

        def squared(targets, outputs):
            return ops.square(targets - outputs[..., 0])

        return at_the_end(squared), at_the_end(is_close)

    def crossentropy(targets, outputs):
        return keras.losses.sparse_categorical_crossentropy(
            targets, outputs, from_logits=True
        )

    return at_the_end(crossentropy), at_the_end(
        keras.metrics.sparse_categorical_accuracy
    )


class Sequences(keras.utils.PyDataset):
    """Generates new sequences for every batch."""

    def __init__(self, make, size, seed):
        super().__init__()
        self.make, self.size = make, size
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return BATCHES_AN_EPOCH

    def __getitem__(self, index):
        return self.make(self.rng, BATCH_SIZE, self.size)


class StopWhenSolved(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = logs["val_accuracy"] >= ENOUGH


def train(args, task, model, size, seed):
    """Returns the accuracy after each epoch, and the time."""
    clock = Stopwatch()
    keras.utils.set_random_seed(seed)
    make, _, _ = TASKS[task]
    held_out = make(np.random.default_rng(seed + 1000), HELD_OUT, size)
    width = held_out[0].shape[-1]
    network = build_model(task, model, width, args.memory)
    loss, accuracy = loss_and_accuracy(task)
    accuracy.__name__ = "accuracy"
    network.compile(
        keras.optimizers.Adam(args.learning_rate, global_clipnorm=1.0),
        loss,
        metrics=[accuracy],
    )
    history = network.fit(
        Sequences(make, BITS if task == "parity" else size, seed),
        validation_data=held_out,
        validation_batch_size=HELD_OUT // 4,
        epochs=args.updates // BATCHES_AN_EPOCH,
        callbacks=[StopWhenSolved()],
        verbose=0,
    ).history
    return {
        **{"task": task, "model": model, "size": size, "seed": seed},
        "parameters": network.count_params(),
        "accuracy": history["val_accuracy"],
        **clock.read(),
    }


def accuracies(results):
    """The last accuracies of all seeds, by task and size, then by model."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for result in results:
        of_models = found[result["task"], result["size"]]
        of_models[result["model"]].append(result["accuracy"][-1])
    return found


def draw(found, models):
    """A panel for each task, with means as bars and seeds as dots."""
    width = 2.2 * len(found) + 1.6
    figure = Figure(
        figsize=(width, 0.28 * len(models) + 0.9), layout="constrained"
    )
    panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    panels[0].set_yticks(np.arange(len(models)), models)
    panels[0].invert_yaxis()
    (bars, _), (dots, _), (line, _) = STYLES[3], STYLES[0], STYLES[1]
    for axes, ((task, size), of_models) in zip(
        panels, found.items(), strict=True
    ):
        for model, values in of_models.items():
            place = models.index(model)
            axes.barh(place, np.mean(values), color=bars)
            axes.plot(values, [place] * len(values), ".", color=dots)
        _, answers, _ = TASKS[task]
        axes.axvline(1 / answers, color=line, linestyle="--")
        axes.set(title=f"{task}, {size}", xlabel="accuracy", xlim=(0, 1.03))
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def main():
    args = parse_args()
    output = Path(args.output)
    output.mkdir(parents=True, exist_ok=True)
    wanted = [
        (task, model, size, seed)
        for seed in args.seeds
        for task in args.tasks
        for size in args.sizes or TASKS[task][2]
        for model in args.models
    ]
    for task, model, size, seed in wanted:
        name = f"{task} {model} {size} {seed}.json".replace(" ", "_")
        path = output / name
        if path.exists():
            continue
        result = train(args, task, model, size, seed)
        scratch = path.with_suffix(".part")
        scratch.write_text(json.dumps(result))
        scratch.replace(path)
        print(
            f"{task} {size}, {model} of {result['parameters']:,} parameters, "
            f"seed {seed}: {result['accuracy'][-1]:.3f} after "
            f"{len(result['accuracy']) * BATCHES_AN_EPOCH} updates, "
            f"{result['cpu_seconds']:.0f} CPU seconds",
            flush=True,
        )
    found = accuracies(
        [json.loads(p.read_text()) for p in sorted(output.glob("*.json"))]
    )
    models = [x for x in MODELS if any(x in y for y in found.values())]
    print()
    speeds.print_table(
        ["", *(f"{task}, {size}" for task, size in found)],
        [
            [x, *(f"{np.mean(y.get(x, np.nan)):.2f}" for y in found.values())]
            for x in models
        ],
    )
    save_figure(draw(found, models), output / "memory_tasks.png")


if __name__ == "__main__":
    main()
