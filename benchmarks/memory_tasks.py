"""How far back recurrent layers remember, at equal parameters.

    python benchmarks/memory_tasks.py

Three generated problems, each for several lags:

copy            10 symbols out of 8, then `lag` blanks, then a mark after
                which the symbols are to be repeated in their order
                (Hochreiter & Schmidhuber 1997, as in Arjovsky et al. 2016);
                accuracy over the symbols, by chance 0.125
adding          `lag` random numbers, one marked in each half, of which the
                sum is asked for (Hochreiter & Schmidhuber 1997); correct
                when within 0.04
temporal order  three marks X or Y far apart among `lag` other symbols, their
                order is asked for (ibid.); accuracy, by chance 0.125

All models have the same number of parameters as GAM-RHN in its authors'
experiment on temporal order (10 groups of 6 slots, 60 units, heads of 10, one
micro-step); cells that are linear in their state are in two layers. All are
trained alike: Adam, batches of 64 fresh sequences, until they get 99.5 % of
1,000 held-out sequences right or `--updates` are over. A result on disk is not
computed again; the picture is drawn from all of them.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import ops
from matplotlib.figure import Figure

from kerasrnn.layers import GAMRHN
from kerasrnn.layers import RHN
from kerasrnn.layers import SLSTM
from kerasrnn.layers import FastRNN
from kerasrnn.layers import MinGRUCell
from kerasrnn.layers import MinLSTMCell
from kerasrnn.layers import RGLRUCell
from kerasrnn.plots import save_figure
from kerasrnn.training import Stopwatch

BATCH_SIZE, BATCHES_AN_EPOCH, HELD_OUT, ENOUGH = 64, 50, 1000, 0.995
COPIED, ALPHABET = 10, 8


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--lags", type=int, nargs="+", default=[20, 50, 100, 200])
    add("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    add("--models", nargs="+", default=list(MODELS), choices=MODELS)
    add("--updates", type=int, default=2000, help="steps of training at most")
    add("--learning-rate", type=float, default=2e-3, help="of Adam")
    add("--seed", type=int, default=13, help="of weights and sequences")
    add("--output", default="saved_models/memory_tasks", help="folder")
    return parser.parse_args()


def copy_task(rng, count, lag):
    """One-hot inputs `(count, lag + 21, 10)`, symbols `(count, 10)`."""
    symbols = rng.integers(0, ALPHABET, (count, COPIED))
    blank, mark = ALPHABET, ALPHABET + 1
    inputs = np.full((count, 2 * COPIED + lag + 1), blank)
    inputs[:, :COPIED] = symbols
    inputs[:, COPIED + lag] = mark
    return np.eye(ALPHABET + 2, dtype="float32")[inputs], symbols


def adding_task(rng, count, lag):
    """Numbers and marks `(count, lag, 2)`, sums `(count, 1)`."""
    inputs = np.zeros((count, lag, 2), "float32")
    inputs[..., 0] = rng.random((count, lag))
    rows, half = np.arange(count), lag // 2
    inputs[rows, rng.integers(0, half, count), 1] = 1
    inputs[rows, rng.integers(half, lag, count), 1] = 1
    return inputs, (inputs[..., 0] * inputs[..., 1]).sum(1, keepdims=True)


def temporal_order_task(rng, count, lag):
    """One-hot inputs `(count, lag, 6)`, classes `(count, 1)` of 8."""
    inputs = rng.integers(0, 4, (count, lag))
    marks = rng.integers(0, 2, (count, 3))
    rows = np.arange(count)
    for mark, start in zip(marks.T, (0.1, 0.33, 0.66), strict=True):
        first = int(start * lag)
        places = first + rng.integers(0, max(1, lag // 10), count)
        inputs[rows, places] = 4 + mark
    return np.eye(6, dtype="float32")[inputs], marks @ [[4], [2], [1]]


def is_close(targets, predictions):
    """Accuracy of the adding problem."""
    right = ops.abs(targets - predictions) < 0.04
    return ops.mean(ops.cast(right, "float32"))


def classes(targets, predictions):
    return ops.mean(
        keras.metrics.sparse_categorical_accuracy(targets, predictions)
    )


CROSSENTROPY = "sparse_categorical_crossentropy"
TASKS = {
    "copy": (copy_task, ALPHABET, "softmax", CROSSENTROPY, classes),
    "adding": (adding_task, 1, None, "mse", is_close),
    "temporal order": (
        temporal_order_task,
        8,
        "softmax",
        CROSSENTROPY,
        classes,
    ),
}


def gam_rhn(input_dim):
    return GAMRHN(60, 1, 10, 6, 10, return_sequences=True)


def rhn(input_dim):
    def weights(units):
        return 2 * units * (input_dim + 2 * (units + 1))

    return RHN(width(weights, input_dim), 2, return_sequences=True)


def lstm(input_dim):
    def weights(units):
        return 4 * units * (input_dim + units + 1)

    units = width(weights, input_dim)
    return keras.layers.LSTM(units, return_sequences=True)


def slstm(input_dim):
    def weights(units):
        return 4 * units * (input_dim + units + 1)

    return SLSTM(width(weights, input_dim), return_sequences=True)


def min_gru(input_dim):
    def weights(units):
        return 2 * units * (input_dim + units + 2)

    units = width(weights, input_dim)
    cells = MinGRUCell(units), MinGRUCell(units)
    return FastRNN(cells, return_sequences=True)


def min_lstm(input_dim):
    def weights(units):
        return 3 * units * (input_dim + units + 2)

    units = width(weights, input_dim)
    cells = MinLSTMCell(units), MinLSTMCell(units)
    return FastRNN(cells, return_sequences=True)


def rg_lru(input_dim):
    def weights(units):
        return units * (input_dim + 1) + 2 * units * (2 * (units + 1) + 1)

    units = width(weights, input_dim)
    cells = RGLRUCell(units), RGLRUCell(units)
    return keras.Sequential(
        [keras.layers.Dense(units), FastRNN(cells, return_sequences=True)]
    )


def width(weights, input_dim):
    """The units whose count of weights is nearest to that of `gam_rhn`."""
    reference = gam_rhn(input_dim)
    reference.build((None, None, input_dim))
    count = reference.count_params()
    return min(range(1, 500), key=lambda units: abs(weights(units) - count))


MODELS = {
    "LSTM": lstm,
    "RHN": rhn,
    "GAM-RHN": gam_rhn,
    "sLSTM": slstm,
    "minGRU": min_gru,
    "minLSTM": min_lstm,
    "RG-LRU": rg_lru,
}


class Sequences(keras.utils.PyDataset):
    """Fresh sequences for every batch of every epoch."""

    def __init__(self, make, lag, seed):
        super().__init__()
        self.make, self.lag = make, lag
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return BATCHES_AN_EPOCH

    def __getitem__(self, index):
        return self.make(self.rng, BATCH_SIZE, self.lag)


class StopWhenSolved(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = logs["val_accuracy"] >= ENOUGH


def build_model(task, model, input_dim):
    _, outputs, activation, _, _ = TASKS[task]
    inputs = keras.Input((None, input_dim))
    x = MODELS[model](input_dim)(inputs)
    x = x[:, -COPIED:] if task == "copy" else x[:, -1]
    return keras.Model(
        inputs, keras.layers.Dense(outputs, activation=activation)(x)
    )


def train(args, task, model, lag):
    """Returns the accuracy after each epoch, and what it took."""
    clock = Stopwatch()
    keras.utils.set_random_seed(args.seed)
    make, _, _, loss, accuracy = TASKS[task]
    held_out = make(np.random.default_rng(args.seed + 1), HELD_OUT, lag)
    network = build_model(task, model, held_out[0].shape[-1])
    accuracy.__name__ = "accuracy"
    network.compile(
        keras.optimizers.Adam(args.learning_rate, global_clipnorm=1.0),
        loss,
        metrics=[accuracy],
    )
    history = network.fit(
        Sequences(make, lag, args.seed),
        validation_data=held_out,
        validation_batch_size=HELD_OUT // 4,
        epochs=args.updates // BATCHES_AN_EPOCH,
        callbacks=[StopWhenSolved()],
        verbose=0,
    ).history
    return {
        "task": task,
        "model": model,
        "lag": lag,
        "parameters": network.count_params(),
        "accuracy": history["val_accuracy"],
        **clock.read(),
    }


def draw(results):
    """Accuracy against lag, a panel for each task."""
    figure = Figure(figsize=(4 * len(TASKS), 3.4), layout="constrained")
    for place, task in enumerate(TASKS, start=1):
        axes = figure.add_subplot(1, len(TASKS), place)
        for model in MODELS:
            points = sorted(
                (result["lag"], max(result["accuracy"]))
                for result in results
                if (result["task"], result["model"]) == (task, model)
            )
            if points:
                axes.plot(*zip(*points, strict=True), marker="o", label=model)
        axes.set(title=task, xlabel="lag", ylim=(-0.03, 1.03))
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("accuracy")
    figure.axes[-1].legend(frameon=False)
    return figure


def main():
    args = parse_args()
    output = Path(args.output)
    output.mkdir(parents=True, exist_ok=True)
    for lag in args.lags:
        for task in args.tasks:
            for model in args.models:
                path = output / f"{task} {model} {lag}.json".replace(" ", "_")
                if path.exists():
                    continue
                result = train(args, task, model, lag)
                scratch = path.with_suffix(".part")
                scratch.write_text(json.dumps(result))
                scratch.replace(path)
                print(
                    f"{task}, lag {lag}, {model} of {result['parameters']:,} "
                    f"parameters: {max(result['accuracy']):.3f} after "
                    f"{len(result['accuracy']) * BATCHES_AN_EPOCH} updates, "
                    f"{result['cpu_seconds']:.0f} CPU seconds",
                    flush=True,
                )
    results = [json.loads(p.read_text()) for p in output.glob("*.json")]
    save_figure(draw(results), output / "memory_tasks.png")


if __name__ == "__main__":
    main()
