import numpy as np
import pytest

from kerasrnn.plots import attention_figure
from kerasrnn.plots import gradient_figure
from kerasrnn.plots import hidden_state_figure
from kerasrnn.plots import matrix_figure
from kerasrnn.plots import piano_roll_figure
from kerasrnn.plots import reliability_figure
from kerasrnn.plots import training_figure
from kerasrnn.plots import word_map_figure
from kerasrnn.plots.fonts import font_family
from kerasrnn.plots.style import shortened

TITLE = "शब्द $x$"
FIGURES = {
    "gradient": lambda: gradient_figure({"LSTM": [1.0]}, TITLE),
    "matrix": lambda: matrix_figure([[1]], ["a"], ["b"], "t", "f", TITLE),
    "piano": lambda: piano_roll_figure({TITLE: np.eye(3)}),
    "reliability": lambda: reliability_figure([0.9], [True], TITLE),
    "training": lambda: training_figure({TITLE: [1.0]}),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_title_is_drawn_as_written(draw):
    axes = draw().axes[0]
    (title,) = axes.findobj(lambda x: getattr(x, "get_text", str)() == TITLE)
    assert title.get_family() == font_family([TITLE])
    assert not title.get_parse_math()


def test_the_titles_of_a_matrix_have_their_fonts():
    axes = matrix_figure([[1]], ["a"], ["b"], "सही", "मिला").axes[0]
    assert axes.yaxis.label.get_family() == font_family(["सही"])
    assert axes.xaxis.label.get_family() == font_family(["मिला"])


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
