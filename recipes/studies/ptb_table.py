"""Compares cells of five million parameters on the Penn Treebank.

    python recipes/studies/ptb_table.py --corpus ptb

Two of them are trained with three seeds, to show the effect of the seed. All
flags but `--output` are those of `recipes/ptb_lm.py`, for all rows. Rows that
are done are not trained again.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import numpy as np

from studies.rows import run_rows
from studies.rows import table_parser
from studies.rows import write_table

# Cells with attention have fewer units, for the same number of parameters.
GAM_RHN = {"--cell": "gam_rhn", "--micro-steps": "2"}
MODELS = {
    "lstm": {"--cell": "lstm", "--depth": "2", "--units": "324"},
    "slstm": {"--cell": "slstm", "--depth": "2", "--units": "324"},
    "min-gru": {"--cell": "min_gru", "--depth": "3", "--units": "400"},
    "min-lstm": {"--cell": "min_lstm", "--depth": "3", "--units": "376"},
    "rg-lru": {"--cell": "rg_lru", "--depth": "3", "--units": "400"},
    "rhn": {},
    "gam-rhn": GAM_RHN | {"--units": "300"},
    "gam-rhn-dot": GAM_RHN | {"--units": "292", "--attention": "dot"},
    "gam-rhn-additive": GAM_RHN | {"--units": "284", "--attention": "additive"},
    "gam-rhn-scaled-dot": GAM_RHN
    | {"--units": "292", "--attention": "scaled_dot"},
    "gam-rhn-multi-head": GAM_RHN
    | {"--units": "276", "--attention": "multi_head"},
}
SPREAD = ("rhn", "gam-rhn")
SEEDS = ("13", "14", "15")
CURVES = ("loss", "val_loss", "val_token_accuracy", "val_perplexity")


def flags(name, seed):
    chosen = {"--preset": "5m", "--seed": seed} | MODELS[name]
    return [word for pair in chosen.items() for word in pair]


def row(name, card):
    found, history = card["scores"]["dev"], card["history"]
    speed = history["tokens"][0] / np.median(history["cpu_seconds"])
    return [
        f"`{name}`",
        f"{card['parameters']:,}",
        f"{history['loss'][-1]:.3f}",
        f"{found['perplexity']:.2f}",
        f"{found['token_accuracy']:.3f}",
        f"{speed:,.0f}",
    ]


def main():
    from kerasrnn import plots

    parser = table_parser(__doc__, "ptb_table")
    args, others = parser.parse_known_args()
    runs = [(name, SEEDS[0]) for name in MODELS]
    runs += [(name, seed) for seed in SEEDS[1:] for name in SPREAD]
    rows = {f"{name}-{seed}": flags(name, seed) for name, seed in runs}
    cards = run_rows("ptb_lm.py", rows, args.output, others)
    # Curves of all would be too many for a picture.
    histories = {
        name: cards[f"{name}-{SEEDS[0]}"]["history"]
        for name, own in MODELS.items()
        if "--attention" not in own
    }
    for metric in CURVES:
        figure = plots.comparison_figure(histories, metric)
        plots.save_figure(figure, args.output / f"{metric}.png")
    columns = [
        *("model, seed", "parameters", "train loss", "validation perplexity"),
        *("accuracy", "tokens a CPU s"),
    ]
    write_table(
        args.output / "table.md",
        columns,
        [row(name, card) for name, card in cards.items()],
    )


if __name__ == "__main__":
    main()
