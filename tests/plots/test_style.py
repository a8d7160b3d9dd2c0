import numpy as np
import pytest

from kerasrnn.plots import gradient_figure
from kerasrnn.plots import matrix_figure
from kerasrnn.plots import piano_roll_figure
from kerasrnn.plots import reliability_figure
from kerasrnn.plots import training_figure
from kerasrnn.plots.fonts import font_family

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
    titles = [axes.title, axes._left_title]
    (title,) = (title for title in titles if title.get_text())
    assert title.get_text() == TITLE
    assert title.get_family() == font_family([TITLE])
    assert not title.get_parse_math()


def test_the_titles_of_a_matrix_have_their_fonts():
    axes = matrix_figure([[1]], ["a"], ["b"], "सही", "मिला").axes[0]
    assert axes.yaxis.label.get_family() == font_family(["सही"])
    assert axes.xaxis.label.get_family() == font_family(["मिला"])
