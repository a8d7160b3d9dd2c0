import os
import sys

import forecast
import keras
import numpy as np
import pytest

if keras.backend.backend() != "jax":
    pytest.skip("the benchmark needs JAX", allow_module_level=True)

import forecasting

FLAGS = "--seeds 2 --units 4 --lookback 48 --horizon 24 --limit 70 --epochs 2"


@pytest.fixture
def values(tmp_path, monkeypatch):
    hours = np.arange(forecast.ETTH1[-1] + 100)
    daily = np.sin(2 * np.pi * hours[:, None] / 24 + np.arange(7))
    table = 10 * np.arange(7) + daily
    rows = ["date,a,b,c,d,e,f,g"]
    rows += [f"then,{','.join(f'{x:.3f}' for x in row)}" for row in table]
    (tmp_path / "ETTh1.csv").write_text("\n".join(rows))
    monkeypatch.setitem(os.environ, "KERASRNN_DATA", str(tmp_path))
    return table


def settings_of(monkeypatch, *flags):
    monkeypatch.setattr(sys, "argv", ["x", *FLAGS.split(), *flags])
    return forecasting.read_arguments()


def test_windows_are_those_of_the_protocol():
    settings = forecast.PRESETS["etth1"]
    counts = [len(first) for first in forecasting.starts(settings).values()]
    assert counts == [8640 - 720 - 96 + 1, 2880 - 96 + 1, 2880 - 96 + 1]


@pytest.mark.slow
def test_seeds_are_trained_side_by_side(values, monkeypatch):
    args, settings = settings_of(monkeypatch)
    found = forecasting.train(args, settings)
    losses = np.array(found["history"]["loss"])
    assert losses.shape == (2, 2)
    assert (losses[1] < losses[0]).all()
    assert losses[0, 0] != losses[0, 1]
    # Without `--test`, nothing is known of the test set.
    assert list(found["scores"]) == ["dev"]
    best = np.min(found["history"]["mae"], axis=0)
    np.testing.assert_allclose(found["scores"]["dev"]["mae"], best, rtol=1e-5)


@pytest.mark.slow
def test_scores_are_those_of_the_model(values, monkeypatch):
    _, settings = settings_of(monkeypatch)
    program = forecasting.Program(settings, values.astype("float32"), 70, 1)
    first = forecasting.starts(settings)["dev"][:300]
    hours = first[:, None] + np.arange(-48, 24)
    windows = values[hours].astype("float32")
    [model] = program.models
    answers = model.predict(windows[:, :48], verbose=0)
    errors = (windows[:, 48:] - answers) / values[:8640].std(axis=0)
    found = program.scores(program.state, first)
    np.testing.assert_allclose(found["mse"], [np.mean(errors**2)], 1e-4)
    np.testing.assert_allclose(found["mae"], [np.mean(np.abs(errors))], 1e-4)


def test_a_head_that_is_no_point_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="must be a point"):
        settings_of(monkeypatch, "--head", "gaussian")


@pytest.mark.parametrize(
    "flags", [("--dtype", "mixed_bfloat16"), ("--calendar", "hour")]
)
def test_flags_without_effect_are_refused(flags, monkeypatch):
    with pytest.raises(ValueError, match="all columns of ETTh1"):
        settings_of(monkeypatch, *flags)
