"""Compares the models of a report on sentiment (Wang 2025), and three of ours.

    python recipes/studies/imdb_models.py --corpus imdb

All flags but `--output` are those of `recipes/imdb.py`, for all rows. Rows that
are done are not trained again.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

from kerasrnn import plots
from studies.rows import run_rows
from studies.rows import table_parser
from studies.rows import write_table

# The accuracies of the report, read off its curves, in per cent.
REPORTED = {
    "rnn": "65",
    "rnn2": "67",
    "gru": "85",
    "gru2": "85",
    "lstm": "83",
    "lstm2": "82.5",
    "encdec": "65",
    "encdec-attention": "85",
}
OURS = ("rhn", "gam-rhn", "gam-rhn-attention")
GRADIENTS = ("rnn", "lstm", "gru", "rhn", "gam-rhn")


def draw(cards, output):
    """Draws learning curves, and the gradient norms of some models."""
    histories = {name: cards[name]["history"] for name in REPORTED}
    for metric in ("val_accuracy", "val_loss"):
        figure = plots.comparison_figure(histories, metric)
        plots.save_figure(figure, output / f"{metric}.png")
    norms = {name: cards[name]["gradient_norms"] for name in GRADIENTS}
    figure = plots.gradient_figure(norms)
    plots.save_figure(figure, output / "gradients.png")


def row(name, card):
    return [
        f"`{name}`",
        f"{100 * card['scores']['dev']['accuracy']:.1f}",
        REPORTED.get(name, ""),
        f"{card['parameters']:,}",
        f"{sum(card['history']['cpu_seconds']):.0f}",
    ]


def main():
    parser = table_parser(__doc__, "imdb_models")
    args, flags = parser.parse_known_args()
    rows = {name: ["--preset", name] for name in (*REPORTED, *OURS)}
    cards = run_rows("imdb.py", rows, args.output, flags)
    draw(cards, args.output)
    columns = ["model", "accuracy", "the report's", "parameters", "CPU s"]
    write_table(
        args.output / "table.md",
        columns,
        [row(name, card) for name, card in cards.items()],
    )


if __name__ == "__main__":
    main()
