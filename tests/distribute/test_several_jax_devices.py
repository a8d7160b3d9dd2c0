"""Trainings on two devices and by two processes of JAX."""

import keras
import pytest

from tests.distribute import processes

pytest.importorskip("jax", reason="the other backend")
if keras.backend.backend() != "tensorflow":
    pytest.skip("started from the tests on TensorFlow", allow_module_level=True)


def start(*arguments, devices=1):
    return processes.start(
        *("-m", "tests.distribute.jax_training", *arguments),
        KERAS_BACKEND="jax",
        XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}",
    )


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The log of one device."""
    return processes.answer(start(1, tmp_path_factory.mktemp("one")))


def assert_same(found, expected):
    assert len(expected["loss"]) == 3
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=1e-5), name


@pytest.mark.thorough
def test_two_devices_learn_what_one_does(expected, tmp_path):
    assert_same(processes.answer(start(2, tmp_path, devices=2)), expected)


@pytest.mark.thorough
def test_two_processes_learn_what_one_does(expected, tmp_path):
    (port,) = processes.free_ports(1)
    both = [start(2, tmp_path, f"localhost:{port}", i) for i in range(2)]
    for process in both:
        assert_same(processes.answer(process), expected)
