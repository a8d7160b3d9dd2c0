"""Classifiers that err on different reviews, joined to answer as one.

    python recipes/studies/imdb_ensemble.py \
        saved_models/imdb_self_training/second/labeller.keras \
        saved_models/imdb_pretrained/labeller.keras

They must read the same ids: words of the same vocabulary. The study prints the
scores of each and of all on the reviews that `imdb.py` holds out, and on the
test part where there is one. It writes `labeller.keras` and a SavedModel.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import argparse
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import classify
import imdb

from kerasrnn import pipelines
from kerasrnn import training


def new_parser():
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], allow_abbrev=False
    )
    parser.add_argument(
        "labellers", nargs="+", type=pathlib.Path, help="saved classifiers"
    )
    parser.add_argument("--corpus", default="imdb", help="imdb, or generated")
    parser.add_argument("--data-dir", help="folder of the corpora")
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default=pathlib.Path("saved_models/imdb_ensemble"),
        help="folder to write",
    )
    return parser


def held_out(args):
    """Returns the parts to score on by their names, the first that of dev."""
    preset = imdb.PRESETS[imdb.preset_for(args.corpus)]
    corpus, dev = classify.load_parts(
        dataclasses.replace(preset, corpus=args.corpus, data_dir=args.data_dir)
    )
    return {"dev": dev, "test": corpus.test}


def part_scores(labeller, parts):
    """Returns the scores of a labeller on parts, and prints them in words."""
    task, scores = labeller.task(), {}
    for name, part in parts.items():
        if part is not None:
            scores[name] = found = task.row_scores(part)
            print(f"  {name}: {task.headline(found)}, loss {found['loss']:.4f}")
    return scores


def main():
    args = new_parser().parse_args()
    parts = held_out(args)
    members = [pipelines.TextLabeller.open(path) for path in args.labellers]
    for path, member in zip(args.labellers, members, strict=True):
        print(path)
        part_scores(member, parts)
    joined = pipelines.TextLabeller.ensemble(members)
    joined.task().calibrate(parts["dev"])
    print(f"All {len(members)}, at a temperature of {joined.temperature:.2f}")
    scores = part_scores(joined, parts)
    with training.locked(args.output) as folder:
        joined.save(folder / "labeller.keras")
        joined.export(pipelines.next_version(folder), {"scores": scores})
    print(f"Written: {args.output}")


if __name__ == "__main__":
    main()
