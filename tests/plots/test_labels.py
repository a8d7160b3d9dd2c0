import pytest

from kerasrnn.plots import attention_figure
from kerasrnn.plots import hidden_state_figure
from kerasrnn.plots import word_map_figure
from kerasrnn.plots.style import shortened

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
