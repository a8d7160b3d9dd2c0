"""Trains and exports models of the Penn Treebank, presets of another recipe.

    python recipes/ptb_lm.py                        # built-in sentences
    python recipes/ptb_lm.py --corpus ptb           # the Penn Treebank
    python recipes/ptb_lm.py --corpus ptb --preset rhn     # Zilly et al. 2017

The recipe is `language_model.py`, and so are all other flags.
"""

import dataclasses
from pathlib import Path

import language_model

from kerasrnn import training

OUTPUT = Path("saved_models/ptb_lm")
PTB = language_model.Settings(corpus="ptb", output=OUTPUT)
BASE = dataclasses.replace(PTB, dtype="auto", ema="auto")
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
    # Zilly et al. 2017. Their loss is summed over the 35 steps of a window. So
    # their rate of 0.2 is multiplied, and their norm of 10 divided, by 35.
    "rhn": dataclasses.replace(
        PTB,
        frequencies=False,
        units=830,
        micro_steps=10,
        uniform=0.04,
        dropout=0.75,
        recurrent_dropout=0.25,
        word_dropout=0.25,
        epochs=500,
        schedule="zilly",
        learning_rate=7.0,
        clip=10 / 35,
    ),
    # Luo & Yu 2019
    "gam-rhn-char": dataclasses.replace(
        PTB,
        tokens="characters",
        cell="gam_rhn",
        units=600,
        embedding_dim=150,
        tie_embeddings=False,
        frequencies=False,
        uniform=1.0,
        recurrent_dropout=0.3,
        word_dropout=0.0,
        epochs=100,
        batch_size=128,
        window=100,
        learning_rate=4e-4,
    ),
}


def preset_for(corpus):
    """The default preset for a corpus."""
    return "best" if corpus == "ptb" else language_model.preset_for(corpus)


def main():
    language_model.run(training.read_settings(PRESETS, preset_for, __doc__))


if __name__ == "__main__":
    main()
