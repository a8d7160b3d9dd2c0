"""Trains and exports models of the Penn Treebank, presets of another recipe.

    python recipes/ptb_lm.py                        # built-in sentences
    python recipes/ptb_lm.py --corpus ptb           # the Penn Treebank

The recipe is `language_model.py`, and so are all other flags.
"""

import dataclasses
from pathlib import Path

import language_model

from kerasrnn import training

OUTPUT = Path("saved_models/ptb_lm")
PTB = language_model.Settings(corpus="ptb", output=OUTPUT)
BASE = dataclasses.replace(PTB, dtype="auto", ema=0.998)
PRESETS = {
    name: dataclasses.replace(preset, output=OUTPUT)
    for name, preset in language_model.PRESETS.items()
} | {
    "best": dataclasses.replace(
        BASE,
        units=492,
        embedding_dim=216,
        dropout=0.25,
        recurrent_dropout=0.15,
        augmented_loss=1.0,
        epochs=13,
    ),
    # Five million parameters and three epochs, for studies/ptb_table.py.
    "5m": dataclasses.replace(
        PTB, dropout=0.2, word_dropout=0.05, epochs=3, dynamic=False
    ),
}


def main():
    language_model.run(training.read_settings(PRESETS, description=__doc__))


if __name__ == "__main__":
    main()
