"""Trains the translator of a recipe on a GPU, without TensorFlow.

    python benchmarks/translators.py pack FOLDER nmt_vietnamese.py \
        --corpus en_vi --cell rhn --epochs 10 --dtype mixed_bfloat16
    KERAS_BACKEND=jax python benchmarks/translators.py fit FOLDER
    python benchmarks/translators.py finish FOLDER --length-penalty 2.2

`pack` and `finish` run a recipe with its flags, where TensorFlow is. `pack`
writes what there is to train, and on what: the ids of all pairs. `fit` needs
Keras and JAX alone, on another machine; it writes the weights after each epoch,
those of the last epochs averaged as in the recipe. `finish` scores and exports
the trained model as the recipe does, with the flags of `pack` and more of the
search. It trains one new model of pairs: no ensemble, and nothing that starts
from saved weights or vectors.

Results differ from those of the recipe as two seeds do: the first weights are
drawn by JAX, batches have a few shapes (`padded_pairs.py`), and weights come
back in float16.
"""

import argparse
import collections
import functools
import importlib
import pathlib
import sys
import time
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "recipes"))

import devices
import keras
import numpy as np
from packed_pairs import pairs_of
from packed_pairs import read_arrays
from packed_pairs import read_json
from packed_pairs import read_weights
from packed_pairs import write_arrays
from packed_pairs import write_json
from packed_pairs import write_weights
from padded_pairs import PaddedPairs

from kerasrnn import models  # noqa: F401  registers them
from kerasrnn import training
from kerasrnn.training.resumable.checkpoint import save_weights

PARTS = "train", "dev"
# How many shapes the batches of each have.
SHAPES = {"train": 5, "dev": 3}
# Settings of recipes whose effect is not in what is packed.
UNPACKED = (
    *("members", "start_from", "alignments"),
    *("source_vectors", "target_vectors", "subword_sampling"),
)


def read_arguments():
    """Returns the arguments, and the flags of the recipe."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], allow_abbrev=False
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("pack", "fit", "finish"):
        command = commands.add_parser(name, allow_abbrev=False)
        command.add_argument("folder", type=pathlib.Path)
        if name == "pack":
            command.add_argument("recipe", help="such as nmt_vietnamese.py")
    args, flags = parser.parse_known_args()
    if flags and args.command == "fit":
        parser.error(f"unrecognized arguments: {' '.join(flags)}")
    return args, flags


def run_recipe(name, flags):
    recipe = importlib.import_module(pathlib.Path(name).stem)
    with mock.patch.object(sys, "argv", [name, *flags]):
        recipe.main()


class Packed(Exception):  # noqa: N818  no error, but the end of the recipe
    """Ends the recipe once all is packed."""


def pack(args, flags):
    """Writes what `fit` needs, instead of training."""
    from kerasrnn import pipelines

    def fit(run, pipeline, pairs, dev, average=0, **others):
        check(run.settings, flags)
        found = write_pairs(args.folder, run.settings, pipeline, (pairs, dev))
        plan = {
            **found,
            "recipe": args.recipe,
            "flags": flags,
            "average": average,
            # As `Run` computes it.
            "data": training.fingerprint([pairs, dev]),
        }
        write_json(args.folder / "plan.json", plan)
        raise Packed

    with mock.patch.object(pipelines.Run, "fit", fit):
        try:
            run_recipe(args.recipe, flags)
        except Packed:
            print(f"Packed in {args.folder}.")


def check(settings, flags):
    """Raises `ValueError` for what is not packed."""
    if "--back-translate" in flags:
        # The translator of the other direction would be packed.
        raise ValueError("`--back-translate` cannot be packed.")
    usual = {"members": 1, "subword_sampling": 0.0}
    given = {
        name: value
        for name in UNPACKED
        if (value := getattr(settings, name, None)) and value != usual.get(name)
    }
    if given:
        raise ValueError(
            f"None of {', '.join(UNPACKED)} can be packed. Received: {given}"
        )


def write_pairs(folder, settings, pipeline, parts):
    """Writes the pairs and fixed weights; returns what else `fit` needs."""
    folder.mkdir(parents=True, exist_ok=True)
    source, target = pipeline.source_tokenizer, pipeline.target_tokenizer
    for name, pairs in zip(PARTS, parts, strict=True):
        batches = pipeline.batches(pairs, settings.batch_size)
        found = pairs_of(batches, source.pad_id, target.pad_id)
        write_arrays(folder / f"{name}.npz.xz", found)
    model = pipeline.model
    # Those of the lexicon, which do not follow from the seed.
    fixed = [x.numpy() for x in model.non_trainable_weights]
    write_arrays(folder / "fixed.npz.xz", dict(enumerate_names(fixed)))
    return {
        "model": keras.saving.serialize_keras_object(model),
        "dtype": model.dtype_policy.name,
        "ids": {
            "source_pad_id": source.pad_id,
            **{name: getattr(target, name) for name in ("pad_id", "start_id")},
        },
        **settings.pick("epochs", "batch_size", "seed"),
    }


def enumerate_names(arrays):
    return ((f"weight_{i}", x) for i, x in enumerate(arrays))


def build(plan, folder):
    """Returns the compiled model, with first weights of the seed."""
    keras.utils.set_random_seed(plan["seed"])
    keras.config.set_dtype_policy(plan["dtype"])
    # The recipe has decided against it, for TensorFlow.
    plan["model"]["compile_config"]["jit_compile"] = "auto"
    model = keras.saving.deserialize_keras_object(plan["model"])
    fixed = read_arrays(folder / "fixed.npz.xz")
    for name, variable in enumerate_names(model.non_trainable_weights):
        variable.assign(fixed[name])
    model.optimizer.build(model.trainable_variables)
    return model


def read_batches(plan, folder, part, rng=None):
    pairs = read_arrays(folder / f"{part}.npz.xz")
    given = plan["ids"], plan["batch_size"], SHAPES[part]
    return PaddedPairs(pairs, *given, rng)


def best_epoch(history):
    """The number of the epoch with the least validation loss, from 1."""
    return 1 + int(np.argmin(history["val_loss"]))


class Trained(keras.callbacks.Callback):
    """Writes the weights and the history after each epoch.

    Args:
        plan: Dictionary of `pack`.
        folder: A `pathlib.Path`.
    """

    def __init__(self, plan, folder):
        super().__init__()
        self.folder, self.average = folder, plan["average"]
        self.kept = collections.deque(maxlen=self.average or 1)
        self.history = collections.defaultdict(list)

    def on_epoch_begin(self, epoch, logs=None):
        self.begin = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        row = {**logs, "seconds": time.perf_counter() - self.begin}
        for name, value in row.items():
            self.history[name].append(float(value))
        shown = ", ".join(f"{name} {x:.4f}" for name, x in row.items())
        print(f"epoch {epoch + 1}: {shown}", flush=True)
        if self.average or best_epoch(self.history) == epoch + 1:
            weights = self.model.trainable_variables
            self.kept.append([x.numpy() for x in weights])
        means = [np.mean(x, axis=0) for x in zip(*self.kept, strict=True)]
        log = {
            "files": write_weights(self.folder, means),
            "device": devices.accelerator() or "CPU",
            "history": self.history,
        }
        write_json(self.folder / "history.json", log)


def fit(args, _):
    """Trains, and writes the weights after each epoch."""
    plan = read_json(args.folder / "plan.json")
    model = build(plan, args.folder)
    rng = np.random.default_rng(plan["seed"])
    train = read_batches(plan, args.folder, "train", rng)
    dev = read_batches(plan, args.folder, "dev")
    print(
        f"{model.count_params():,} weights, {plan['dtype']}; {len(train):,} "
        f"steps an epoch, shapes {train.shapes}, {train.padding():.0%} padding",
        flush=True,
    )
    model.fit(
        train,
        epochs=plan["epochs"],
        validation_data=dev,
        shuffle=False,
        callbacks=[Trained(plan, args.folder)],
        verbose=0,
    )


def finish(args, flags):
    """Runs the recipe with the weights that `fit` has written."""
    from kerasrnn.pipelines import run

    plan = read_json(args.folder / "plan.json")
    log = read_json(args.folder / "history.json")
    facts = {name: log[name] for name in ("device", "history")}
    folder = functools.partial(Carried, args.folder, plan, log)
    replaced = {
        "TrainingFolder": folder,
        "write_results": functools.partial(run.write_results, trained_on=facts),
    }
    with mock.patch.dict(vars(run), replaced):
        run_recipe(plan["recipe"], [*plan["flags"], *flags])


class Carried(training.TrainingFolder):
    """A training folder that takes its weights from elsewhere.

    Args:
        folder: A `pathlib.Path`, the folder of `fit`.
        plan: What `pack` has written.
        log: What `fit` has logged.
        output: The folder of the recipe.
        settings: Dictionary of everything that the training depends on.
        *args: Other arguments of `kerasrnn.training.TrainingFolder`.

    Raises:
        ValueError: when the pairs are not those that were packed.
    """

    def __init__(self, folder, plan, log, output, settings, *args):
        super().__init__(output, settings, *args)
        self._folder, self._log = folder, log
        if settings["data"] != plan["data"]:
            raise ValueError(
                "The pairs must be those that were packed. Expected: "
                f"fingerprint {plan['data']}. Received: {settings['data']}"
            )

    def fit(self, model, batches, epochs, **others):
        history = self._log["history"]
        if (done := len(history["loss"])) != epochs:
            print(f"Of {epochs} epochs, {done} were trained.")
        weights = model.trainable_variables
        read_weights(self._folder, self._log["files"], weights)
        self.path.mkdir(parents=True, exist_ok=True)
        save_weights(model, self.best)
        return history

    def last(self):
        return [self.best]

    def best_epoch(self):
        return best_epoch(self._log["history"])


def main():
    args, flags = read_arguments()
    {"pack": pack, "fit": fit, "finish": finish}[args.command](args, flags)


if __name__ == "__main__":
    main()
