import typing

import keras
import pytest

from kerasrnn.distribute import Distribution
from kerasrnn.distribute import make_strategy
from kerasrnn.distribute.strategy import first

ON_JAX = keras.backend.backend() == "jax"


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)


def test_one_device_of_this_machine():
    strategy = make_strategy("mirrored", devices=1)
    with strategy.scope():
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    if ON_JAX:
        assert strategy.device_mesh.shape == (1,)
    else:
        assert model.distribute_strategy is strategy
        assert strategy.num_replicas_in_sync == 1


def test_more_devices_than_there_are():
    assert first(["a", "b"], 1) == ["a"]
    assert first(["a", "b"], 2) == first(["a", "b"], None) == ["a", "b"]
    with pytest.raises(ValueError, match="at most 2.* Received: devices=3"):
        first(["a", "b"], 3)


@pytest.mark.parametrize(
    ("config", "arguments", "message"),
    [
        ("", ["worker"], "'mirrored' or 'workers'. Received: name='worker'"),
        ("", ["mirrored", 0], "Received: devices=0"),
        (
            "",
            ["workers"],
            "keras.distribution.initialize"
            if ON_JAX
            else "Received: no TF_CONFIG",
        ),
        # On JAX, workers are refused before their devices are counted.
        *([] if ON_JAX else [("{}", ["workers", 2], "is for one machine")]),
    ],
)
def test_what_is_wrong_is_said(monkeypatch, config, arguments, message):
    assert typing.get_args(Distribution) == ("mirrored", "workers")
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises((ValueError, RuntimeError), match=message):
        make_strategy(*arguments)
