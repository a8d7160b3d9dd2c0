import numpy as np
import pytest
from matplotlib.text import Text

from kerasrnn.plots import attention_figure
from kerasrnn.plots import attention_grid
from kerasrnn.plots import comparison_figure
from kerasrnn.plots import forecast_figure
from kerasrnn.plots import frequency_figure
from kerasrnn.plots import gradient_figure
from kerasrnn.plots import hidden_state_figure
from kerasrnn.plots import horizon_figure
from kerasrnn.plots import matrix_figure
from kerasrnn.plots import piano_roll_figure
from kerasrnn.plots import reliability_figure
from kerasrnn.plots import save_figure
from kerasrnn.plots import training_figure
from kerasrnn.plots import word_map_figure
from kerasrnn.plots import word_weight_figure
from kerasrnn.plots.style import shortened

TITLE, WORDS = "शब्द $x$", ["$a$", "हिन्दी", "_", ""]
STATES = np.random.default_rng(0).normal(size=(4, 3))
# A figure, and the texts of it.
FIGURES = {
    "attention": (
        lambda: attention_figure(np.eye(4), WORDS, WORDS, TITLE),
        [TITLE, *WORDS],
    ),
    "comparison": (
        lambda: comparison_figure(dict.fromkeys(WORDS, {"a": [1]}), "a"),
        [f"{word}: 1" for word in WORDS],
    ),
    "frequencies": (
        lambda: frequency_figure(dict.fromkeys(WORDS[:3], 1)),
        WORDS[:3],
    ),
    "gradient": (lambda: gradient_figure({"LSTM": [1.0]}, TITLE), [TITLE]),
    "matrix": (
        lambda: matrix_figure(np.eye(4), WORDS, WORDS, "सही", "$", TITLE),
        [TITLE, "सही", "$", *WORDS],
    ),
    "piano": (lambda: piano_roll_figure({TITLE: np.eye(3)}), [TITLE]),
    "reliability": (lambda: reliability_figure([0.9], [True], TITLE), [TITLE]),
    "states": (
        lambda: hidden_state_figure(STATES, WORDS, title=TITLE),
        [TITLE, *WORDS],
    ),
    "training": (lambda: training_figure({TITLE: [1.0]}), [TITLE]),
    "word map": (
        lambda: word_map_figure(STATES, WORDS, title=TITLE),
        [TITLE, *WORDS],
    ),
    "words": (
        lambda: word_weight_figure(np.ones(4), WORDS, title=TITLE),
        [TITLE, *WORDS],
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_texts_are_drawn_as_written(name, tmp_path):
    draw, expected = FIGURES[name]
    figure = draw()
    texts = [x for x in figure.findobj(Text) if x.get_text() in expected]
    assert {x.get_text() for x in texts} == {*expected}
    assert not any(x.get_parse_math() for x in texts if x.get_text())
    save_figure(figure, tmp_path / "it.png")  # A missing glyph warns.


ONE = {"a": [1.0]}
BAD = {
    "attention": (
        lambda: attention_figure(np.zeros((3, 2)), [*"abc"], [*"de"]),
        r"`weights` must .*\(2, 3\)\. Received: weights\.shape=\(3, 2\)",
    ),
    "no tokens": (
        lambda: attention_figure(np.eye(2), [1, 2], [*"ab"]),
        "`source_tokens`.*Received",
    ),
    "no sentence": (lambda: attention_grid([]), "`sentences`.*Received"),
    "no columns": (
        lambda: attention_grid([([[1]], ["a"], ["b"])], 0),
        "Received: columns=0",
    ),
    "a history": (
        lambda: comparison_figure([1.0], "loss"),
        "`histories` must be a dictionary. Received",
    ),
    "no history": (
        lambda: comparison_figure({"LSTM": [1.0]}, "loss"),
        r"`histories\['LSTM'\]` must be a dictionary",
    ),
    "nine models": (
        lambda: comparison_figure(dict.fromkeys(range(9), ONE), "a"),
        "1 to 8 items. Received: 9$",
    ),
    "no models": (lambda: gradient_figure({}), "1 to 8 items. Received: 0$"),
    "a short axis": (
        lambda: comparison_figure({"GRU": ONE | {"b": [1, 2]}}, "a", x="b"),
        r"same first dimension.*\(2,\) and \(1,\)",
    ),
    "no numbers": (
        lambda: comparison_figure({"GRU": {"a": ["high"]}}, "a"),
        r"a list of numbers. Received: histories\['GRU'\]\['a'\]=\['high'\]",
    ),
    "no epochs": (
        lambda: training_figure({"a": []}),
        r"Received: history\['a'\]=\[\]",
    ),
    "nothing": (lambda: training_figure({}), "at least one item"),
    "norms": (
        lambda: gradient_figure({"GRU": [[1.0]]}),
        r"Received: norms\['GRU'\]=",
    ),
    "a negative norm": (
        lambda: gradient_figure({"GRU": [1.0, -1.0]}),
        "non-negative. Received: -1.0",
    ),
    "no norm": (
        lambda: gradient_figure({"GRU": [1.0, np.nan]}),
        "finite and .* Received: nan",
    ),
    "quantiles": (
        lambda: forecast_figure(*3 * [[[1.0]]], None, [[1.0]], [0.1, 0.9]),
        r"`quantiles` must.*\(1, 1, 2\)",
    ),
    "no past": (
        lambda: forecast_figure([[1.0]], [[1.0]], "x", past_horizons=0),
        "`past_horizons` must be an integer >= 1",
    ),
    "few times": (
        lambda: forecast_figure(*3 * [[[1.0]]], times=[1]),
        r"`times` must have the shape \(2,\)",
    ),
    "no errors": (lambda: horizon_figure({}), "1 to 8"),
    "counts": (lambda: frequency_figure([3, 2]), "`counts` must be .*Receiv"),
    "a negative count": (
        lambda: frequency_figure({"a": 1, "b": -1}),
        "a count` must be an integer >= 0. Received: a count=-1",
    ),
    "half a count": (lambda: frequency_figure({"a": 0.5}), "a count=0.5"),
    "all 0": (lambda: frequency_figure({"a": 0}), "1 items, all with count 0"),
    "no bars": (lambda: frequency_figure({"a": 1}, None, 0), "most_common=0"),
    "states": (
        lambda: hidden_state_figure(np.zeros((2, 3)), ["a"]),
        r"\(1, units\). Received: states.shape=\(2, 3\)",
    ),
    "infinite states": (
        lambda: word_map_figure([[np.inf, 1]], ["a"]),
        "finite. Received: 1 of 2",
    ),
    "three words": (
        lambda: word_map_figure(np.ones((3, 2)), [*"abc"]),
        "`words` must .* at least 4. Received: 3",
    ),
    "weights": (
        lambda: word_weight_figure(np.ones((2, 1)), [*"ab"]),
        r"Expected: \(2,\). Received: weights.shape=\(2, 1\)",
    ),
    "no weight": (lambda: word_weight_figure([np.nan], ["a"]), "finite"),
    "no words": (lambda: word_weight_figure([], []), "`words` must be"),
    "narrow": (
        lambda: word_weight_figure([1.0], ["a"], width=np.nan),
        ">= 2. .*width=nan",
    ),
    "a matrix": (
        lambda: matrix_figure([[1]], ["a", "b"], ["x"], "r", "c"),
        "values.shape",
    ),
    "labels": (
        lambda: matrix_figure([[1]], [1], ["x"], "r", "c"),
        "`rows` must be a list of strings",
    ),
    "rolls": (lambda: piano_roll_figure([[1]]), "must be a dictionary"),
    "other keys": (
        lambda: piano_roll_figure({"a": np.eye(3), "b": np.eye(4)}),
        r"of shape \(time, keys\).*Received",
    ),
    "no predictions": (lambda: reliability_figure([], []), "not be empty"),
    "no probability": (lambda: reliability_figure([1.5], [1]), "1.5 to 1.5"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said(name):
    draw, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        draw()


LONG = 300 * "h"


def test_a_label_is_cut_where_it_is_longer():
    assert shortened("") == ""
    assert shortened(32 * "h") == 32 * "h"
    assert shortened(33 * "h") == 31 * "h" + "…"


@pytest.mark.parametrize(
    "figure",
    [
        lambda: attention_figure([[1.0, 0.0]], [LONG, "a"], [LONG]),
        lambda: hidden_state_figure([[0.1], [0.2]], [LONG, "a"]),
        lambda: word_map_figure([[0], [1], [2], [3]], [LONG, "a", "b", "c"]),
    ],
    ids=["attention", "hidden states", "map of words"],
)
def test_no_word_fills_a_picture(figure):
    axes = figure().axes[0]
    labels = [*axes.get_xticklabels(), *axes.get_yticklabels(), *axes.texts]
    lengths = [len(label.get_text()) for label in labels]
    assert max(lengths) == 32
