import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.models import DynamicEvaluation
from kerasrnn.models import LanguageModel
from kerasrnn.models import RMSDynamicEvaluation
from kerasrnn.models import mean_squared_gradients
from kerasrnn.models.dynamic_evaluation import _MeanSquares
from kerasrnn.training import TokenCrossentropy
from tests import helpers

WORDS = 7
LOSS = TokenCrossentropy(-1)


def language_model(tie_embeddings=True, **kwargs):
    cell = keras.layers.GRUCell(4, **kwargs)
    model = LanguageModel(
        WORDS, cell, tie_embeddings=tie_embeddings, batch_size=1
    )
    model.build()
    helpers.randomize(model.embedding)
    return model


def windows(count, seed=0):
    """Batches of one row, each fresh: its gradient is that of any call."""
    ids, labels = np.random.default_rng(seed).integers(0, WORDS, (2, count, 3))
    return {"ids": ids, "fresh": np.ones(count, bool)}, labels


def weights_of(model):
    return helpers.as_numpy([w.value for w in model.trainable_weights])


def gradient_function(model):
    """Returns a function of a window, which reads off a step of a copy."""
    copy = language_model(model.tie_embeddings)  # without dropout
    copy.compile(keras.optimizers.SGD(1.0), LOSS)

    def gradient(inputs, labels):
        copy.set_weights(model.get_weights())
        before = weights_of(copy)
        copy.train_on_batch(inputs, labels)
        return [a - b for a, b in zip(before, weights_of(copy), strict=True)]

    return gradient


class Windows(keras.utils.PyDataset):
    """Batches of a list."""

    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, i):
        return self.batches[i]


def row(inputs, labels, i):
    return {k: x[i : i + 1] for k, x in inputs.items()}, labels[i : i + 1]


class Reference:
    """The update of section 5 of the paper, in float64."""

    def __init__(self, weights, mean_squares, rate, decay, epsilon):
        self.trained = [w.astype("float64") for w in weights]
        self.rms = [np.sqrt(m.astype("float64")) for m in mean_squares]
        mean = np.mean([np.mean(rms) for rms in self.rms])
        self.decays = [np.minimum(decay * rms / mean, 1) for rms in self.rms]
        self.rate, self.epsilon = rate, epsilon

    def updated(self, weights, gradients):
        return [
            w - self.rate * g / (rms + self.epsilon) + decay * (w0 - w)
            for w, g, rms, decay, w0 in zip(
                weights,
                gradients,
                self.rms,
                self.decays,
                self.trained,
                strict=True,
            )
        ]


@pytest.mark.slow
def test_the_mean_of_squared_gradients():
    """TensorFlow has the gradient of an embedding by rows, some twice."""
    model = language_model(tie_embeddings=False, dropout=0.5)
    inputs, labels = windows(3)
    batches = [row(inputs, labels, i) for i in range(3)]
    gradient = gradient_function(model)
    gradients = [gradient(*batch) for batch in batches]
    expected = [
        np.mean(np.square(g), axis=0) for g in zip(*gradients, strict=True)
    ]
    before = weights_of(model)
    found = mean_squared_gradients(model, Windows(batches), LOSS)
    helpers.assert_close(found, expected, 1e-3, 1e-8)
    helpers.assert_close(weights_of(model), before, 0, 0)


def test_squares_are_averaged_and_weights_kept():
    weight, optimizer = keras.Variable([0.0, 5.0]), _MeanSquares(0.0)
    gradients = helpers.random(3, 2)
    for gradient in gradients:
        optimizer.apply([ops.convert_to_tensor(gradient)], [weight])
    (found,) = optimizer.mean_squares
    helpers.assert_close(found.value, np.mean(gradients**2, axis=0))
    helpers.assert_close(weight.value, np.array([0.0, 5.0]), 0, 0)


@pytest.mark.slow_on_jax
def test_equals_the_update_of_the_paper():
    model = language_model(tie_embeddings=False, dropout=0.5)
    start = weights_of(model)
    rng = np.random.default_rng(3)
    squares = [rng.exponential(size=w.shape).astype("float32") for w in start]
    squares[0].flat[0] = 1e4  # its decay is cut off at 1
    squares[0].flat[1] = 0.0  # and this weight has none
    settings = {"learning_rate": 0.1, "decay": 0.3, "epsilon": 0.01}
    dynamic = DynamicEvaluation(model)
    optimizer = RMSDynamicEvaluation(mean_squares=squares, **settings)
    copy = RMSDynamicEvaluation.from_config(optimizer.get_config())
    assert (copy.decay, copy.epsilon) == (0.3, 0.01)
    dynamic.compile(optimizer, LOSS)
    reference = Reference(start, squares, *settings.values())
    assert reference.decays[0].flat[0] == 1
    inputs, labels = windows(3)
    gradient = gradient_function(model)
    for i in range(3):
        window = row(inputs, labels, i)
        expected = reference.updated(weights_of(model), gradient(*window))
        dynamic.train_on_batch(*window)
        helpers.assert_close(weights_of(model), expected, 1e-4, 2e-5)


@pytest.mark.slow
def test_saved_with_its_state(tmp_path):
    model = language_model()
    squares = [np.full(w.shape, 4.0) for w in model.trainable_weights]
    dynamic = DynamicEvaluation(model)
    dynamic.compile(RMSDynamicEvaluation(0.1, 0.2, mean_squares=squares), LOSS)
    dynamic.fit(*windows(3), batch_size=1, verbose=0)
    loaded = helpers.reloaded(dynamic, tmp_path)
    assert loaded.optimizer.get_config() == dynamic.optimizer.get_config()
    assert float(ops.max(loaded.optimizer.rms[0])) == 2.0
    assert float(loaded.optimizer.mean_rms) == 2.0
    for one in (dynamic, loaded):
        one.fit(*windows(3, seed=1), batch_size=1, shuffle=False, verbose=0)
    helpers.assert_close(weights_of(loaded), weights_of(dynamic))


@pytest.mark.parametrize("options", [{"decay": -0.1}, {"epsilon": 0}])
def test_bad_arguments(options):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=f"Received: {name}={value}"):
        RMSDynamicEvaluation(**options)
