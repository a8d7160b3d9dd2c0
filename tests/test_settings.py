import pytest

from kerasrnn.settings import RecipeParser

PRESETS = {
    "best": {"corpus": "ptb", "units": 300, "depth": 2, "epochs": 9},
    "small": {"corpus": "ptb", "units": 30, "depth": 1, "epochs": 9},
    "phrasebook": {"corpus": "phrasebook", "units": 8, "depth": 1, "epochs": 1},
}


@pytest.fixture
def parser():
    parser = RecipeParser("Trains.\n\nMore.", "some_lm", PRESETS, "phrasebook")
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
        (["--units", "many"], "invalid int value: 'many'"),
        (["--unit5", "8"], "unrecognized arguments: --unit5 8"),
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
