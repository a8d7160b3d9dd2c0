import keras
import numpy as np
import pytest

from kerasrnn.training import WeightNoise
from tests import helpers

X = np.ones((8, 3), "float32")


class Weights(keras.callbacks.Callback):
    """Keeps what the weights are inside and after every batch."""

    def __init__(self):
        super().__init__()
        self.inside, self.after = [], []

    def on_train_batch_begin(self, batch, logs=None):
        self.inside.append(self.model.get_weights())

    def on_train_batch_end(self, batch, logs=None):
        self.after.append(self.model.get_weights())


def trained(rate=0.0, epochs=1, **noise):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(200)])
    model.layers[0].set_weights([np.ones((3, 200)), np.zeros(200)])
    model.compile(keras.optimizers.SGD(rate), "mse")
    seen = Weights()
    callbacks = [WeightNoise(**noise), seen]
    y = np.zeros((8, 200), "float32")
    model.fit(X, y, 2, epochs, verbose=0, callbacks=callbacks, shuffle=False)
    return model, seen


def test_noise_is_added_for_a_batch_and_removed():
    model, seen = trained(stddev=0.3)
    noise = [inside[0] - 1.0 for inside in seen.inside]
    assert len(noise) == 4
    for one in noise:
        assert one.std() == pytest.approx(0.3, rel=0.15)
        assert abs(one.mean()) < 0.05
    assert np.any(noise[0] != noise[1])
    for after in seen.after:
        helpers.assert_close(after[0], np.ones((3, 200)))
    helpers.assert_close(model.get_weights()[1], np.zeros(200))


def test_the_gradient_is_that_at_the_noisy_weights():
    model, seen = trained(rate=1.0, stddev=0.3, epochs=1)
    kernel, bias = seen.inside[0]
    output = X[:2] @ kernel + bias
    gradient = X[:2].T @ (2 * output / output.size)
    helpers.assert_close(seen.after[0][0], np.ones((3, 200)) - gradient)


def test_noise_depends_on_the_seed_and_the_step_alone():
    first, again, other = (
        trained(stddev=0.1, seed=seed)[1].inside for seed in (1, 1, 2)
    )
    helpers.assert_close(first, again)
    assert np.any(first[0][0] != other[0][0])


def test_noise_without_a_width():
    with pytest.raises(ValueError, match="Received: stddev=0"):
        WeightNoise(0)


@pytest.mark.skipif(helpers.ON_JAX, reason="there, `fit` builds it first")
def test_a_model_without_weights():
    model = keras.Sequential([keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="must be built"):
        model.fit(X, X[:, :2], verbose=0, callbacks=[WeightNoise(0.1)])


@pytest.mark.parametrize("scaled", [False, True])
def test_no_moving_average_of_noisy_weights(scaled):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    optimizer = keras.optimizers.SGD(use_ema=True)
    if scaled:
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    model.compile(optimizer, "mse")
    with pytest.raises(ValueError, match="Received: use_ema=True"):
        model.fit(X, X[:, :2], verbose=0, callbacks=[WeightNoise(0.1)])


def test_several_batches_at_once():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse", steps_per_execution=2)
    with pytest.raises(ValueError, match="Received: steps_per_execution=2"):
        model.fit(X, X[:, :2], verbose=0, callbacks=[WeightNoise(0.1)])
