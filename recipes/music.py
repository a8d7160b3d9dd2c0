"""Trains and exports a model of polyphonic music.

    python recipes/music.py                        # composed cadences
    python recipes/music.py --corpus jsb           # Bach's chorales
    python recipes/music.py --corpus nottingham    # folk tunes
    python recipes/music.py --corpus FOLDER        # MIDI files of your own

A run writes `music.keras`, a SavedModel in `OUTPUT/VERSION/`, `card.json`,
pictures and `sample.mid`, a piece that the model continues. The same command
resumes an interrupted run.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import dataclasses
from pathlib import Path
from typing import Literal

import keras
from corpora.cadences import cadences

from kerasrnn import data
from kerasrnn import models
from kerasrnn import pipelines
from kerasrnn import training
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import SelfAttentionCell


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.Settings):
    saved = training.Settings.saved | {
        *("cell", "units", "micro_steps", "depth", "attention"),
        *("dropout", "recurrent_dropout", "steps_per_beat"),
    }
    not_identity = training.Settings.not_identity | {
        *("corpus", "steps_per_beat", "temperature"),
    }
    needs = training.Settings.needs | training.cell_needs()

    output: Path = Path("saved_models/music")
    corpus: str = "cadences"
    """cadences, jsb, nottingham, musedata, piano, or a folder of MIDI files."""
    steps_per_beat: training.Count = 1
    """Time steps in a quarter note."""
    cell: training.CellName | Literal["peephole_lstm"] = "gru"
    """Recurrent cell."""
    units: training.Count = 46
    """Width of the cell."""
    micro_steps: training.Count | None = None
    """Micro-steps of an RHN or GAM-RHN in a time step."""
    depth: training.Count = 1
    """Number of recurrent layers."""
    attention: training.SelfAttentionName | None = None
    """Attention of the cell to its last 32 outputs, if any."""
    dropout: training.Rate = 0.0
    """Dropout rate of keys, between layers and of outputs."""
    recurrent_dropout: training.Rate = 0.0
    """Dropout rate of the state."""
    weight_noise: training.NotNegative = 0.0
    """Standard deviation of the weight noise in training."""
    transpose: training.Whole = 0
    """Maximum number of semitones by which training pieces are transposed."""
    max_length: training.Count | None = None
    """Length of training sequences in steps; default: whole pieces."""
    epochs: training.Count = 500
    patience: training.Whole = 30
    """Stop after this many epochs without improvement; 0 for never."""
    batch_size: training.Count = 8
    """Pieces in a batch."""
    optimizer: Literal["rmsprop", "adam"] = "rmsprop"
    """Optimizer."""
    schedule: Literal["cosine", "constant"] = "constant"
    learning_rate: training.Positive = 1e-3
    temperature: training.NotNegative = 1.0
    """Temperature of generated music."""


# Chung et al. 2014: about 20,000 parameters, RMSProp, and noise on the weights.
# Learning rates were chosen on the validation set of JSB Chorales.
CHUNG = Settings(corpus="jsb", weight_noise=0.075, learning_rate=0.01)
RHN = dataclasses.replace(CHUNG, cell="rhn", units=43, micro_steps=3)
GAM_RHN = dataclasses.replace(CHUNG, cell="gam_rhn", units=27, micro_steps=2)
BEST = dataclasses.replace(
    CHUNG,
    cell="peephole_lstm",
    units=100,
    dropout=0.2,
    recurrent_dropout=0.2,
    schedule="cosine",
    epochs=60,
    patience=0,
)
PRESETS = {
    # Without dropout, samples end in chords of seven notes and stay there.
    "cadences": Settings(
        dropout=0.2,
        recurrent_dropout=0.2,
        epochs=60,
        patience=0,
        schedule="cosine",
        learning_rate=0.01,
    ),
    "best": BEST,
    "tanh": dataclasses.replace(
        CHUNG, cell="rnn", units=100, learning_rate=3e-3
    ),
    "gru": dataclasses.replace(CHUNG, cell="gru", units=46),
    "lstm": dataclasses.replace(CHUNG, cell="peephole_lstm", units=36),
    # The same number of parameters as the GRU.
    "rhn": RHN,
    "rhn-attention": dataclasses.replace(RHN, units=36, attention="additive"),
    "gam-rhn": GAM_RHN,
    "gam-rhn-attention": dataclasses.replace(
        GAM_RHN, units=25, attention="additive"
    ),
    # Pieces of hundreds of steps: more updates in an epoch, and a larger model.
    "long": dataclasses.replace(
        BEST,
        corpus="nottingham",
        units=300,
        max_length=100,
        batch_size=16,
        optimizer="adam",
        weight_noise=0.0,
        learning_rate=5e-3,
        epochs=40,
    ),
    # For MIDI files of your own, which `corpus` names.
    "own": dataclasses.replace(BEST, corpus="cadences", steps_per_beat=4),
}


OPTIMIZERS = {
    "rmsprop": keras.optimizers.RMSprop,
    "adam": keras.optimizers.Adam,
}


def load_corpus(settings):
    """Returns the pieces for training, validation and test."""
    if settings.corpus == "cadences":
        pieces = cadences(settings.limit or 400, settings.seed)
        return data.split_piano_rolls(pieces)
    steps = settings.steps_per_beat
    if settings.start_from:
        steps = pipelines.MusicPipeline.open(settings.start_from).steps_per_beat
    path = data.find_corpus(settings.corpus, settings.data_dir)
    return data.read_piano_rolls(path, settings.limit, steps)


def build_cell(settings):
    options = {"recurrent_dropout": settings.recurrent_dropout}
    if settings.cell == "peephole_lstm":
        cell = PeepholeLSTMCell(settings.units, **options)
    else:
        cell = training.build_cell(
            settings.cell, settings.units, settings.micro_steps, **options
        )
    if settings.attention is None:
        return cell
    return SelfAttentionCell(cell, settings.attention, window=32)


def build_model(settings):
    model = models.PianoRollModel(
        build_cell(settings), depth=settings.depth, dropout=settings.dropout
    )
    model.build()
    return model


def run(settings):
    """Trains, evaluates and exports."""
    with pipelines.Run(settings) as this_run:
        corpus = load_corpus(settings)
        if settings.start_from:
            music = pipelines.MusicPipeline.open(settings.start_from)
        else:
            model = build_model(settings)
            music = pipelines.MusicPipeline(model, settings.steps_per_beat)
            music.assign_frequencies(corpus.train)
        batches = music.batches(
            corpus.train,
            **settings.pick("batch_size", "transpose", "seed", "max_length"),
        )
        optimizer = OPTIMIZERS[settings.optimizer]
        music.compile(
            training.build_optimizer(settings, len(batches), 200, optimizer)
        )
        noise, callbacks = settings.weight_noise, []
        if noise:
            callbacks = [training.WeightNoise(noise, settings.seed)]
        this_run.fit(
            music,
            corpus.train,
            corpus.validation,
            batches,
            patience=settings.patience,
            callbacks=callbacks,
        )
        this_run.finish(
            music,
            corpus.validation,
            corpus.test,
            showing=settings.pick("seed", "temperature"),
        )


def preset_for(corpus):
    """The default preset for a corpus."""
    long = corpus in ("musedata", "piano")
    return "long" if long else training.preset_of(PRESETS, corpus)


def main():
    run(training.read_settings(PRESETS, preset_for, __doc__))


if __name__ == "__main__":
    main()
