"""Trains the language models of `recipes/ptb_lm.py` without TensorFlow.

    export KERAS_BACKEND=jax
    python benchmarks/language_models.py --preset best --run-epochs 1
    python benchmarks/language_models.py --row gam-rhn

A model is a preset of the recipe, or a row of `recipes/studies/ptb_table.py`.
Other flags are those of the recipe, except `--from`. The corpus is the Penn
Treebank in KERASRNN_DATA. Without that variable, it is a generated text of the
same size: speeds are then meaningful, but perplexities are not.

The model is trained by `fit` as in the recipe, on the same ids, in the same
windows. Compilation is timed separately. It prints a row for each epoch, and
how long all epochs of the preset would take.
"""

import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "recipes"))

import devices
import keras
import language_model
import numpy as np
import ptb_lm
import speeds
import treebank_ids
from studies import ptb_table

from kerasrnn import metrics
from kerasrnn import training

# Toy sizes, with which every model trains in seconds.
SMALL = (
    *("--limit", "200", "--vocabulary-size", "60", "--units", "8"),
    *("--batch-size", "4", "--window", "20"),
)
# The first steps of an epoch, which are not timed.
WARM_UP = 10


def read_arguments():
    """Returns the arguments of the benchmark, and the recipe's settings."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], allow_abbrev=False
    )
    add = parser.add_argument
    add("--row", choices=ptb_table.MODELS, help="a model of ptb_table.py")
    add("--run-epochs", type=int, help="epochs to train; default: all")
    add("--seconds", type=float, default=float("inf"), help="time limit")
    add("--small", action="store_true", help="toy sizes, to try it on a CPU")
    add("--card", type=pathlib.Path, help="JSON file to write the results to")
    args, others = parser.parse_known_args()
    flags = ["--corpus", "ptb"]
    if args.row:
        flags += ptb_table.flags(args.row, ptb_table.SEEDS[0])
    if args.small:
        flags += SMALL
    settings = training.read_settings(ptb_lm.PRESETS, args=[*flags, *others])
    if settings.corpus != "ptb" or settings.tokens == "subwords":
        raise ValueError(
            "The benchmark trains on words or characters of the Penn Treebank. "
            f"Received: corpus={settings.corpus!r}, tokens={settings.tokens!r}"
        )
    if settings.start_from:
        raise ValueError(
            "The benchmark trains new models, so `--from` has no effect. "
            f"Received: '{settings.start_from}'"
        )
    return args, settings


class Clock(keras.callbacks.Callback):
    """Times the first step, which compiles, and the later steps separately.

    Keras waits for the results of a step in a thread, which calls
    `on_train_batch_end`, while `fit` continues to submit work to the device.

    Args:
        limit: Float, seconds after which to stop the training.
    """

    async_safe = True

    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.start = time.perf_counter()
        self.first_step = None

    def on_epoch_begin(self, epoch, logs=None):
        self.done = {}

    def on_train_batch_begin(self, batch, logs=None):
        # In the thread of `fit`: the first use of `self.model` after a step
        # writes the weights back from JAX.
        if time.perf_counter() - self.start > self.limit:
            self.model.stop_training = True

    def on_train_batch_end(self, batch, logs=None):
        self.done[batch + 1] = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        if self.first_step is None:
            self.first_step = self.done[1] - self.start
        last = len(self.done)
        first = min(WARM_UP, max(1, last // 2))
        seconds = self.done[last] - self.done[first]
        logs["steps"] = last
        logs["step_seconds"] = seconds / (last - first) if last > 1 else np.nan


def train(args, settings, text):
    """Returns what a training showed and took, as a dictionary."""
    keras.utils.set_random_seed(settings.seed)
    dtype = settings.dtype
    if dtype == "auto":
        dtype = training.faster_dtype()
    keras.config.set_dtype_policy(dtype)
    sizes = settings.batch_size, settings.window
    x, y = treebank_ids.windows(text.train, *sizes)
    held_out = treebank_ids.windows(text.validation, *sizes)
    steps = len(y) // settings.batch_size
    model = language_model.build_model(settings, text)
    if settings.frequencies:
        counts = np.bincount(text.train, minlength=text.vocabulary_size)
        model.output_projection.assign_frequencies(counts)
    scores = [metrics.Perplexity(-1), metrics.TokenAccuracy(-1)]
    if settings.tokens == "characters":
        scores.append(metrics.BitsPerCharacter(-1))
    model.compile(
        training.build_optimizer(settings, steps, 200),
        training.TokenCrossentropy(-1),
        metrics=scores,
    )
    clock = Clock(args.seconds)
    options = {"batch_size": settings.batch_size, "verbose": 0}
    history = model.fit(
        x,
        y,
        validation_data=held_out,
        epochs=args.run_epochs or settings.epochs,
        shuffle=False,
        callbacks=[clock],
        **options,
    ).history
    # Of the averaged weights, if they are averaged.
    watch = training.Stopwatch()
    found = model.evaluate(*held_out, return_dict=True, **options)
    validation_seconds = watch.read()["wall_seconds"]
    step = float(np.median(history["step_seconds"]))
    weights = sum(int(np.prod(w.shape)) for w in model.trainable_weights)
    return {
        "accelerator": devices.accelerator(),
        "precision": devices.precision(dtype),
        "corpus": text.name,
        "vocabulary_size": text.vocabulary_size,
        "parameters": weights,
        "tokens": len(text.train),
        "steps_an_epoch": steps,
        "first_step_seconds": clock.first_step,
        "step_seconds": step,
        "tokens_per_second": len(text.train) / steps / step,
        "validation_seconds": validation_seconds,
        "all_epochs": settings.epochs,
        "all_epochs_hours": settings.epochs
        * (steps * step + validation_seconds)
        / 3600,
        "validation": found,
        "history": history,
    }


def show(name, found):
    """Prints the results in Markdown."""
    history = found["history"]
    print(
        f"### `{name}`\n\n{found['parameters']:,} weights; {found['corpus']}, "
        f"{found['tokens']:,} tokens of {found['vocabulary_size']:,} types; "
        f"{found['accelerator'] or 'CPU'}, {found['precision']}.\n"
    )
    scores = [x for x in history if "perplexity" in x or "bits" in x]
    columns = [history[x] for x in ("steps", "step_seconds", "loss", *scores)]
    epochs = zip(*columns, strict=True)
    speeds.print_table(
        ["epoch", "steps", "step, s", "training loss", *scores],
        [
            [f"{epoch}", f"{steps:,}", f"{seconds:.4f}", f"{loss:.4f}"]
            + [f"{score:.2f}" for score in others]
            for epoch, (steps, seconds, loss, *others) in enumerate(epochs, 1)
        ],
    )
    print(
        f"The first step took {found['first_step_seconds']:.1f} s, compiling "
        f"included, a later one {found['step_seconds']:.4f} s: "
        f"{found['tokens_per_second']:,.0f} tokens/s. At the end, the "
        f"validation perplexity was {found['validation']['perplexity']:.2f}. "
        f"All {found['all_epochs']} epochs of {found['steps_an_epoch']:,} "
        f"steps would take {found['all_epochs_hours']:.2f} hours.\n"
    )


def main():
    args, settings = read_arguments()
    found = train(args, settings, treebank_ids.read_text(settings))
    if args.card:
        training.write_card(args.card, settings=vars(settings), **found)
    name = f"--row {args.row}" if args.row else f"--preset {settings.preset}"
    show(name, found)


if __name__ == "__main__":
    main()
