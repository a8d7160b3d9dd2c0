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


@pytest.mark.skipif(ON_JAX, reason="TensorFlow starts them")
def test_workers_need_to_know_each_other(monkeypatch):
    with pytest.raises(ValueError, match="Received: no TF_CONFIG"):
        make_strategy("workers")
    monkeypatch.setenv("TF_CONFIG", "{}")
    with pytest.raises(ValueError, match="`devices` is for one machine"):
        make_strategy("workers", devices=2)


@pytest.mark.skipif(not ON_JAX, reason="TensorFlow has workers")
def test_jax_starts_its_processes_otherwise():
    with pytest.raises(RuntimeError, match="keras.distribution.initialize"):
        make_strategy("workers")


def test_an_unknown_name_and_no_device_are_errors():
    assert typing.get_args(Distribution) == ("mirrored", "workers")
    for given, message in (
        (("worker",), "'mirrored' or 'workers'. Received: name='w"),
        (("mirrored", 0), "Received: devices=0"),
    ):
        with pytest.raises(ValueError, match=message):
            make_strategy(*given)
