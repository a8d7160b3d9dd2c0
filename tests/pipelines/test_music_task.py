"""How a model of music is shown in a run; tests/recipes runs it whole."""

import types

import mido
import numpy as np
import pytest

from kerasrnn.data import read_midi
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import PianoRollModel
from kerasrnn.pipelines import MusicPipeline
from kerasrnn.pipelines.music_task import MusicTask
from tests.helpers import randomize

RNG = np.random.default_rng(0)
ROLLS = [(RNG.random((12, 88)) < 0.1).astype("uint8") for _ in range(2)]


def test_scores_take_the_options_of_evaluate():
    music = types.SimpleNamespace(
        evaluate=lambda rows, batch_size=1: batch_size
    )
    assert MusicTask(music).row_scores(ROLLS, batch_size=3) == 3
    with pytest.raises(TypeError, match="dynamic"):
        MusicTask(music).row_scores(ROLLS, dynamic=True)


@pytest.mark.slow
def test_the_opening_of_a_piece_is_continued(tmp_path):
    music = MusicPipeline(PianoRollModel(FastGRUCell(3)), steps_per_beat=2)
    randomize(music.model)
    task = music.task()
    _, pictures = task.report(ROLLS, tmp_path)
    assert {*pictures} == {"prediction", "sample"}
    sample = read_midi(tmp_path / "sample.mid", steps_per_beat=2)
    np.testing.assert_array_equal(sample[:8], ROLLS[0][:8])
    assert len(sample) > 100
    assert mido.MidiFile(tmp_path / "sample.mid").length > 30
    assert music.served_facts() == {"steps_per_beat": 2}
