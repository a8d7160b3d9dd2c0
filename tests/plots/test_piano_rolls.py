import numpy as np

from kerasrnn.plots import piano_roll_figure
from kerasrnn.plots import save_figure


def rolls(steps=12):
    piece = np.zeros((steps, 88))
    piece[:, 39] = 1  # middle C, which is C4
    piece[2, [27, 60]] = 1
    predicted = 0.05 + 0.9 * piece
    piece[2, 60] = 0
    return {"piece": piece, "predicted": predicted}


def test_a_panel_for_each_roll_over_the_same_keys(tmp_path):
    figure = piano_roll_figure(rolls(), "prelude in $C")
    *panels, bar = figure.axes
    assert [axes.get_title("left") for axes in panels] == ["piece", "predicted"]
    assert figure.get_suptitle() == "prelude in $C"
    for axes, roll in zip(panels, rolls().values(), strict=True):
        found = np.asarray(axes.images[0].get_array())
        np.testing.assert_allclose(found, roll.T)
        assert axes.images[0].get_clim() == (0.0, 1.0)
        # Two keys more on both sides.
        assert axes.get_ylim() == (24.5, 62.5)
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert labels == ["C3", "C4", "C5"]
        assert axes.get_yticks().tolist() == [27, 39, 51]
    path = save_figure(figure, tmp_path / "rolls.png")
    assert path.stat().st_size > 5000


def test_a_line_marks_where_the_model_takes_over():
    (axes,) = piano_roll_figure({"it": rolls()["piece"]}, given=4).axes
    assert [3.5, 3.5] in [list(line.get_xdata()) for line in axes.lines]


def test_it_grows_with_the_piece_up_to_a_limit():
    widths = [
        piano_roll_figure(rolls(steps)).get_size_inches()[0]
        for steps in (10, 200, 4000)
    ]
    assert widths[0] < widths[1] < widths[2] < 40


def test_silence_has_all_keys():
    figure = piano_roll_figure({"rest": np.zeros((4, 88))})
    [axes] = figure.axes  # without a colour bar
    assert axes.get_ylim() == (-0.5, 87.5)


def test_all_panels_show_all_steps():
    piece = rolls(40)["piece"]
    figure = piano_roll_figure({"piece": piece, "short": piece[:10]})
    assert [axes.get_xlim() for axes in figure.axes] == 2 * [(-0.5, 39.5)]
