import numpy as np

from kerasrnn.plots import reliability_figure


def test_points_are_means_of_bins():
    certainty, right = [0.92, 0.98, 0.66, 1.0], [True, False, True, True]
    axes, bars = reliability_figure(certainty, right, "Topics").axes
    _, model = axes.lines
    np.testing.assert_allclose(model.get_xdata(), [0.66, (0.92 + 0.98 + 1) / 3])
    np.testing.assert_allclose(model.get_ydata(), [1, 2 / 3])
    assert [bar.get_height() for bar in bars.patches][-4:] == [1, 0, 0, 3]
    assert axes.get_title() == "Topics"
    # (3 * |0.967 - 0.667| + |0.66 - 1|) / 4
    assert model.get_label().startswith("model (ECE 0.31")
