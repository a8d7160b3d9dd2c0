"""Tunes cells of five million parameters alike on the Penn Treebank.

    python recipes/studies/ptb_tuned.py --corpus ptb --epochs 1
    python recipes/studies/ptb_tuned.py --corpus ptb --rows lstm rhn --tries 8

One setting for all favours the cell that it fits. Here each row of
`ptb_table.py` gets the same number of tries over the same ranges: points of a
Halton sequence, the same for all rows, so that more tries add to earlier ones.
The validation perplexity chooses the best. All other flags are those of
`recipes/ptb_lm.py`, for all rows. What is done is not done again.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import numpy as np
from scipy.stats import qmc

from studies import ptb_table
from studies.rows import run_rows
from studies.rows import table_parser
from studies.rows import write_table

UNIT = (0, 1)
RATES = (5e-4, 8e-3)  # of learning, on a logarithmic scale
DROPOUT = (0, 0.4)
STATE = (0, 0.3)  # dropout of the state


def tries(count):
    """Returns the flags of each try, lists of flags and their values."""
    rates = np.log(RATES)
    return [
        [
            *("--learning-rate", f"{np.exp(np.interp(rate, UNIT, rates)):.2g}"),
            *("--dropout", f"{np.interp(dropout, UNIT, DROPOUT):.2f}"),
            *("--recurrent-dropout", f"{np.interp(state, UNIT, STATE):.2f}"),
            # Whether the output bias starts at the frequencies of the words.
            "--frequencies" if start < 0.5 else "--no-frequencies",
        ]
        for rate, dropout, state, start in qmc.Halton(4, rng=13).random(count)
    ]


def row(name, cards, settings):
    """The best of the tries, its flags, and how far the others are."""
    found = [card["scores"]["dev"]["perplexity"] for card in cards]
    best = int(np.argmin(found))
    return [
        f"`{name}`",
        f"{cards[best]['parameters']:,}",
        f"{found[best]:.2f}",
        f"`{' '.join(settings[best])}`",
        f"{np.median(found):.1f}",
        f"{max(found):.1f}",
    ]


def main():
    parser = table_parser(__doc__, "ptb_tuned")
    parser.add_argument(
        "--rows",
        nargs="+",
        choices=ptb_table.MODELS,
        default=[*ptb_table.MODELS],
    )
    parser.add_argument("--tries", type=int, default=4, help="tries for a row")
    args, others = parser.parse_known_args()
    if args.tries < 1:
        parser.error(f"--tries must be at least 1. Received: {args.tries}")
    settings = tries(args.tries)
    runs = {
        f"{name}-{number}": [
            *ptb_table.flags(name, ptb_table.SEEDS[0]),
            *chosen,
        ]
        for number, chosen in enumerate(settings, start=1)
        for name in args.rows
    }
    cards = run_rows("ptb_lm.py", runs, args.output, others)
    numbers = range(1, args.tries + 1)
    table = [
        row(name, [cards[f"{name}-{number}"] for number in numbers], settings)
        for name in args.rows
    ]
    columns = [
        *("model", "parameters"),
        *(f"validation perplexity, best of {args.tries}", "its flags"),
        *("median", "worst"),
    ]
    write_table(args.output / "table.md", columns, table)


if __name__ == "__main__":
    main()
