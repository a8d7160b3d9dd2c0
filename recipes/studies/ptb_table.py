"""Compares cells of five million parameters on the Penn Treebank.

    python recipes/studies/ptb_table.py --corpus ptb

Two of them are trained with three seeds. All flags except `--output` are passed
to `recipes/ptb_lm.py` for all rows. Finished rows are not trained again.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys

import numpy as np

from kerasrnn import training

RECIPES = pathlib.Path(__file__).parents[1]

# Each model has about five million parameters. Those with other learning rates
# were no better than with the default (README.md).
MODELS = {
    "lstm": "--cell lstm --depth 2 --units 324",
    "slstm": "--cell slstm --depth 2 --units 324",
    "min-gru": "--cell min_gru --depth 3 --units 400",
    "rg-lru": "--cell rg_lru --residual --depth 3 --units 256",
    "gated-delta": "--cell gated_delta --residual --depth 3 --units 244",
    "mlstm": "--cell mlstm --residual --depth 3 --units 256",
    "rhn": "",
    "gam-rhn": "--cell gam_rhn --micro-steps 2 --units 300",
}
SPREAD = ("rhn", "gam-rhn")
SEEDS = ("13", "14", "15")
CURVES = ("loss", "val_loss", "val_token_accuracy", "val_perplexity")


def flags(name, seed):
    return ["--preset", "5m", "--seed", seed, *MODELS[name].split()]


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


def setting(flag):
    """Returns the name of the setting that a flag changes."""
    name = flag.partition("=")[0].replace("_", "-")
    return name.replace("--no-", "--")


def run_rows(rows, output, others):
    """Trains each row in its own process and folder; returns the cards.

    A row whose card was written by the same command is not trained again; an
    interrupted one is resumed.

    Args:
        rows: Dictionary of name to list of flags.
        output: Path of the folder that contains a folder for each row.
        others: List of strings, flags of all rows.

    Raises:
        SystemExit: when a flag of all rows is also one of a row.
        subprocess.CalledProcessError: when a run fails.
    """
    own = {setting(flag) for row in rows.values() for flag in row}
    twice = [x for x in others if x.startswith("--") and setting(x) in own]
    if twice:
        raise SystemExit(
            "The rows set some flags of ptb_lm.py themselves. Expected: flags "
            f"that no row sets. Received: {', '.join(twice)}"
        )
    cards = {}
    for name, own in rows.items():
        print(f"\n{name}: {' '.join(own)}", flush=True)
        folder = output / name
        command = [RECIPES / "ptb_lm.py", *others, *own, "--output", folder]
        command = shlex.join(["python", *map(str, command)])
        card = training.read_card(folder / "card.json", command=command)
        if card is None:
            python = [sys.executable, *shlex.split(command)[1:]]
            subprocess.run(python, check=True)
            card = training.read_card(folder / "card.json")
        cards[name] = card
    return cards


def write_table(path, columns, rows):
    """Prints a table and writes it to a file, as Markdown.

    Args:
        path: File to write.
        columns: List of strings, the header.
        rows: List of lists of strings, of the same length.
    """
    ruler = ["---", *["--:"] * (len(columns) - 1)]
    lines = [" | ".join(cells) for cells in (columns, ruler, *rows)]
    text = "".join(f"| {line} |\n" for line in lines)
    print(text)
    path.write_text(text, encoding="utf-8")


def main():
    from kerasrnn import plots

    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], allow_abbrev=False
    )
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default="saved_models/ptb_table",
        help="folder to write to",
    )
    args, others = parser.parse_known_args()
    runs = [(name, SEEDS[0]) for name in MODELS]
    runs += [(name, seed) for seed in SEEDS[1:] for name in SPREAD]
    rows = {f"{name}-{seed}": flags(name, seed) for name, seed in runs}
    cards = run_rows(rows, args.output, others)
    histories = {
        name: cards[f"{name}-{SEEDS[0]}"]["history"] for name in MODELS
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
