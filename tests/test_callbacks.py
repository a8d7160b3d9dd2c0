import time

import keras
import numpy as np
import pytest

from kerasrnn.callbacks import GradientNorms
from kerasrnn.callbacks import Stopwatch
from kerasrnn.callbacks import TextScores
from kerasrnn.callbacks import TrainingFolder
from kerasrnn.callbacks import TrainingSpeed
from kerasrnn.callbacks import load_average


def test_a_stopwatch_tells_sleeping_from_working():
    clock = Stopwatch()
    time.sleep(0.1)
    rested = clock.read()
    assert 0.1 <= rested["wall_seconds"]
    assert rested["cpu_seconds"] < 0.1
    while time.process_time() - clock.cpu < 0.1:
        pass
    worked = clock.read()
    assert worked["cpu_seconds"] >= 0.1
    assert worked["wall_seconds"] > rested["wall_seconds"]


class Later(keras.callbacks.Callback):
    """Notes the logs that reach the callbacks behind another."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append(dict(logs))


@pytest.fixture
def model():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def test_scores_of_every_epoch_join_its_logs(model):
    calls = []

    def generate(inputs):
        calls.append(inputs)
        return [text.upper() for text in inputs]

    def score(hypotheses, references):
        right = sum(h == r for h, r in zip(hypotheses, references, strict=True))
        return {"right": right + len(calls), "signature": "plain"}

    scores = TextScores(generate, ("a", "b"), ("A", "C"), score)
    later = Later()
    history = model.fit(
        np.ones((2, 1)),
        np.ones((2, 1)),
        epochs=3,
        verbose=0,
        callbacks=[scores, later],
    ).history
    assert calls == [["a", "b"]] * 3
    assert history["val_right"] == [2, 3, 4]
    assert [logs["val_right"] for logs in later.seen] == [2, 3, 4]
    # Text is no score: nothing can plot or compare it.
    assert not any("signature" in name for name in history)


def test_scores_can_be_watched(model):
    values = iter([1.0, 3.0, 2.0, 0.0, 0.0])
    scores = TextScores(list, ["a"], ["a"], lambda *_: {"bleu": next(values)})
    stop = keras.callbacks.EarlyStopping("val_bleu", mode="max", patience=1)
    data = np.ones((2, 1))
    history = model.fit(
        data, data, epochs=5, verbose=0, callbacks=[scores, stop]
    ).history
    assert history["val_bleu"] == [1.0, 3.0, 2.0]


class Slow(keras.callbacks.Callback):
    """Makes a batch of training take its time."""

    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.1)


def test_the_speed_of_every_epoch_joins_its_logs(model):
    data = np.ones((4, 1))
    later = Later()
    history = model.fit(
        data,
        data,
        batch_size=2,
        epochs=3,
        verbose=0,
        callbacks=[TrainingSpeed(1000), Slow(), later],
    ).history
    assert history["tokens"] == [1000, 2000, 3000]
    for i, seconds in enumerate(history["wall_seconds"]):
        assert seconds >= 0.2
        assert history["tokens_per_second"][i] == 1000 / seconds
        assert history["cpu_seconds"][i] >= 0
    for name in ("tokens", "tokens_per_second", "wall_seconds", "cpu_seconds"):
        assert [logs[name] for logs in later.seen] == history[name]


def test_the_speed_of_training_is_without_validation(model, monkeypatch):
    # By a clock that only these batches move, whatever else the machine does.
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    class Passing(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            now[0] += 0.25

        def on_test_batch_end(self, batch, logs=None):
            now[0] += 8.0

    data = np.ones((4, 1))
    history = model.fit(
        data,
        data,
        batch_size=2,
        validation_data=(data, data),
        epochs=2,
        verbose=0,
        callbacks=[TrainingSpeed(1000), Passing()],
    ).history
    assert history["wall_seconds"] == [0.5, 0.5]
    assert now == [2 * (2 * 0.25 + 2 * 8.0)]


def test_tokens_are_counted_on_in_a_later_fit(model):
    data = np.ones((2, 1))
    speed = TrainingSpeed(1000)
    model.fit(data, data, verbose=0, callbacks=[speed])
    history = model.fit(
        data, data, initial_epoch=1, epochs=3, verbose=0, callbacks=[speed]
    ).history
    assert history["tokens"] == [2000, 3000]


def test_a_training_folder_keeps_the_best_weights_and_the_whole_log(tmp_path):
    settings = {"units": 1, "where": tmp_path}
    x, y = np.ones((8, 1)), np.zeros((8, 1))

    def train(rate, epochs):
        folder = TrainingFolder(tmp_path, settings, "val_loss")
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.layers[0].set_weights([np.ones((1, 1)), np.zeros(1)])
        model.compile(keras.optimizers.SGD(rate), "mse")
        model.fit(
            *(x, y),
            epochs=epochs,
            validation_data=(x, y),
            callbacks=folder.callbacks([TrainingSpeed(8)]),
            verbose=0,
        )
        return folder, model

    assert TrainingFolder(tmp_path, settings, "val_loss").history() == {}
    folder, model = train(0.1, 2)
    history = folder.history()
    assert folder.epochs_done() == len(history["loss"]) == 2
    assert history["tokens"] == [8, 16]
    # A second training gets worse and worse: the first one's weights stay.
    train(-0.5, 2)
    again = TrainingFolder(tmp_path, settings, "val_loss")
    assert again.epochs_done() == 4
    model.load_weights(again.best)
    loss = model.evaluate(x, y, verbose=0)
    assert loss == pytest.approx(min(history["val_loss"]), rel=1e-5)

    other = TrainingFolder(tmp_path, {"units": 2}, "val_loss")
    assert other.history() == {}


def test_a_log_without_an_epoch_is_no_history(tmp_path):
    folder = TrainingFolder(tmp_path, {}, "val_loss")
    logger = folder.callbacks()[-1]
    logger.on_train_begin()
    logger.on_train_end()
    assert folder.history() == {}
    assert folder.epochs_done() == 0


def train_by(model, *callbacks, epochs=3, batches=2):
    data = np.ones((2 * batches, 1))
    model.fit(
        data,
        0 * data,
        batch_size=2,
        epochs=epochs,
        callbacks=list(callbacks),
        verbose=0,
        shuffle=False,
    )


def test_gradient_norms_are_noted_now_and_then(model, tmp_path):
    values = iter(range(10))
    path = tmp_path / "norms.csv"
    norms = GradientNorms(lambda: {"first": next(values)}, path, every=3)
    assert norms.history() == {}
    train_by(model, norms, epochs=4)
    assert norms.history() == {"step": [3, 6], "first": [0, 1]}
    # A later training goes on in the same file.
    train_by(model, GradientNorms(lambda: {"first": 7}, path, every=3))
    assert norms.history() == {
        "step": [3, 6, 9, 12],
        "first": [0, 1, 7, 7],
    }


def test_the_weights_of_the_last_epochs_are_kept(model, tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss", keep=2)
    seen = []
    watch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append(model.get_weights())
    )
    train_by(model, *folder.callbacks([watch]))
    assert [path.name for path in folder.last()] == [
        "epoch-0001.weights.h5",
        "epoch-0002.weights.h5",
    ]
    for path, expected in zip(folder.last(), seen[1:], strict=True):
        model.load_weights(path)
        for found, weight in zip(model.get_weights(), expected, strict=True):
            np.testing.assert_array_equal(found, weight)
    load_average(model, folder.last())
    for found, *two in zip(model.get_weights(), *seen[1:], strict=True):
        np.testing.assert_allclose(found, np.mean(two, axis=0), rtol=1e-6)
    assert np.abs(seen[1][0] - seen[2][0]).max() > 1e-3


def test_no_weights_are_kept_unless_asked(model, tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss")
    train_by(model, *folder.callbacks())
    assert folder.last() == []
    with pytest.raises(ValueError, match="at least one file"):
        load_average(model, folder.last())
