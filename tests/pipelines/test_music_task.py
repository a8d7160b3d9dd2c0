"""How a model of music is shown in a run; tests/recipes runs it whole."""

import types

import numpy as np
import pytest

from kerasrnn.data import read_midi
from kerasrnn.pipelines.music_task import MusicTask

RNG = np.random.default_rng(0)
ROLLS = [(RNG.random((12, 88)) < 0.1).astype("uint8") for _ in range(2)]


def test_scores_take_the_options_of_evaluate():
    music = types.SimpleNamespace(
        evaluate=lambda rows, batch_size=1: batch_size
    )
    assert MusicTask(music).row_scores(ROLLS, batch_size=3) == 3
    with pytest.raises(TypeError, match="dynamic"):
        MusicTask(music).row_scores(ROLLS, dynamic=True)


def test_the_opening_of_a_piece_is_continued(tmp_path):
    def write(opening, seed, temperature, steps):
        assert (seed, temperature) == (3, 0.5)
        keys = (np.arange(steps) + seed) % 88
        return np.concatenate([opening, np.eye(88, dtype="uint8")[keys]])

    music = types.SimpleNamespace(write=write, steps_per_beat=2)
    music.probabilities = lambda roll: roll / 2
    _, pictures = MusicTask(music).report(ROLLS, tmp_path, 3, 0.5)
    sample = read_midi(tmp_path / "sample.mid", steps_per_beat=2)
    expected = write(ROLLS[0][:8], 3, 0.5, 120)
    np.testing.assert_array_equal(sample, expected)
    piece, predicted = (
        axes.images[0].get_array() for axes in pictures["prediction"].axes[:2]
    )
    np.testing.assert_array_equal(piece, ROLLS[0].T)
    np.testing.assert_array_equal(predicted, piece / 2)
    (axes,) = pictures["sample"].axes
    np.testing.assert_array_equal(axes.images[0].get_array(), expected.T)
