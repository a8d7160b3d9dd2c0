import functools
import time

import keras
import numpy as np
import pytest

from kerasrnn.training import GradientNorms
from kerasrnn.training import Stopwatch
from kerasrnn.training import TextScores
from kerasrnn.training import TrainingSpeed
from kerasrnn.training import WeightNoise
from kerasrnn.training import without_costs
from tests import helpers


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
        others = {"signature": "plain", "array": np.array(0.5), "list": [1]}
        return {"right": np.float32(right + len(calls)), **others}

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
    assert all(seconds >= 0 for seconds in history["score_seconds"])
    assert [logs["val_right"] for logs in later.seen] == [2, 3, 4]
    # Text is no score: nothing can plot or compare it.
    names = {"val_right", "val_array", "score_seconds", "loss"}
    assert history.keys() == names and history["val_array"] == [0.5] * 3


def test_every_epoch_has_its_own_seconds(model, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    class Slower(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.seconds = epoch + 1.0

        def on_train_batch_end(self, batch, logs=None):
            now[0] += self.seconds

        def on_test_batch_end(self, batch, logs=None):
            now[0] += 8.0

    data, speed = np.ones((4, 1)), TrainingSpeed(1000, "words")
    monkeypatch.setattr(time, "process_time", lambda: now[0] / 2)
    # Those before an interruption belong to the epoch that is resumed.
    speed.set_state({"wall_seconds": 4.0, "cpu_seconds": 0.0})
    for validation, start in ((data, data), 0), (None, 0), (None, 1):
        later = Later()
        history = model.fit(
            *(data, data),
            validation_data=validation,
            initial_epoch=start,
            epochs=3,
            verbose=0,
            callbacks=[speed, Slower(), later],
        ).history
        seconds = [5.0 if validation else 1.0, 2.0, 3.0][start:]
        assert history["wall_seconds"] == seconds
        first = [0.5, 1.0, 1.5][start:]
        assert history["cpu_seconds"] == first
        assert history["words_per_second"] == [1000 / x for x in seconds]
        # Of all epochs, also in a later `fit`.
        assert history["words"] == [1000, 2000, 3000][start:]
        for name in ("words", "words_per_second", "cpu_seconds"):
            assert [logs[name] for logs in later.seen] == history[name]


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


@pytest.mark.parametrize("unit", ["tokens", "steps"])
def test_without_costs_leaves_out_counts_and_seconds(model, unit):
    data = np.ones((2, 1))
    scores = TextScores(list, ["a"], ["a"], lambda *_: {"bleu": 1.0})
    history = model.fit(
        *(data, data),
        verbose=0,
        validation_data=(data, data),
        callbacks=[TrainingSpeed(1000, unit), scores],
    ).history
    assert set(without_costs(history)) == {"loss", "val_loss", "val_bleu"}
    assert len(history) == 3 + 4 + 1
    assert without_costs({"loss": 2.0, "tokens": 9}) == {"loss": 2.0}


def test_gradient_norms_of_batches_that_come_again(model, tmp_path):
    path = tmp_path / "norms.csv"
    train_by(model, GradientNorms(lambda: {"a": 1}, path, every=2), epochs=3)
    # As if the last two batches had been behind the last backup.
    model.optimizer.iterations.assign(4)
    norms = GradientNorms(lambda: {"a": 2}, path, every=2)
    train_by(model, norms, epochs=2)
    assert norms.history() == {"step": [2, 4, 6, 8], "a": [1, 1, 2, 2]}


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


def test_a_model_without_weights():
    noise = WeightNoise(0.1)
    noise.set_model(keras.Sequential([keras.layers.Dense(2)]))
    with pytest.raises(ValueError, match="must be built"):
        noise.on_train_begin()


SGD = functools.partial(keras.optimizers.SGD, use_ema=True)
SCALED = keras.optimizers.LossScaleOptimizer


@pytest.mark.parametrize(
    "optimizer, steps, stddev, received",
    [
        (SGD, 1, 0.1, "use_ema=True"),
        (lambda: SCALED(SGD()), 1, 0.1, "use_ema=True"),
        (keras.optimizers.SGD, 2, 0.1, "steps_per_execution=2"),
        (keras.optimizers.SGD, 1, 0, "stddev=0"),
    ],
    ids=["average", "scaled", "several batches at once", "no width"],
)
def test_what_noisy_weights_do_not_go_with(optimizer, steps, stddev, received):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(optimizer(), "mse", steps_per_execution=steps)
    with pytest.raises(ValueError, match=f"Received: {received}"):
        model.fit(X, X[:, :2], verbose=0, callbacks=[WeightNoise(stddev)])


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
