import numpy as np
from matplotlib.colors import to_hex

from kerasrnn.plots import forecast_figure
from kerasrnn.plots import horizon_figure


def test_a_forecast_is_drawn_after_its_past_with_its_bands():
    past, ahead = np.arange(10.0).reshape(5, 2), np.array([[1.0, 5.0]] * 3)
    bands = ahead[..., None] + np.array([-2, -1, 0, 1, 2])
    figure = forecast_figure(
        past,
        ahead,
        ["load", "$x$"],
        2 * ahead,
        bands,
        [0.1, 0.25, 0.5, 0.75, 0.9],
    )
    load, other = figure.axes
    assert other.get_ylabel() == "$x$"
    ys = [line.get_ydata().tolist() for line in other.lines[:3]]
    assert ys == [[1, 3, 5, 7, 9], [10, 10, 10], [5, 5, 5]]
    wide, narrow = (x.get_paths()[0].get_extents() for x in other.collections)
    assert wide.intervaly.tolist() == [3, 7]
    assert narrow.intervaly.tolist() == [4, 6]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["truth", "80%", "50%", "forecast"]
    swatches, bands = (
        [to_hex(np.ravel(x.get_facecolor())) for x in found]
        for found in (figure.legends[0].get_patches(), load.collections)
    )
    assert swatches == bands and swatches[0] > swatches[1]
    before, truth, forecast, _ = load.lines
    assert before.get_xdata().tolist() == [-4, -3, -2, -1, 0]
    assert truth.get_ydata().tolist() == [2, 2, 2]
    assert forecast.get_xdata().tolist() == [1, 2, 3]
    figure.canvas.draw()


def test_a_picture_has_the_first_columns_and_the_last_past():
    past, ahead = np.arange(50.0).reshape(10, 5), np.ones((2, 5))
    figure = forecast_figure(past, ahead, [*"abcde"])
    assert [axes.get_ylabel() for axes in figure.axes] == [*"abcd"]
    before = figure.axes[0].lines[0]
    assert before.get_ydata().tolist() == past[-6:, 0].tolist()
    figure = forecast_figure(
        past, ahead, [*"abcde"], most_columns=5, past_horizons=5
    )
    assert len(figure.axes) == 5
    assert len(figure.axes[4].lines[0].get_xdata()) == 10


def test_a_forecast_has_the_dates_of_its_steps():
    past, ahead = np.arange(10.0)[:, None], np.ones((2, 1))
    times = np.datetime64("2024-05-01T00") + np.arange(12)
    (axes,) = forecast_figure(past, ahead, ["load"], times=times).axes
    before, forecast, now = axes.lines
    np.testing.assert_array_equal(before.get_xdata(), times[4:10])
    np.testing.assert_array_equal(forecast.get_xdata(), times[10:])
    assert times[9] < now.get_xdata()[0] < times[10]
    axes.figure.draw_without_rendering()
    assert "May" in axes.xaxis.get_major_formatter().get_offset()
    assert axes.get_xlabel() == ""


def test_errors_are_drawn_by_the_step_ahead():
    figure = horizon_figure({"model": [1, 2], "naive": [2, 3]}, "MAE")
    (axes,) = figure.axes
    naive = axes.lines[1]
    assert (naive.get_label(), list(naive.get_ydata())) == ("naive", [2, 3])
    assert naive.get_xdata().tolist() == [1, 2] and axes.get_ylim()[0] == 0
    figure.canvas.draw()
