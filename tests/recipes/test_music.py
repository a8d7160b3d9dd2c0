import music
import numpy as np
import pytest
import scipy.io

from kerasrnn import data
from kerasrnn import training
from kerasrnn.layers import DotAttention
from kerasrnn.pipelines import MusicPipeline
from tests import helpers
from tests.recipes import brief
from tests.recipes.brief import unlearnt  # noqa: F401  a fixture


def run(*flags):
    brief.run(music, *flags)


def small(output, *flags):
    return (
        *("--limit", 40, "--units", 8, "--epochs", 3, "--output", output),
        *("--transpose", 3, "--max-length", 5, *flags),
    )


def settings(*flags):
    flags = [*map(str, flags)]
    return training.read_settings(music.PRESETS, music.preset_for, args=flags)


def test_a_run_is_as_its_settings_say(tmp_path, unlearnt):  # noqa: F811
    flags = "--seed", 3, "--clip", 2, "--patience", 4, "--weight-noise", 0.5
    flags += "--temperature", 0.75, "--steps-per-beat", 2, "--dropout", 0.25
    flags += "--batch-size", 5, "--depth", 2, "--recurrent-dropout", 0.125
    run(*small(tmp_path / "out", *flags, "--attention", "dot"))
    (pipeline, parts, more), (_, scored, showing) = unlearnt
    expected = data.split_piano_rolls(music.cadences(40, seed=3))
    np.testing.assert_equal((parts[0], *scored), expected)
    assert parts[1] is scored[0]
    batches = pipeline.batches(expected.train, 5, 3, seed=3, max_length=5)
    np.testing.assert_equal(
        *(list(x.as_numpy_iterator()) for x in (parts[2], batches))
    )
    assert more["patience"] == 4
    [noise] = more["callbacks"]
    assert isinstance(noise, training.WeightNoise)
    assert (noise.stddev, noise.seed) == (0.5, 3)
    assert showing == {"showing": {"seed": 3, "temperature": 0.75}}
    model = pipeline.model
    assert (pipeline.steps_per_beat, model.depth, model.dropout) == (2, 2, 0.25)
    assert brief.has(model.cell, window=32) and model.cell.output_size == 8
    assert isinstance(model.cell.attention, DotAttention)
    assert model.cell.cell.recurrent_dropout == 0.125
    assert model.optimizer.global_clipnorm == 2
    [bias] = (x for x in model.weights if x.path.endswith("output/bias"))
    assert np.ptp(bias) > 0  # the frequencies of the keys


@pytest.mark.parametrize(
    "flags, expected",
    [
        ((), "cadences"),
        (("--corpus", "jsb"), "best"),
        (("--corpus", "nottingham"), "long"),
        (("--corpus", "piano"), "long"),
        (("--corpus", "folder"), "own"),
        (("--corpus", "jsb", "--preset", "gru"), "gru"),
    ],
)
def test_a_preset_goes_with_a_corpus(flags, expected):
    assert settings(*flags).preset == expected


@pytest.mark.parametrize(
    "preset, expected",
    helpers.one_now(
        [
            ("lstm", 21_364),
            ("gru", 22_904),
            ("tanh", 27_788),
            ("rhn", 22_792),
            ("rhn-attention", 22_804),
            ("gam-rhn", 22_805),
            ("gam-rhn-attention", 22_669),
            ("best", 84_788),
            ("long", 494_188),
        ]
    ),
)
def test_the_presets_have_their_weights(preset, expected):
    model = music.build_model(music.PRESETS[preset])
    assert model.count_params() == expected
    assert model(np.zeros((1, 2, 88))).shape == (1, 2, 88)


def test_a_published_corpus(tmp_path):
    pieces = np.empty((1, 3), object)
    pieces[0, :] = [np.eye(time, 88, time) for time in (3, 4, 5)]
    names = ("traindata", "validdata", "testdata")
    scipy.io.savemat(tmp_path / "Piano_midi.mat", dict.fromkeys(names, pieces))
    flags = ("--corpus", "piano", "--data-dir", tmp_path, "--limit", 2)
    corpus = music.load_corpus(settings(*flags))
    assert [list(map(len, part)) for part in corpus] == [[3, 4]] * 3


def test_a_folder_of_midi_files(tmp_path):
    for i in range(3):
        data.write_midi(np.eye(8, 88, i), tmp_path / f"{i}.mid", 4)
    corpus = music.load_corpus(settings("--corpus", tmp_path))
    assert [len(roll) for part in corpus for roll in part] == [8, 8, 8]
    # A saved pipeline has steps of its own.
    saved = tmp_path / "music.keras"
    model = music.build_model(settings("--units", 2))
    MusicPipeline(model, steps_per_beat=8).save(saved)
    corpus = music.load_corpus(settings("--corpus", tmp_path, "--from", saved))
    assert [len(roll) for part in corpus for roll in part] == [16, 16, 16]
