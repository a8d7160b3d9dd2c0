"""Compares cells on polyphonic music, beside the table of Chung et al. 2014.

    python recipes/studies/music_table.py
    python recipes/studies/music_table.py --sets jsb --cells gru lstm --seeds 0

Each cell is trained with each seed on each set. All other flags are those of
`recipes/music.py`, for all runs. Runs that are done are not repeated.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import numpy as np

from studies.rows import run_rows
from studies.rows import summary
from studies.rows import table_parser
from studies.rows import write_table

CELLS = (
    *("tanh", "gru", "lstm", "rhn", "rhn-attention"),
    *("gam-rhn", "gam-rhn-attention", "best", "long"),
)
# Negative log-likelihoods of a test step, table 2 of the paper.
CHUNG = {
    "nottingham": {"tanh": "3.13", "gru": "3.23", "lstm": "3.20"},
    "jsb": {"tanh": "9.10", "gru": "8.54", "lstm": "8.67"},
    "musedata": {"tanh": "6.23", "gru": "5.99", "lstm": "6.23"},
    "piano": {"tanh": "9.03", "gru": "8.82", "lstm": "9.03"},
}
# The part and the name of each score.
COLUMNS = {
    "validation": ("dev", "nll"),
    "test": ("test", "nll"),
    "by piece": ("test", "nll_by_piece"),
    "without first step": ("test", "nll_without_first"),
    # As in code that the first author of the paper published.
    "by piece, without first step": ("test", "nll_by_piece_without_first"),
}


def row(corpus, cell, cards):
    seconds = [sum(card["history"]["cpu_seconds"]) for card in cards]
    return [
        f"{corpus}, `{cell}`",
        f"{cards[0]['parameters']:,}",
        *(
            summary([card["scores"][part][score] for card in cards])
            for part, score in COLUMNS.values()
        ),
        CHUNG[corpus].get(cell, ""),
        f"{np.mean(seconds):.0f}",
    ]


def main():
    parser = table_parser(__doc__, "music_table")
    parser.add_argument("--sets", nargs="+", choices=CHUNG, default=[*CHUNG])
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=CELLS)
    parser.add_argument("--seeds", nargs="+", default=["0", "1", "2"])
    args, others = parser.parse_known_args()
    rows = {
        f"{corpus}-{cell}-{seed}": [
            *("--corpus", corpus, "--preset", cell, "--seed", seed)
        ]
        for corpus in args.sets
        for cell in args.cells
        for seed in args.seeds
    }
    cards = run_rows("music.py", rows, args.output, others)
    table = [
        row(corpus, cell, [cards[f"{corpus}-{cell}-{i}"] for i in args.seeds])
        for corpus in args.sets
        for cell in args.cells
    ]
    columns = ["set, cell", "parameters", *COLUMNS, "Chung et al.", "CPU s"]
    write_table(args.output / "table.md", columns, table)


if __name__ == "__main__":
    main()
