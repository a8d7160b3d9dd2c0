"""Compares cells of a tagger, with and without characters and a CRF.

    python recipes/studies/tag_table.py --corpus train.txt --dev dev.txt
    python recipes/studies/tag_table.py --corpus ... --cells lstm rhn

All rows have the same number of epochs. All other flags are those of
`recipes/tag.py`, for all rows. Rows that are done are not trained again.
"""

import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

from studies.rows import run_rows
from studies.rows import table_parser
from studies.rows import write_table

CELLS = "lstm", "gru", "rhn", "gam_rhn"
CHOICE = {"softmax": ["--no-crf"], "crf": []}


def row(name, card):
    scores = card["scores"]["dev"]
    return [
        name.replace("-", ", "),
        f"{card['parameters']:,}",
        f"{100 * scores['f1']:.1f}" if "f1" in scores else "",
        f"{100 * scores['accuracy']:.1f}",
        f"{card['cpu_seconds'] / 60:.1f}",
    ]


def main():
    parser = table_parser(__doc__, "tag_table")
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=CELLS)
    parser.add_argument("--epochs", default="8")
    parser.add_argument("--character-units", default="32")
    args, others = parser.parse_known_args()
    readers = {
        "words": ["--characters", "None"],
        "characters": ["--character-units", args.character_units],
    }
    rows = {
        f"{cell}-{read}-{choice}": [
            *("--cell", cell, "--epochs", args.epochs),
            *(readers[read] + CHOICE[choice]),
        ]
        for cell, read, choice in itertools.product(args.cells, readers, CHOICE)
    }
    cards = run_rows("tag.py", rows, args.output, others)
    columns = ["cell, reads, chooses", "parameters", "F1", "accuracy"]
    write_table(
        args.output / "table.md",
        [*columns, "CPU min"],
        [row(name, card) for name, card in cards.items()],
    )


if __name__ == "__main__":
    main()
