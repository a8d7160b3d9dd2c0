"""What the recipes share: their command line, and what its words stand for."""

import argparse

import keras

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell

CELLS = ("rnn", "lstm", "gru", "rhn", "gam_rhn")


class RecipeParser(argparse.ArgumentParser):
    """Reads the flags of a recipe; a preset says what they leave open.

    Every recipe has the flags `--data-dir`, `--cell`, `--units`, `--epochs`,
    `--batch-size`, `--learning-rate`, `--limit`, `--seed`, `--output` and
    `--preset`; the others are added as to any parser, with no default but
    where it is no setting of a preset. One of them is `--corpus`.

    Args:
        doc: String, the docstring of the recipe; its first line is shown.
        name: String, name of the recipe and of its folder in `saved_models`.
        presets: Dictionary of name to settings, a dictionary each. The
            presets of a recipe are made out of "best".
        built_in: String, name of the corpus that needs no download, and of
            the preset for it.
        comparisons: Dictionary of a preset's name to the names of the presets
            that it compares. What they differ in cannot be given with it.

    Example:

    ```python
    presets = {"best": {"corpus": "ptb", "units": 300}, ...}
    parser = RecipeParser(__doc__, "ptb_lm", presets, "phrasebook")
    parser.add_argument("--corpus", help="phrasebook, ptb, or a path")
    args = parser.settings()
    ```
    """

    def __init__(self, doc, name, presets, built_in, comparisons=None):
        super().__init__(
            description=doc.splitlines()[0],
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        self._presets, self._built_in = presets, built_in
        self._comparisons = comparisons or {}
        add = self.add_argument
        add("--data-dir", help="folder of the corpora; else $KERASRNN_DATA")
        add("--cell", choices=CELLS, help="recurrent cell")
        add("--units", type=count, help="width of a cell")
        add("--epochs", type=count, help="passes over the corpus")
        add("--batch-size", type=count, help="examples in a batch")
        add("--learning-rate", type=float, help="the highest one")
        add("--limit", type=count, help="use the first N examples only")
        add("--seed", type=int, default=13, help="of order, weights, samples")
        add("--output", default=f"saved_models/{name}", help="folder to write")
        add(
            "--preset",
            choices=presets,
            help=f"settings; without it, {built_in} for that corpus and best "
            "for any other",
        )

    def settings(self, arguments=None, preset=None):
        """Parses a command line.

        Args:
            arguments: List of strings; `None` for those of the process.
            preset: String, a preset in place of the one that the command line
                names: a row of a comparison, with all flags that were given.

        Returns:
            An `argparse.Namespace` with the settings of the preset, those
            that were given in place of its own, `preset` and `data_dir`.
        """
        args = self.parse_args(arguments)
        self._check_comparison(args)
        args.preset = preset or args.preset
        if args.preset is None:
            real = args.corpus not in (None, self._built_in)
            args.preset = "best" if real else self._built_in
        given = {k: v for k, v in vars(args).items() if v is not None}
        return argparse.Namespace(
            **{"data_dir": None} | self._presets[args.preset] | given
        )

    def _check_comparison(self, args):
        rows = [
            self._presets[x] for x in self._comparisons.get(args.preset, ())
        ]
        for name, value in vars(args).items():
            if value is not None and any(
                row.get(name) != rows[0].get(name) for row in rows
            ):
                self.error(
                    f"argument --{name.replace('_', '-')}: the models that "
                    f"--preset {args.preset} compares differ in it"
                )


def training_settings(args):
    """Returns what a training depends on, apart from the data.

    Not where a run reads and writes, and by what name it was asked for: the
    same training under another path is gone on with.

    Args:
        args: An `argparse.Namespace` that `RecipeParser` made.

    Returns:
        A dictionary.

    Example:

    ```python
    folder = TrainingFolder("out", training_settings(args), "val_loss")
    ```
    """
    places = ("data_dir", "output", "preset", "vectors_dir")
    return {k: v for k, v in vars(args).items() if k not in places}


def count(text):
    """Reads a positive integer: a `type` for `argparse`.

    Args:
        text: String of decimal digits.

    Raises:
        argparse.ArgumentTypeError: when it is no positive integer.

    Example:

    >>> count("20")
    20
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"expected a positive integer, received {text!r}"
        )
    return int(text)


def build_cell(name, units, depth=None, **options):
    """Returns the recurrent cell that a recipe calls by a short name.

    A GAM-RHN has as many memory groups of three slots as it has units, and
    heads of half its units, at least one.

    Args:
        name: One of `CELLS`: `"rnn"`, `"lstm"`, `"gru"`, `"rhn"`,
            `"gam_rhn"`.
        units: Positive integer, width of the output.
        depth: Positive integer, micro-steps of an RHN (3 where `None`) or a
            GAM-RHN (2); the others have none.
        **options: Passed to the cell, such as `recurrent_dropout`.

    Raises:
        ValueError: when there is no cell of that name.

    Example:

    >>> cell = build_cell("rhn", 256, recurrent_dropout=0.2)
    """
    if name == "gam_rhn":
        return GAMRHNCell(
            units,
            depth or 2,
            num_groups=units,
            group_size=3,
            head_units=max(1, units // 2),
            **options,
        )
    if name == "rhn":
        return RHNCell(units, depth or 3, **options)
    cells = {
        "rnn": keras.layers.SimpleRNNCell,
        "lstm": FastLSTMCell,
        "gru": FastGRUCell,
    }
    if name not in cells:
        raise ValueError(
            f"There is no cell {name!r}. Expected one of {', '.join(CELLS)}."
        )
    return cells[name](units, **options)


def cosine_schedule(peak, steps, warmup):
    """Returns a learning rate that rises to a peak and falls to 0.

    It rises linearly, and falls as half a cosine (Loshchilov and Hutter
    2017).

    Args:
        peak: Float, the highest rate.
        steps: Positive integer, how many batches the training has.
        warmup: Integer, in how many of them it rises: in a tenth of all at
            most.

    Example:

    >>> schedule = cosine_schedule(2e-3, 1000, 200)
    >>> [round(float(schedule(step)), 4) for step in (50, 100, 550, 1000)]
    [0.001, 0.002, 0.001, 0.0]
    """
    warmup = min(warmup, steps // 10)
    return keras.optimizers.schedules.CosineDecay(
        0.0, steps - warmup, warmup_target=peak, warmup_steps=warmup
    )
