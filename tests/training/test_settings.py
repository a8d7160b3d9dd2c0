import keras
import numpy as np
import pytest

from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell
from kerasrnn.training import RecipeParser
from kerasrnn.training import build_cell
from kerasrnn.training import cosine_schedule
from kerasrnn.training import training_settings
from kerasrnn.training.settings import CELLS

PRESETS = {
    "best": {"corpus": "ptb", "units": 300, "depth": 2, "epochs": 9},
    "small": {"corpus": "ptb", "units": 30, "depth": 1, "epochs": 9},
    "phrasebook": {"corpus": "phrasebook", "units": 8, "depth": 1, "epochs": 1},
    "sizes": {"corpus": "ptb", "units": 3, "depth": 1, "epochs": 9},
}
COMPARISONS = {"sizes": ["best", "small"]}


@pytest.fixture
def parser():
    parser = RecipeParser(
        "Trains.\n\nMore.", "some_lm", PRESETS, "phrasebook", COMPARISONS
    )
    parser.add_argument("--corpus")
    return parser


@pytest.mark.parametrize(
    "arguments, preset",
    [
        ([], "phrasebook"),
        (["--corpus", "phrasebook"], "phrasebook"),
        (["--corpus", "my.txt"], "best"),
        (["--corpus", "my.txt", "--preset", "small"], "small"),
        (["--preset", "best"], "best"),
    ],
)
def test_which_preset(parser, arguments, preset):
    args = parser.settings(arguments)
    assert args.preset == preset
    assert args.depth == PRESETS[preset]["depth"]
    assert args.units == PRESETS[preset]["units"]
    expected = PRESETS[preset]["corpus"]
    assert args.corpus == (arguments[1] if "my.txt" in arguments else expected)


def test_a_flag_is_stronger_than_the_preset(parser):
    args = parser.settings(["--preset", "small", "--units", "4", "--limit=5"])
    assert (args.units, args.epochs, args.limit) == (4, 9, 5)


def test_a_row_of_a_comparison_has_the_flags_that_were_given(parser):
    given = ["--preset", "sizes", "--epochs", "4", "--seed", "2"]
    row = parser.settings(given, preset="small")
    assert (row.preset, row.units, row.epochs, row.seed) == ("small", 30, 4, 2)


def test_a_training_depends_on_no_path(parser):
    here = ["--preset", "small", "--output", "here"]
    there = ["--units", "30", "--corpus", "ptb", "--data-dir=there"]
    settings = [
        training_settings(parser.settings(given, preset))
        for given, preset in ((here, None), (there, "small"))
    ]
    assert settings[0] == settings[1]
    expected = PRESETS["small"] | {"seed": 13}
    assert expected.items() <= settings[0].items()
    other = parser.settings([*here, "--seed", "14"])
    assert training_settings(other) != settings[0]


def test_what_neither_says_has_a_default(parser):
    args = parser.settings([])
    assert args.output == "saved_models/some_lm"
    assert args.seed == 13
    assert args.data_dir is None


def test_the_command_line_of_the_process_is_the_default(parser, monkeypatch):
    monkeypatch.setattr("sys.argv", ["some_lm.py", "--seed", "7"])
    assert parser.settings().seed == 7


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--preset", "none"], "invalid choice: 'none'"),
        (["--units", "many"], "a positive integer, received 'many'"),
        (["--limit", "0"], "a positive integer, received '0'"),
        (["--epochs=-1"], "a positive integer, received '-1'"),
        (["--unit5", "8"], "unrecognized arguments: --unit5 8"),
        (["--preset", "sizes", "--units", "3"], "argument --units: the models"),
    ],
)
def test_what_it_does_not_know_it_says(parser, arguments, message, capsys):
    with pytest.raises(SystemExit) as exit:
        parser.settings(arguments)
    assert exit.value.code == 2
    assert message in capsys.readouterr().err


def test_help_shows_the_first_line_alone(parser, capsys):
    with pytest.raises(SystemExit):
        parser.settings(["--help"])
    shown = capsys.readouterr().out
    assert "Trains." in shown and "More." not in shown


@pytest.mark.parametrize("name", CELLS)
def test_every_cell_runs(name):
    cell = build_cell(name, 8, recurrent_dropout=0.25)
    assert cell.recurrent_dropout == 0.25
    assert keras.layers.RNN(cell)(np.ones((2, 3, 4), "float32")).shape == (2, 8)


@pytest.mark.parametrize(
    "name, cell_class, depth",
    [("rhn", RHNCell, 3), ("gam_rhn", GAMRHNCell, 2)],
)
def test_the_depth_of_a_cell(name, cell_class, depth):
    assert type(build_cell(name, 8)) is cell_class
    assert build_cell(name, 8).depth == depth
    assert build_cell(name, 8, 5).depth == 5


def test_a_cell_that_does_not_exist():
    with pytest.raises(ValueError, match="no cell 'qrnn'.*one of rnn, lstm"):
        build_cell("qrnn", 8)


def test_the_rate_rises_to_its_peak_and_falls_to_zero():
    schedule = cosine_schedule(0.5, 100, 10)
    rates = [float(schedule(step)) for step in range(101)]
    np.testing.assert_allclose(rates[:11], np.linspace(0, 0.5, 11), atol=1e-6)
    down = 0.25 * (1 + np.cos(np.linspace(0, np.pi, 91)))
    np.testing.assert_allclose(rates[10:], down, atol=1e-6)


def test_a_short_training_rises_for_a_tenth_of_it():
    schedule = cosine_schedule(1.0, 20, 200)
    assert float(schedule(2)) == max(float(schedule(i)) for i in range(20))
