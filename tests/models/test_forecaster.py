import keras
import numpy as np
import pytest

from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.models import Forecaster
from kerasrnn.models import ForecastStream
from kerasrnn.models import QuantileHead
from kerasrnn.models import StudentHead
from kerasrnn.training import ForecastLoss
from tests import helpers
from tests.reference import forecaster as reference
from tests.reference.layers import named_weights_of
from tests.reference.layers import step_of

TIME, HORIZON, COLUMNS, SEGMENT = 12, 6, 2, 4


def small(cell=None, horizon=HORIZON, **options):
    options = {"columns": COLUMNS, "segment": SEGMENT, **options}
    model = Forecaster(cell or PeepholeLSTMCell(6), horizon, **options)
    model.build()
    helpers.randomize(model)
    return model


def inputs(known=2, static=3, time=TIME, batch=3, horizon=HORIZON):
    shapes = {
        "past": (time, COLUMNS),
        "known": (time + horizon, known),
        "static": (static,),
    }
    found = {
        name: helpers.random(batch, *shape, seed=place)
        for place, (name, shape) in enumerate(shapes.items())
        if shape[-1]
    }
    found["past"] = 20 + 5 * found["past"]
    return found


def adapt(model, given):
    """Adapts a model to inputs with two columns and two known ahead."""
    past, known = (given[name].reshape(-1, 2) for name in ("past", "known"))
    model.adapt(past, known, given["static"])


@pytest.mark.parametrize("parallel", [True, False])
def test_it_is_seg_rnn(parallel):
    """Of a window scaled by its last values, in the units of the series."""
    model = small(parallel=parallel, known=2, static=3)
    given = inputs()
    adapt(model, given)
    found = helpers.as_numpy(model(given))
    weights = named_weights_of(model.embedding)
    dense, out = (
        named_weights_of(x)
        for x in (model.embedding.of_values, model.projection)
    )
    step = step_of(model.cell)
    known, static = (
        (x - x.reshape(-1, n).mean(0)) / x.reshape(-1, n).std(0)
        for x, n in ((given["known"], 2), (given["static"], 3))
    )
    known = np.pad(known, ((0, 0), (0, 2), (0, 0)))
    extra = known.reshape(3, 5, -1) @ model.embedding.of_known.get_weights()[0]
    extra += (static @ model.embedding.of_static.get_weights()[0])[:, None]
    for row in range(3):
        for column in range(COLUMNS):
            own = {
                **{"W": dense["kernel"], "b": dense["bias"]},
                **{"V": out["kernel"], "v": out["bias"]},
                **{"c": weights["column"][column], "known": extra[row]},
            }
            if parallel:
                own["p"] = weights["position"]
            expected = reference.forecast(
                given["past"][row, :, column],
                step,
                (np.zeros((1, 6)), np.zeros((1, 6))),
                own,
                given["past"][..., column].std(),
                SEGMENT,
                HORIZON,
            )
            helpers.assert_close(found[row, :, column], expected, rtol=1e-3)


@pytest.mark.parametrize(
    "window, shared, parallel, horizon",
    [
        (None, True, True, HORIZON),
        (None, False, False, HORIZON),
        ("last", True, False, HORIZON),
        # Of a segment ahead, only this much is known.
        (None, True, False, 1),
    ],
)
def test_a_stream_forecasts_what_the_whole_would(
    window, shared, parallel, horizon
):
    options = {"shared": shared, "parallel": parallel, "missing": True}
    model = small(None, horizon, window=window, known=2, static=3, **options)
    given = inputs(time=6, horizon=horizon)
    stream = ForecastStream(model, lookback=8)
    states, before = stream.first_states(3), stream.steps
    known = np.pad(given["known"], ((0, 0), (before, 0), (0, 0)))
    past = np.pad(
        given["past"], ((0, 0), (8, 0), (0, 0)), constant_values=np.nan
    )
    for end in range(1, 7):
        ahead = known[:, end : end + before + horizon]
        now = {**given, "past": past[:, end + 7], "known": ahead}
        found, states = stream.step(now, states)
        whole = {
            **given,
            "past": past[:, end : end + 8],
            "known": known[:, end : end + 8 + horizon],
        }
        if window is None:  # without what is missing before the first step
            whole["past"] = given["past"][:, :end]
            whole["known"] = given["known"][:, : end + horizon]
        helpers.assert_close(found, model(whole), rtol=1e-5)
    assert np.ptp(helpers.as_numpy(found)) > 0.1


@pytest.mark.parametrize("parallel", [True, False])
def test_what_is_known_beyond_the_horizon_is_not_read(parallel):
    """Of a segment of 4 steps ahead, one is known, as of those before."""
    model = small(None, 1, known=2, window=None, parallel=parallel)
    given = inputs(static=0, horizon=1)
    found = helpers.as_numpy(model(given))
    for place in range(TIME + 1):
        known = given["known"].copy()
        known[:, place] += 9
        changed = helpers.as_numpy(model({**given, "known": known}))
        is_read = parallel or place % SEGMENT == 0 < place
        assert (changed != found).any() == is_read


def test_what_is_fed_back_is_the_point_forecast():
    options = {"parallel": False, "window": None}
    quantiles, point = small(head=QuantileHead(), **options), small(**options)
    kernel, _ = quantiles.projection.get_weights()
    bias = np.tile([-9.0, 0.0, 9.0], SEGMENT)
    quantiles.projection.set_weights([kernel, bias])
    point.projection.set_weights([kernel[:, 1::3], bias[1::3]])
    past = inputs(0, 0)["past"]
    helpers.assert_close(quantiles(past)[..., 1], point(past))


@pytest.mark.parametrize("parallel", helpers.one_now([False, True]))
def test_what_is_missing_reaches_no_weight(parallel):
    given, values = inputs(), helpers.random(3, HORIZON, COLUMNS, seed=5)
    for x in (*given.values(), values):
        x.flat[::3] = np.nan
    given["past"][1] = values[2] = np.nan
    options = {"missing": True, "known": 2, "static": 3, "window": "mean"}
    model = small(head=StudentHead(), parallel=parallel, **options)
    adapt(model, inputs())
    model.compile(
        keras.optimizers.SGD(0.1), ForecastLoss(model.head, model.units)
    )
    before = helpers.as_numpy(model.get_weights())
    for _ in range(2):
        assert np.isfinite(model.train_on_batch(given, values))
    after = helpers.as_numpy(model.get_weights())
    assert all(np.isfinite(x).all() for x in after)
    assert any((x != y).any() for x, y in zip(before, after, strict=True))
    # Whatever stands behind NaN: nothing of it is read.
    assert np.isfinite(helpers.as_numpy(model(given))).all()


def test_a_missing_value_differs_from_the_mean_if_the_model_reads_which():
    past = np.full((1, TIME, COLUMNS), 20.0, "float32")
    gaps = past.copy()
    gaps[:, 3] = np.nan
    for missing in (False, True):
        model = small(missing=missing)
        model.adapt(past[0] + helpers.random(TIME, COLUMNS))
        found = helpers.as_numpy([model(past), model(gaps)])
        assert np.allclose(*found) != missing


def test_columns_are_apart_or_together():
    given = inputs(0, 0)["past"]
    other = given.copy()
    other[:, 2, 1] += 9
    for shared in (True, False):
        model = small(shared=shared)
        found = helpers.as_numpy([model(given), model(other)])
        same = np.isclose(*found).all(axis=(0, 1))
        assert same[0] == shared and not same[1]


@pytest.mark.parametrize(
    "window, location, scale",
    [
        (None, [5, 10], [2, 4]),
        ("last", [3, 10], [2, 4]),
        ("mean", [2, 10], [1, 4]),
        ("size", [0, 0], [3, 1]),
    ],
)
def test_what_is_missing_has_no_part_in_the_scale(window, location, scale):
    model = small(window=window)
    model.adapt(np.array([[3, 6], [7, 14]]))
    nan = np.nan
    past = np.array([[[1, nan], [nan, nan], [3, nan], [nan, nan]]])
    found = model.scaling(past)
    helpers.assert_close(found["location"][0, 0], np.array(location))
    helpers.assert_close(found["scale"][0, 0], np.array(scale))


@pytest.mark.parametrize("window", ["last", "mean"])
def test_a_window_moves_with_its_level(window):
    model, given = small(window=window), inputs(0, 0)["past"]
    moved = helpers.as_numpy(model(given + 1000.0))
    helpers.assert_close(moved - 1000.0, model(given), atol=2e-3)
    if window == "mean":
        found = helpers.as_numpy(model(given * 8.0))
        helpers.assert_close(found / 8.0, model(given), atol=1e-3)


def test_a_file_says_whether_its_units_are_those_of_data(tmp_path):
    model, path = small(), tmp_path / "model.weights.h5"
    for adapted in (False, True):
        if adapted:
            model.adapt(np.eye(2))
        model.save_weights(path)
        loaded = small()
        loaded.load_weights(path)
        assert loaded.adapted is adapted
        copy = small()
        copy.set_weights(model.get_weights())
        assert copy.adapted is adapted


@pytest.mark.parametrize("unit", [1e-20, 1e20])
@pytest.mark.parametrize("window", ["last", "mean"])
def test_any_unit_of_the_series_will_do(window, unit):
    """Even where squares leave float32, or a window has no value."""
    model = small(window=window)
    past = 20 + 5 * helpers.random(4, TIME, COLUMNS)
    past[1], past[2, :, 0] = np.nan, 20
    found = []
    for scale in (1.0, unit):
        model.adapt(scale * past.reshape(-1, COLUMNS))
        found.append(helpers.as_numpy(model(scale * past)) / scale)
    helpers.assert_close(*found)


def test_a_column_that_never_changes_has_the_unit_one():
    model = small()
    model.adapt(np.tile([[0.1, 3e9]], (7, 1)))
    assert model.units == [1.0, 1.0]


def test_counts_may_be_integers():
    model = small(head="mse", depth=2, embedding_dim=5)
    assert (model.head.error, len(model.stack.rnns)) == ("mse", 2)
    assert model.embedding.width == 5
    past = np.arange(22).reshape(1, 11, COLUMNS)
    helpers.assert_close(model(past), model(past.astype("float32")))


PAST = inputs(0, 0)["past"]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: small(known=1)(PAST), "reads past, known"),
        (lambda: small(known=2)(inputs(1, 0)), r"`known` .*\(batch, 18, 2\)"),
        (lambda: small()(PAST[..., :1]), r"`past` .*\(batch, 12, 2\)"),
        (
            lambda: small()(keras.Input((None, COLUMNS))),
            r"shape \(None, None, 2\)",
        ),
        (lambda: small(embedding_dim=0), "embedding_dim=0"),
        (lambda: small(window="median"), "window='median'"),
        (lambda: small(head="rmse"), "'mae' or 'mse'"),
        (lambda: small(keras.layers.Dense(3)), "recurrent cell"),
        (lambda: small().adapt(np.zeros((5, 3))), r"shape.*\(2,\)"),
        (lambda: small().adapt(np.array([[1, np.nan]] * 5)), r"\[5 0\]"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
