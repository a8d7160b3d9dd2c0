import itertools
import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.training import TrainingFolder
from kerasrnn.training import TrainingSpeed
from kerasrnn.training import fingerprint
from kerasrnn.training import load_average
from kerasrnn.training import write_rows

X, Y = np.linspace(-1, 1, 8).reshape(8, 1), np.ones((8, 1))
BATCHES = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


@pytest.fixture
def model():
    return new_model()


def new_model(rate=0.1):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.layers[0].set_weights([np.ones((1, 1)), np.zeros(1)])
    # With a state of its own, which has to be gone on with.
    optimizer = keras.optimizers.SGD(rate, momentum=0.9)
    model.compile(optimizer, "mse", run_eagerly=True)
    return model


def train(folder, model, *inner, epochs=4):
    model.fit(
        **folder.resume(model, BATCHES),
        epochs=epochs,
        validation_data=(X, Y),
        callbacks=folder.callbacks(inner),
        verbose=0,
    )
    return model


def weights_at(model, path):
    model.load_weights(path)
    return model.get_weights()


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_it_keeps_the_best_weights_and_the_whole_log(tmp_path):
    folder = TrainingFolder(tmp_path, {"where": tmp_path}, "val_loss")
    assert folder.history() == {} and folder.epochs_done() == 0
    model = train(folder, new_model(), TrainingSpeed(8))
    history = folder.history()
    assert folder.epochs_done() == len(history["loss"]) == 4
    assert history["tokens"] == [8, 16, 24, 32]
    assert "epoch" not in history
    model.load_weights(folder.best)
    loss = model.evaluate(X, Y, verbose=0)
    assert loss == pytest.approx(min(history["val_loss"]), rel=1e-5)
    # Nothing else stays.
    assert {path.name for path in folder.path.iterdir()} == {
        "best.weights.h5",
        "history.csv",
    }


def test_the_best_may_be_the_first_or_the_greatest(tmp_path):
    worse = TrainingFolder(tmp_path, {"rate": -1}, "val_loss")
    first = []
    keep = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: first.append(model.get_weights())
    )
    model = new_model(-0.05)
    train(worse, model, keep)
    assert_same(weights_at(model, worse.best), first[0])
    greatest = TrainingFolder(tmp_path, {"rate": -2}, "val_loss", "max")
    model = new_model(-0.05)
    last = train(greatest, model).get_weights()
    assert_same(weights_at(model, greatest.best), last)


@pytest.mark.parametrize("mode", ["min", "max"])
def test_an_epoch_of_nan_is_never_the_best(tmp_path, mode):
    folder = TrainingFolder(tmp_path, {}, "score", mode)
    seen, scores = [], [math.nan, 1.0, 1.0, math.nan]

    def score(epoch, logs):
        logs["score"] = scores[epoch]
        seen.append(model.get_weights())

    model = new_model()
    train(folder, model, keras.callbacks.LambdaCallback(on_epoch_end=score))
    np.testing.assert_equal(folder.history()["score"], scores)
    assert_same(weights_at(model, folder.best), seen[1])


def test_other_settings_have_another_folder(tmp_path):
    train(TrainingFolder(tmp_path, {"units": 1}, "loss"), new_model())
    assert TrainingFolder(tmp_path, {"units": 1}, "loss").epochs_done() == 4
    assert TrainingFolder(tmp_path, {"units": 2}, "loss").epochs_done() == 0


def test_a_fingerprint_is_of_what_it_is_given(tmp_path):
    assert fingerprint({"a": 1, "b": tmp_path}) == fingerprint(
        {"b": str(tmp_path), "a": 1}
    )
    with pytest.raises(TypeError, match="ndarray"):
        fingerprint({"data": np.arange(5000)})
    found = {fingerprint(x) for x in (1, [1], ["1"], {"1": 1}, "é", "e")}
    assert len(found) == 6
    assert all(len(text) == 8 for text in found)


class Crash(Exception):
    pass


class Disaster:
    """Ends a training at its n-th chance, in the middle of a file."""

    def __init__(self, n, monkeypatch):
        self.left = n
        self.save, self.write = keras.Model.save_weights, write_rows
        monkeypatch.setattr(
            keras.Model, "save_weights", lambda *args: self.torn(*args)
        )
        monkeypatch.setattr(
            "kerasrnn.training.training_folder.write_rows", self.written
        )

    def strikes(self):
        self.left -= 1
        return self.left == 0

    def torn(self, model, path):
        if self.strikes():
            path.write_bytes(b"\x89HDF")
            raise Crash
        self.save(model, path)
        if self.strikes():
            raise Crash

    def written(self, path, rows):
        self.write(path, rows)
        if self.strikes():
            raise Crash

    def callback(self):
        def scores(epoch, logs):
            logs["val_bleu"] = 1.0 * epoch
            if self.strikes():
                raise Crash

        return keras.callbacks.LambdaCallback(on_epoch_end=scores)


def test_it_goes_on_wherever_it_was_interrupted(tmp_path):
    whole = TrainingFolder(tmp_path, {}, "val_loss", keep=2)
    model = new_model()
    expected = train(whole, model, Disaster.callback(Never())).get_weights()
    best = weights_at(model, whole.best)
    averaged = load(model, whole.last())
    for n in itertools.count(1):
        folder = TrainingFolder(tmp_path, {"n": n}, "val_loss", keep=2)
        with pytest.MonkeyPatch.context() as context:
            disaster = Disaster(n, context)
            try:
                train(folder, new_model(), disaster.callback())
            except Crash:
                pass
        if disaster.left > 0:
            break
        again = train(folder, new_model(), Disaster.callback(Never()))
        assert_same(again.get_weights(), expected)
        assert folder.history().keys() == whole.history().keys()
        for name, values in folder.history().items():
            np.testing.assert_allclose(values, whole.history()[name])
        assert_same(weights_at(again, folder.best), best)
        assert [x.name for x in folder.last()] == [
            "epoch-0002.weights.h5",
            "epoch-0003.weights.h5",
        ]
        assert_same(load(again, folder.last()), averaged)
    # A callback, a log and up to three files an epoch, two chances a file.
    assert 4 * 6 < n <= 4 * 8 + 1


def test_order_and_dropout_go_on_where_they_were(tmp_path):
    def learn(name, stop=None):
        """The losses and the weights at the end."""
        keras.utils.set_random_seed(3)
        layers = [keras.Input((1,)), keras.layers.Dropout(0.5)]
        model = keras.Sequential([*layers, keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        batches = tf.data.Dataset.from_tensor_slices((X, Y))
        batches = batches.shuffle(8, seed=1).batch(2)
        folder = TrainingFolder(tmp_path, {"name": name}, "loss")

        def crash(epoch, logs):
            if epoch == stop:
                raise Crash

        crash = keras.callbacks.LambdaCallback(on_epoch_begin=crash)
        model.fit(
            **folder.resume(model, batches),
            epochs=4,
            callbacks=folder.callbacks([crash]),
            verbose=0,
        )
        return folder.history()["loss"], model.get_weights()

    losses, weights = learn("whole")
    for stop in (1, 2, 3):
        with pytest.raises(Crash):
            learn("interrupted", stop)
    found = learn("interrupted")
    np.testing.assert_allclose(found[0], losses, rtol=1e-6)
    assert_same(found[1], weights)


class Never:
    """In place of a disaster."""

    def strikes(self):
        return False


def load(model, paths):
    load_average(model, paths)
    return model.get_weights()


def test_a_training_that_ended_can_be_done_again(tmp_path):
    folder = TrainingFolder(tmp_path, {}, "val_loss", keep=3)
    train(folder, new_model(), epochs=5)
    train(folder, new_model(), epochs=2)
    assert folder.epochs_done() == 2
    assert [x.name[:10] for x in folder.last()] == ["epoch-0000", "epoch-0001"]


def test_what_is_not_logged_cannot_be_watched(model, tmp_path):
    folder = TrainingFolder(tmp_path, {}, "val_bleu")
    with pytest.raises(ValueError, match="monitor.*loss.*'val_bleu'"):
        train(folder, model)


def test_the_weights_of_the_last_epochs_are_kept(model, tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss", keep=2)
    seen = []
    watch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append(model.get_weights())
    )
    train(folder, model, watch, epochs=3)
    assert [path.name for path in folder.last()] == [
        "epoch-0001.weights.h5",
        "epoch-0002.weights.h5",
    ]
    for path, expected in zip(folder.last(), seen[1:], strict=True):
        assert_same(weights_at(model, path), expected)
    load_average(model, folder.last())
    for found, *two in zip(model.get_weights(), *seen[1:], strict=True):
        np.testing.assert_allclose(found, np.mean(two, axis=0), rtol=1e-6)
    assert np.abs(seen[1][0] - seen[2][0]).max() > 1e-3


def test_no_weights_are_kept_unless_asked(model, tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss")
    train(folder, model)
    assert folder.last() == []
    with pytest.raises(ValueError, match="at least one file"):
        load_average(model, folder.last())
