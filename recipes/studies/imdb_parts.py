"""An ablation of the best classifier of reviews.

    python recipes/studies/imdb_parts.py --corpus imdb

All flags but `--output` are those of `recipes/imdb.py`, for all rows. Rows that
are done, and word vectors, are not trained again.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

from studies.rows import check_flags
from studies.rows import run_rows
from studies.rows import table_parser
from studies.rows import write_table

# One change each to the best model.
PARTS = {
    "no-vectors": ["--vectors", "None"],
    "cbow": ["--vectors", "cbow"],
    "no-ngrams": ["--ngrams", "None"],
    "fixed-vectors": ["--no-train-vectors"],
    "no-attention": ["--summary", "last"],
    "pooled": ["--summary", "pooled"],
    "short": ["--max-tokens", "100"],
    "middle": ["--max-tokens", "400"],
    "gam-rhn": ["--cell", "gam_rhn"],
    "one-way": ["--no-bidirectional", "--units", "256"],
}


def row(name, card):
    score = card["scores"]["dev"]
    return [
        f"`{name}`",
        f"{100 * score['accuracy']:.1f}",
        f"{score['loss']:.3f}",
        f"{sum(card['history']['cpu_seconds']):.0f}",
    ]


def main():
    parser = table_parser(__doc__, "imdb_parts")
    args, flags = parser.parse_known_args()
    # Files of vectors have a width of their own.
    own = ["--preset", "--vectors", "--embedding-dim"]
    check_flags("imdb.py", PARTS | {"all rows": own}, flags)
    flags = ["--preset", "best", *flags]
    cards = run_rows("imdb.py", {"best": []}, args.output, flags)
    vectors = [*(args.output / "best").glob("skip-gram-*.txt")]
    if len(vectors) != 1:
        raise SystemExit(
            f"Expected: one file skip-gram-*.txt in {args.output / 'best'}, "
            "of the vectors of all rows. Received: "
            f"{', '.join(sorted(x.name for x in vectors)) or 'none'}"
        )
    shared = ["--vectors", str(vectors[0])]
    rows = {
        name: own if "--vectors" in own else [*own, *shared]
        for name, own in PARTS.items()
    }
    cards |= run_rows("imdb.py", rows, args.output, flags)
    write_table(
        args.output / "table.md",
        ["model", "accuracy", "loss", "CPU s"],
        [row(name, card) for name, card in cards.items()],
    )


if __name__ == "__main__":
    main()
