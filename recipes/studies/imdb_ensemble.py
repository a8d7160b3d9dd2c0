"""Classifiers that err on different reviews, joined to answer as one.

    python recipes/studies/imdb_ensemble.py \
        saved_models/imdb_self_training/second/labeller.keras \
        LSTM2/second/labeller.keras

Results, in `docs/`, has the commands that train these two. They
must read the same ids, of one vocabulary. On the reviews that `imdb.py` holds
out, each is calibrated, and so is the ensemble; the study prints the scores of
all there, and on the test set where there is one. It writes `labeller.keras`
and a SavedModel.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import argparse
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import classify
import imdb

from kerasrnn import data
from kerasrnn import pipelines
from kerasrnn import training


def read_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], allow_abbrev=False
    )
    add = parser.add_argument
    add("labellers", nargs="+", type=pathlib.Path, help="saved classifiers")
    add("--corpus", default="imdb", help="imdb, or generated")
    add("--data-dir", help="folder of the corpora")
    output = pathlib.Path("saved_models/imdb_ensemble")
    add("--output", default=output, type=pathlib.Path, help="folder to write")
    args = parser.parse_args()
    if len(args.labellers) < 2:
        parser.error("At least two `labellers` are joined. Received: one")
    path = args.output / "labeller.keras"
    if path.resolve() in [given.resolve() for given in args.labellers]:
        parser.error(f"`output` would replace a member. Received: {path}")
    return args


def load_parts(args, labeller):
    """Returns the held-out texts, and those of the test set or `None`."""
    preset = imdb.PRESETS[imdb.preset_for(args.corpus)]
    corpus, dev = classify.load_parts(
        dataclasses.replace(preset, corpus=args.corpus, data_dir=args.data_dir)
    )
    labels = list(labeller.labels)
    if list(corpus.label_names) != labels or labeller.multi_label:
        raise data.CorpusError(
            "The labellers must give a text one of the labels of the corpus. "
            f"Expected: {corpus.label_names}. "
            f"Received: {labels}, multi_label={labeller.multi_label}"
        )
    return dev, corpus.test


def calibrated_scores(name, labeller, dev, test):
    """Calibrates a labeller, and returns and prints its scores."""
    task = labeller.task()
    print(f"{name}, at the temperature {task.calibrate(dev):.3f}:", flush=True)
    scores = {"dev": task.row_scores(dev)}
    if test is not None:
        scores["test"] = task.row_scores(test)
    for part, found in scores.items():
        print(f"  {part}: {task.headline(found)}, loss {found['loss']:.4f}")
    return scores


def main():
    args = read_arguments()
    members = [pipelines.TextLabeller.open(path) for path in args.labellers]
    parts = load_parts(args, pipelines.TextLabeller.ensemble(members))
    for path, member in zip(args.labellers, members, strict=True):
        calibrated_scores(path, member, *parts)
    # Only now, at the temperatures of its members.
    joined = pipelines.TextLabeller.ensemble(members)
    scores = calibrated_scores("All of them", joined, *parts)
    with training.locked(args.output) as folder:
        joined.save(folder / "labeller.keras")
        joined.export(pipelines.next_version(folder), {"scores": scores})
    print(f"Written: {args.output}")


if __name__ == "__main__":
    main()
