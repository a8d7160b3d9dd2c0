"""Training on a `keras.utils.PyDataset`; no test here needs TensorFlow."""

import keras
import numpy as np
import pytest

from kerasrnn.training import TrainingFolder
from tests.helpers import one_now

X = np.linspace(-1, 1, 8, dtype="float32").reshape(8, 1)


class Lines(keras.utils.PyDataset):
    """Batches of 3, 3 and 2 points, on a line of its own each."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        x = X[3 * index : 3 * index + 3]
        return x, (index + 1) * x


class Crash(Exception):
    pass


class CrashAfter(keras.callbacks.Callback):
    def __init__(self, batches):
        super().__init__()
        self.left = batches

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            raise Crash


def learn(output, *callbacks):
    """Trains with dropout and a metric; returns the weights and the log."""
    keras.utils.set_random_seed(3)
    layers = [keras.Input((1,)), keras.layers.Dropout(0.5)]
    model = keras.Sequential([*layers, keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    folder = TrainingFolder(output, {}, "loss")
    folder.fit(
        *(model, Lines(), 2),
        callbacks=callbacks,
        minutes=0,
        verbose=0,
    )
    return model.get_weights(), folder.history()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return learn(tmp_path_factory.mktemp("whole"))


# In the middle of the first epoch, at its end, and in the second.
@pytest.mark.parametrize("batches", one_now([3, 2, 5]))
def test_it_resumes_with_the_next_batch(tmp_path, uninterrupted, batches):
    with pytest.raises(Crash):
        learn(tmp_path, CrashAfter(batches))
    weights, history = learn(tmp_path)
    expected, log = uninterrupted
    for found, value in zip(weights, expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-6)
    assert history.keys() == log.keys()
    for name in log:
        np.testing.assert_allclose(history[name], log[name], rtol=1e-6)


def test_arrays_are_refused(tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss")
    with pytest.raises(ValueError, match="PyDataset.*of type ndarray"):
        folder.fit(keras.Sequential(), X, epochs=1)
    assert not list(tmp_path.iterdir())
