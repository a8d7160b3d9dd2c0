"""Trains the forecaster of `recipes/forecast.py` on ETTh1, without TensorFlow.

    export KERAS_BACKEND=jax KERASRNN_DATA=...
    python benchmarks/forecasting.py --horizon 96 --cell rhn --seeds 3

All seeds are trained in parallel in one program, each with its own order of the
windows. Flags are those of the recipe for preset, model and training; `head`
must be a point. As in the recipe, the weights with the lowest validation loss
are scored. The test set is used only with `--test`.
"""

import argparse
import functools
import itertools
import math
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "recipes"))

import devices
import forecast
import jax
import keras
import numpy as np
from jax import lax
from jax import numpy as jnp

from kerasrnn import training

PARTS = "train", "dev", "test"
NAMES = "mse", "mae"
# Settings of the recipe that have no effect here.
RECIPE_ALONE = (
    *("corpus", "dtype", "start_from", "columns", "key", "known", "static"),
    *("calendar", "resample"),
)
# Batch size for scoring.
SCORED = 256


def read_arguments():
    """Returns the arguments of the benchmark, and the recipe's settings."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], allow_abbrev=False
    )
    add = parser.add_argument
    add("--seeds", type=int, default=3, help="models to train in parallel")
    add("--test", action="store_true", help="also score the test set")
    add("--card", type=pathlib.Path, help="JSON file to write the results to")
    args, others = parser.parse_known_args()
    args_of_recipe = ["--corpus", "etth1", *others]
    settings = training.read_settings(forecast.PRESETS, args=args_of_recipe)
    if settings.head not in NAMES:
        raise ValueError(
            "The head must be a point, 'mae' or 'mse'. "
            f"Received: head={settings.head!r}"
        )
    usual = forecast.PRESETS["etth1"]
    if given := {
        name: value
        for name, value in vars(settings).items()
        if name in RECIPE_ALONE and value != getattr(usual, name)
    }:
        raise ValueError(
            "The benchmark trains new models in float32 on all columns of "
            f"ETTh1, without calendars. Received: {given}"
        )
    return args, settings


def read_values(settings):
    """Returns the columns of ETTh1, an array of shape `(hours, 7)`."""
    folder = settings.data_dir or os.environ.get("KERASRNN_DATA", ".")
    paths = [*pathlib.Path(folder).rglob("ETTh1.csv")]
    if not paths:
        raise FileNotFoundError(
            "The folder that KERASRNN_DATA names must hold ETTh1.csv. "
            f"Received: '{folder}'"
        )
    columns = range(1, 8)
    options = {"delimiter": ",", "skiprows": 1, "dtype": "float32"}
    return np.loadtxt(paths[0], usecols=columns, **options)


def starts(settings):
    """Returns the first forecast hours of all windows of each part."""
    train, *others = (
        np.arange(max(begin, settings.lookback), end - settings.horizon + 1)
        for begin, end in itertools.pairwise((0, *forecast.ETTH1))
    )
    if settings.limit:
        train = train[-settings.limit :]
    return dict(zip(PARTS, (train, *others), strict=True))


class Program:
    """One model per seed, trained in parallel on windows of a series.

    The models are functions of their weights, for `jax.vmap`. On a GPU, a step
    of several takes as long as of one, because most of the time is spent on
    launching kernels.

    Args:
        settings: The settings of the recipe.
        values: Array of shape `(hours, columns)`.
        windows: Integer, number of training windows.
        seeds: Integer, number of models.

    Attributes:
        models: List of the models, which differ only in their weights.
        state: Nested arrays that training changes. The first axis is the model.
    """

    def __init__(self, settings, values, windows, seeds):
        self.settings, self.values = settings, jnp.asarray(values)
        self.models = []
        for seed in range(seeds):
            keras.utils.set_random_seed(settings.seed + seed)
            model = forecast.build_model(settings, values.shape[1])
            model.adapt(values[: forecast.ETTH1[0]])
            self.models.append(model)
        self.model, self.units = model, jnp.asarray(model.units)
        self.loss = training.ForecastLoss(model.head, model.units)
        steps = math.ceil(windows / settings.batch_size)
        self.optimizer = training.build_optimizer(settings, steps)
        self.optimizer.build(model.trainable_variables)
        states = [
            [
                [jnp.array(variable.value) for variable in part]
                for part in (
                    model.trainable_variables,
                    model.non_trainable_variables,
                    self.optimizer.variables,
                )
            ]
            for model in self.models
        ]
        self.state = jax.tree.map(lambda *x: jnp.stack(x), *states)

    def windows(self, first):
        """Returns inputs and values of windows that forecast from `first`."""
        lookback = self.settings.lookback
        hours = jnp.arange(-lookback, self.settings.horizon)
        found = self.values[first[:, None] + hours]
        return found[:, :lookback], found[:, lookback:]

    def step(self, state, first):
        """One step of one model on the windows of a batch.

        Returns:
            Its new state, and the loss before the step.
        """
        weights, others, slots = state
        x, y = self.windows(first)

        def loss(weights):
            answer, after = self.model.stateless_call(
                weights, others, x, training=True
            )
            return self.loss(y, answer), after

        gradient = jax.value_and_grad(loss, has_aux=True)
        (value, others), gradients = gradient(weights)
        weights, slots = self.optimizer.stateless_apply(
            slots, gradients, weights
        )
        return [weights, others, slots], value

    def epoch(self, state, order):
        """All steps of one model in an epoch; the last batch may be smaller."""
        size = self.settings.batch_size
        whole = len(order) // size
        batches = order[: whole * size].reshape(whole, size)
        state, losses = lax.scan(self.step, state, batches)
        if len(rest := order[whole * size :]):
            state, _ = self.step(state, rest)
        return state, losses.mean()

    def forecast(self, state, x):
        """The forecasts of one model."""
        weights, others, _ = state
        answer, _ = self.model.stateless_call(weights, others, x)
        return self.model.head.point(answer)

    def scores(self, states, first):
        """Returns MSE and MAE of each model, in standard deviations."""
        count = len(first)
        first = jnp.pad(first, (0, -count % SCORED), mode="edge")
        real = (jnp.arange(len(first)) < count).reshape(-1, SCORED)

        def total(batch):
            first, real = batch
            x, y = self.windows(first)
            found = jax.vmap(self.forecast, (0, None))(states, x)
            errors = (y - found) / self.units
            costs = jnp.square(errors), jnp.abs(errors)
            return [x.mean(axis=(2, 3)) @ real for x in costs]

        found = lax.map(total, (first.reshape(-1, SCORED), real))
        means = [x.sum(axis=0) / count for x in found]
        return dict(zip(NAMES, means, strict=True))


def chosen(mask, new, old):
    """Returns new arrays of the models that a mask is true for, others old."""
    return jnp.where(mask.reshape(-1, *[1] * (new.ndim - 1)), new, old)


def train(args, settings):
    """Returns the scores and times of a training as a dictionary."""
    values, first = read_values(settings), starts(settings)
    program = Program(settings, values, len(first["train"]), args.seeds)
    state = program.state
    epoch = jax.jit(jax.vmap(program.epoch))
    scores = jax.jit(program.scores)
    rng = np.random.default_rng(settings.seed)
    best, least = state, np.full(args.seeds, np.inf)
    history = {"loss": [], "mse": [], "mae": [], "seconds": []}
    for _ in range(settings.epochs):
        begin = time.perf_counter()
        order = [rng.permutation(first["train"]) for _ in range(args.seeds)]
        state, losses = epoch(state, np.stack(order))
        row = {"loss": losses, **scores(state, first["dev"])}
        row = {name: np.array(x, "float64") for name, x in row.items()}
        row["seconds"] = time.perf_counter() - begin
        for name, x in row.items():
            history[name].append(x)
        better = row[settings.head] < least
        least = np.minimum(row[settings.head], least)
        best = jax.tree.map(functools.partial(chosen, better), state, best)
    parts = PARTS[1:] if args.test else PARTS[1:2]
    found = {part: scores(best, first[part]) for part in parts}
    return {
        "accelerator": devices.accelerator(),
        "parameters": program.model.count_params(),
        "best_epochs": np.argmin(history[settings.head], axis=0) + 1,
        "scores": jax.tree.map(np.array, found),
        "history": history,
    }


def summary(settings, found):
    """Returns the results as a Markdown row: mean and deviation over seeds."""
    cells = [f"{settings.horizon}, {settings.cell}", f"{found['parameters']:,}"]
    for scores in found["scores"].values():
        texts = (
            f"{x.mean():.3f} ± {x.std(ddof=len(x) > 1):.3f}"
            for x in scores.values()
        )
        cells.append(" / ".join(texts))
    epochs = ", ".join(map(str, found["best_epochs"]))
    seconds = sum(found["history"]["seconds"])
    return " | ".join([*cells, epochs, f"{seconds:.0f} s"])


def main():
    args, settings = read_arguments()
    found = train(args, settings)
    if args.card:
        plain = jax.tree.map(lambda x: np.asarray(x).tolist(), found)
        training.write_card(args.card, settings=vars(settings), **plain)
    print(summary(settings, found), flush=True)


if __name__ == "__main__":
    main()
