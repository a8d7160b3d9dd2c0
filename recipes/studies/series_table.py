"""Compares cells on ETTh1, beside SegRNN and what needs no network.

    python recipes/studies/series_table.py
    python recipes/studies/series_table.py --cells gru --horizons 96 --seeds 1

Each cell is trained with each seed for each horizon. All other flags are those
of `recipes/forecast.py`, for all runs. Runs that are done are not repeated.
"""

import pathlib
import sys
import typing

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import numpy as np

from kerasrnn.training import CellName
from studies.rows import run_rows
from studies.rows import summary
from studies.rows import table_parser
from studies.rows import write_table

# MSE and MAE of the test set after 720 hours, table 2 of the final version.
SEG_RNN = {
    "96": "0.351 / 0.392",
    "192": "0.392 / 0.414",
    "336": "0.423 / 0.433",
    "720": "0.466 / 0.472",
}
PARTS = ("dev", "test")


def errors(found):
    """MSE and MAE, the mean over runs, and the deviation of the MSE."""
    mse, mae = ([scores[name] for scores in found] for name in ("mse", "mae"))
    return f"{summary(mse, digits=3)} / {np.mean(mae):.3f}"


def row(horizon, name, cards, published=""):
    minutes = [card["cpu_seconds"] / 60 for card in cards]
    return [
        f"{horizon}, {name}",
        f"{cards[0]['parameters']:,}",
        *(errors([card["scores"][part] for card in cards]) for part in PARTS),
        f"{np.mean(minutes):.0f}",
        published,
    ]


def rows_beside(horizon, card):
    """The rows of what needs no network."""
    return [
        [
            f"{horizon}, {name}",
            "",
            *(errors([scores[part]]) for part in PARTS),
            "",
            "",
        ]
        for name, scores in card["beside"].items()
    ]


def main():
    parser = table_parser(__doc__, "series_table")
    cells = typing.get_args(CellName)
    parser.add_argument("--cells", nargs="+", choices=cells, default=["gru"])
    parser.add_argument("--horizons", nargs="+", default=[*SEG_RNN])
    parser.add_argument("--seeds", nargs="+", default=["0", "1", "2"])
    args, others = parser.parse_known_args()
    rows = {
        f"{horizon}-{cell}-{seed}": [
            *("--horizon", horizon, "--cell", cell, "--seed", seed)
        ]
        for horizon in args.horizons
        for cell in args.cells
        for seed in args.seeds
    }
    cards = run_rows(
        "forecast.py", rows, args.output, ["--corpus", "etth1", *others]
    )
    table = []
    for horizon in args.horizons:
        first = cards[f"{horizon}-{args.cells[0]}-{args.seeds[0]}"]
        table += rows_beside(horizon, first)
        for cell in args.cells:
            found = [cards[f"{horizon}-{cell}-{seed}"] for seed in args.seeds]
            table.append(row(horizon, cell, found, SEG_RNN.get(horizon, "")))
    columns = ["horizon, cell", "parameters", "validation", "test"]
    write_table(
        args.output / "table.md", [*columns, "CPU min", "SegRNN"], table
    )


if __name__ == "__main__":
    main()
