"""The run of a recipe that trains a model of polyphonic music."""

import zlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from kerasrnn.data import PianoRollCorpus
from kerasrnn.data import write_midi
from kerasrnn.models import in_float32
from kerasrnn.pipelines.music_pipeline import MusicPipeline
from kerasrnn.pipelines.run import Run
from kerasrnn.plots import piano_roll_figure
from kerasrnn.training import TrainingSpeed
from kerasrnn.typing import Batches

_SHOWN = 128  # steps in a picture
_GIVEN = 8  # of them, those that the model continues


class MusicRun(Run):
    """The run of a recipe that trains a `MusicPipeline`.

    See `Run`. It also writes `sample.mid`, the opening of a validation piece
    and how the model continues it.

    Args:
        settings: `kerasrnn.training.Settings` with the fields `patience`,
            after how many epochs without a better one to stop, 0 for never;
            `steps_per_beat`, of the rolls; and `temperature`, of the sample.

    Example:

    >>> with MusicRun(settings) as run:
    ...     music = MusicPipeline(PianoRollModel(FastGRUCell(46)))
    ...     music.model.build()
    ...     music.compile("adam")
    ...     batches = music.batches(rolls.train, seed=settings.seed)
    ...     run.fit(music, batches, rolls)
    ...     run.finish(music, rolls)
    """

    def fit(
        self,
        music: MusicPipeline,
        batches: Batches,
        corpus: PianoRollCorpus,
        callbacks: Sequence[keras.callbacks.Callback] = (),
    ) -> None:
        """Trains a compiled model; the best epoch has the lowest `val_nll`.

        Args:
            music: A `MusicPipeline` compiled with `NegativeLogLikelihood`.
            batches: The batches of `corpus.train`.
            corpus: `kerasrnn.data.PianoRollCorpus`.
            callbacks: List of further callbacks.
        """
        steps = sum(map(len, corpus.train))
        print(
            f"{len(corpus.train)} pieces of {steps} steps, "
            f"{len(corpus.validation)} to validate on"
        )
        self.history = super().fit(
            music.model,
            batches,
            music.batches(corpus.validation),
            "val_nll",
            patience=self.settings.patience,
            callbacks=[TrainingSpeed(steps), *callbacks],
            data=[_checksum(part) for part in corpus[:2]],
        )

    def finish(
        self, music: MusicPipeline, corpus: PianoRollCorpus, **facts: Any
    ) -> None:
        """Evaluates a trained model and saves it in float32.

        Args:
            music: The trained `MusicPipeline`.
            corpus: `kerasrnn.data.PianoRollCorpus`, whose validation and test
                parts are scored.
            **facts: More values for the card.
        """
        music, settings = in_float32(music), self.settings
        self.save(music, "music")
        piece = corpus.validation[0][:_SHOWN]
        sample = music.write(
            piece[:_GIVEN],
            *(settings.seed, settings.temperature, _SHOWN - _GIVEN),
        )
        path = self.output / "sample.mid"
        write_midi(sample, path, settings.steps_per_beat)
        super().finish(
            music,
            self.history,
            {
                "prediction": piano_roll_figure(
                    {"piece": piece, "predicted": music.probabilities(piece)}
                ),
                "sample": piano_roll_figure(
                    {f"continued from step {_GIVEN}": sample}
                ),
            },
            pieces={
                name: len(part)
                for name, part in corpus._asdict().items()
                if part
            },
            scores={
                name: music.evaluate(getattr(corpus, name))
                for name in ("validation", "test")
                if getattr(corpus, name)
            },
            **facts,
        )


def _checksum(rolls):
    """A checksum of pieces, eight hexadecimal digits."""
    whole = np.concatenate(rolls), [len(roll) for roll in rolls]
    return "".join(f"{zlib.crc32(np.asarray(x).tobytes()):08x}" for x in whole)
