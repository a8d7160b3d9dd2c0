"""The command line of a recipe."""

import argparse


class RecipeParser(argparse.ArgumentParser):
    """Reads the flags of a recipe; a preset says what they leave open.

    Every recipe has the flags `--data-dir`, `--units`, `--epochs`,
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

    Example:

    ```python
    presets = {"best": {"corpus": "ptb", "units": 300}, ...}
    parser = RecipeParser(__doc__, "ptb_lm", presets, "phrasebook")
    parser.add_argument("--corpus", help="phrasebook, ptb, or a path")
    args = parser.settings()
    ```
    """

    def __init__(self, doc, name, presets, built_in):
        super().__init__(
            description=doc.splitlines()[0],
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        self._presets, self._built_in = presets, built_in
        add = self.add_argument
        add("--data-dir", help="folder of the corpora; else $KERASRNN_DATA")
        add("--units", type=int, help="width of a cell")
        add("--epochs", type=int, help="passes over the corpus")
        add("--batch-size", type=int, help="examples in a batch")
        add("--learning-rate", type=float, help="the highest one")
        add("--limit", type=int, help="use the first N examples only")
        add("--seed", type=int, default=13, help="of order, weights, samples")
        add("--output", default=f"saved_models/{name}", help="folder to write")
        add(
            "--preset",
            choices=presets,
            help=f"settings; without it, {built_in} for that corpus and best "
            "for any other",
        )

    def settings(self, arguments=None):
        """Parses a command line.

        Args:
            arguments: List of strings; `None` for those of the process.

        Returns:
            An `argparse.Namespace` with the settings of the preset, those
            that were given in place of its own, `preset` and `data_dir`.
        """
        args = self.parse_args(arguments)
        if args.preset is None:
            real = args.corpus not in (None, self._built_in)
            args.preset = "best" if real else self._built_in
        given = {k: v for k, v in vars(args).items() if v is not None}
        return argparse.Namespace(
            **{"data_dir": None} | self._presets[args.preset] | given
        )
