"""What is special to a run of music; tests/recipes runs it whole."""

import dataclasses
import json

import mido
import numpy as np
import pytest

from kerasrnn.data import PianoRollCorpus
from kerasrnn.data import read_midi
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import PianoRollModel
from kerasrnn.pipelines import MusicPipeline
from kerasrnn.pipelines import MusicRun
from kerasrnn.training import Settings
from tests.helpers import randomize

RNG = np.random.default_rng(0)
ROLLS = [(RNG.random((12, 88)) < 0.1).astype("uint8") for _ in range(6)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Small(Settings):
    epochs: int = 1
    batch_size: int = 4
    learning_rate: float = 0.1
    patience: int = 0
    steps_per_beat: int = 2
    temperature: float = 1.0


def pipeline():
    music = MusicPipeline(PianoRollModel(FastGRUCell(3)))
    music.model.build()
    randomize(music.model)
    music.compile("sgd", run_eagerly=True)
    return music


def corpus(**parts):
    return PianoRollCorpus(
        **{"train": ROLLS[:4], "validation": ROLLS[4:], "test": None} | parts
    )


@pytest.mark.slow
def test_another_training_by_its_data(tmp_path):
    def trained(**parts):
        with MusicRun(Small(output=tmp_path)) as run:
            music = pipeline()
            run.fit(music, music.batches(ROLLS[:4], 4), corpus(**parts))
        assert {"nll", "val_nll", "tokens"} <= run.history.keys()
        return len(list(tmp_path.glob("training-*")))

    joined = [np.concatenate(ROLLS[:2]), *ROLLS[2:4]]
    assert trained() == 1
    # In the order of MATLAB, they are the same data.
    assert trained(train=[np.asfortranarray(x) for x in ROLLS[:4]]) == 1
    assert trained(test=ROLLS) == 1
    assert trained(train=joined) == 2
    assert trained(validation=ROLLS[:2]) == 3


@pytest.mark.slow
def test_what_a_run_leaves(tmp_path, monkeypatch):
    monkeypatch.setattr(MusicPipeline, "export", lambda *_: None)
    music = pipeline()
    with MusicRun(Small(output=tmp_path)) as run:
        run.history = {"loss": [1.0]}
        run.finish(music, corpus(test=ROLLS[:2]))
    found = json.loads((tmp_path / "card.json").read_text("utf-8"))
    assert found["pieces"] == {"train": 4, "validation": 2, "test": 2}
    for name, rolls in (("validation", ROLLS[4:]), ("test", ROLLS[:2])):
        expected = pytest.approx(music.evaluate(rolls), rel=1e-4)
        assert found["scores"][name] == expected
    # The opening of the first validation piece is continued.
    sample = read_midi(tmp_path / "sample.mid", steps_per_beat=2)
    np.testing.assert_array_equal(sample[:8], ROLLS[4][:8])
    assert len(sample) > 100
    assert mido.MidiFile(tmp_path / "sample.mid").length > 30
    for picture in ("training", "prediction", "sample"):
        assert (tmp_path / f"{picture}.png").exists()
