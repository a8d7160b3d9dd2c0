import pathlib

import keras
import numpy as np
import pytest

from kerasrnn.training import file_fingerprint
from kerasrnn.training import load_average
from kerasrnn.training import start_from

X, Y = np.linspace(-1, 1, 8).reshape(8, 1), np.ones((8, 1))


def new_model(optimizer, units=1):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(units)])
    model.compile(optimizer, "mse", run_eagerly=True)
    return model


def trained(optimizer):
    model = new_model(optimizer)
    model.fit(X, Y, epochs=3, verbose=0)
    return model


@pytest.mark.parametrize(
    "around", [lambda x: x, keras.optimizers.LossScaleOptimizer]
)
def test_start_from_copies_weights_and_optimizer(around, tmp_path):
    source = trained(around(keras.optimizers.Adam(0.1)))
    source.save(tmp_path / "model.keras")
    model = new_model(around(keras.optimizers.Adam(0.01)))
    assert start_from(model, keras.saving.load_model(tmp_path / "model.keras"))
    np.testing.assert_array_equal(model.predict(X), source.predict(X))
    assert float(model.optimizer.learning_rate) == pytest.approx(0.01)
    # As if the rate had changed in the middle of a training.
    source.optimizer.learning_rate = 0.01
    histories = [
        x.fit(X, Y, epochs=2, verbose=0, shuffle=False).history["loss"]
        for x in (model, source)
    ]
    assert histories[0] == histories[1]


@pytest.mark.parametrize(
    "optimizer",
    [
        keras.optimizers.SGD(0.1, momentum=0.9),
        keras.optimizers.Adam(0.1, amsgrad=True),
        keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(0.1, 9)),
    ],
)
def test_an_optimizer_that_does_not_fit_is_not_copied(optimizer):
    source = trained(keras.optimizers.Adam(0.1))
    model = new_model(optimizer)
    assert not start_from(model, source)
    assert int(model.optimizer.iterations) == 0
    np.testing.assert_array_equal(model.predict(X), source.predict(X))


def test_models_that_are_not_compiled(tmp_path):
    source = trained("sgd")
    layers = [keras.Input((1,)), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    assert not start_from(model, source)
    path = str(tmp_path / "a.weights.h5")
    source.save_weights(path)
    load_average(model, [path])
    np.testing.assert_array_equal(model.predict(X), source.predict(X))
    with pytest.raises(ValueError, match="`save_weights` of this.*a.weights"):
        load_average(new_model("sgd", units=2), [path])
    pathlib.Path(path).write_bytes(b"no weights")
    with pytest.raises(ValueError, match="`save_weights` of this.*a.weights"):
        load_average(source, [path])
    with pytest.raises(ValueError, match="weight list of length 0"):
        load_average(source, [])


def test_a_fingerprint_of_a_file_depends_on_its_content(tmp_path):
    found = set()
    for name, text in (("a", "one"), ("b", "one"), ("a", "two")):
        (tmp_path / name).write_text(text)
        found.add(file_fingerprint(tmp_path / name))
    assert len(found) == 2
    assert all(len(text) == 8 for text in found)
