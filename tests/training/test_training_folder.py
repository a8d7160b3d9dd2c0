import contextlib
import itertools
import math
import pathlib
import resource
import shutil
import subprocess
import sys
import time
import types

import keras
import numpy as np
import pytest

from kerasrnn import files
from kerasrnn.training import TrainingFolder
from kerasrnn.training import TrainingSpeed
from kerasrnn.training import checkpoint
from kerasrnn.training import fingerprint
from kerasrnn.training import fit_callbacks
from kerasrnn.training import load_average
from kerasrnn.training import locked
from kerasrnn.training import training_folder
from tests.helpers import flipped

tf = pytest.importorskip("tensorflow", reason="its data sets are read")
X, Y = np.linspace(-1, 1, 8).reshape(8, 1), np.ones((8, 1))
BATCHES = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


@pytest.fixture
def model():
    return new_model()


def new_model(rate=0.1):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.layers[0].set_weights([np.ones((1, 1)), np.zeros(1)])
    # With a state of its own, which has to be resumed.
    optimizer = keras.optimizers.SGD(rate, momentum=0.9)
    model.compile(optimizer, "mse", run_eagerly=True)
    return model


def train(folder, model, *callbacks, epochs=4, minutes=10):
    folder.fit(
        model,
        BATCHES,
        epochs,
        validation_data=(X, Y),
        callbacks=callbacks,
        minutes=minutes,
        verbose=0,
    )
    return model


def file_names(folder):
    return {path.name for path in folder.path.iterdir()}


def weights_at(model, path):
    load_average(model, [path])
    return model.get_weights()


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_several_replicas_start_at_an_epoch(tmp_path, model, monkeypatch):
    folder = TrainingFolder(tmp_path, {}, "val_loss")
    with pytest.raises(Crash):
        train(folder, model, Kill(1), minutes=0)
    several = types.SimpleNamespace(
        scope=contextlib.nullcontext, cluster_resolver=None
    )
    monkeypatch.setattr(training_folder, "strategy_of", lambda _: several)
    with pytest.raises(ValueError, match="1 finished batches of epoch 1"):
        train(folder, model)


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
    assert folder.last() == []
    # Nothing else stays.
    assert file_names(folder) == {
        "best.weights.h5",
        "history.csv",
        "settings.json",
        "state.weights.h5",
    }
    assert "tmp" in (folder.path / "settings.json").read_text("utf-8")


NAN = math.nan


@pytest.mark.parametrize(
    "mode, scores, best",
    [
        ("min", [3.0, 1.0, 2.0], 1),
        ("min", [1.0, 2.0, 3.0], 0),
        ("max", [1.0, 3.0, 2.0], 1),
        ("max", [1.0, 2.0, 3.0], 2),
        # NaN is never the best, and one of two that are equal is the first.
        ("min", [NAN, 1.0, 1.0, NAN], 1),
        ("max", [NAN, 1.0, 1.0, NAN], 1),
    ],
)
def test_the_best_epoch_has_the_lowest_or_the_highest_value(
    tmp_path, model, mode, scores, best
):
    folder, seen = TrainingFolder(tmp_path, {}, "score", mode), []

    def score(epoch, logs):
        logs["score"] = scores[epoch]
        seen.append(model.get_weights())

    callback = keras.callbacks.LambdaCallback(on_epoch_end=score)
    train(folder, model, callback, epochs=len(scores))
    np.testing.assert_equal(folder.history()["score"], scores)
    assert folder.best_epoch() == best + 1
    assert_same(weights_at(model, folder.best), seen[best])


def test_a_fingerprint_depends_on_the_facts(tmp_path):
    assert fingerprint({"a": 1, "b": tmp_path}) == fingerprint(
        {"b": str(tmp_path), "a": 1}
    )
    arrays = [np.arange(5000), np.arange(5000) % 4999, np.arange(5000.0)]
    assert len({fingerprint({"data": x}) for x in arrays}) == 3
    for value in (object(), b"bytes"):
        with pytest.raises(TypeError, match=type(value).__name__):
            fingerprint({"data": value})
    found = {fingerprint(x) for x in (1, [1], ["1"], {"1": 1}, "é", "e")}
    assert len(found) == 6
    assert all(len(text) == 8 for text in found)


class Crash(Exception):
    pass


class Disaster:
    """Ends a training at its n-th chance, in the middle of a file."""

    def __init__(self, n, monkeypatch):
        self.left = n
        self.save, self.put = keras.Model.save_weights, files.put
        monkeypatch.setattr(
            keras.Model, "save_weights", lambda *args: self.torn(*args)
        )
        for module in (files, checkpoint):
            monkeypatch.setattr(module, "put", self.moved)

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

    def moved(self, partial, path):
        self.put(partial, path)
        if self.strikes():
            raise Crash

    def callback(self):
        def scores(epoch, logs):
            if self.strikes():
                raise Crash

        return keras.callbacks.LambdaCallback(on_epoch_end=scores)


class Never:
    """In place of a disaster."""

    callback = keras.callbacks.Callback


@pytest.mark.slow
def test_it_resumes_wherever_it_was_interrupted(tmp_path):
    def run(folder, disaster):
        model = new_model()
        callbacks = [disaster.callback()]
        one = BATCHES.take(1)
        folder.fit(model, one, 2, callbacks=callbacks, verbose=0)
        return [
            weights_at(model, path) for path in (folder.best, *folder.last())
        ]

    whole = TrainingFolder(tmp_path, {}, "loss", keep=1)
    expected = run(whole, Never)
    for n in itertools.count(1):
        folder = TrainingFolder(tmp_path, {"n": n}, "loss", keep=1)
        with pytest.MonkeyPatch.context() as context:
            disaster = Disaster(n, context)
            with contextlib.suppress(Crash):
                run(folder, disaster)
        if disaster.left > 0:
            break
        for found, weights in zip(run(folder, Never), expected, strict=True):
            assert_same(found, weights)
        assert folder.history() == whole.history()
        assert file_names(folder) == file_names(whole)
    # The settings; then in each epoch a callback, the log, and three files of
    # three chances.
    assert n == 1 + 2 * (2 + 3 * 3) + 1


class Kill(keras.callbacks.Callback):
    """Ends a training behind one of its batches."""

    def __init__(self, at):
        super().__init__()
        self.left = at

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left < 0:
            raise Crash


def learn(output, *callbacks, epochs=3, minutes=0):
    """Trains a model with dropout and a metric on shuffled batches."""
    keras.utils.set_random_seed(3)
    layers = [keras.Input((1,)), keras.layers.Dropout(0.5)]
    model = keras.Sequential([*layers, keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"], run_eagerly=True)
    batches = tf.data.Dataset.from_tensor_slices((X, Y))
    batches = batches.shuffle(8, seed=1).batch(3)  # of 3, 3 and 2
    folder = TrainingFolder(output, {}, "loss")
    folder.fit(
        *(model, batches, epochs, (X, Y), callbacks, minutes),
        verbose=0,
    )
    return folder.history(), model.get_weights()


@pytest.mark.parametrize("seconds, batch", [(25.0, 0), (35.0, 2)])
def test_within_an_epoch_it_waits_for_minutes(
    tmp_path, monkeypatch, seconds, batch
):
    passed = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: sum(passed))
    passing = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda *_, **__: passed.append(seconds)
    )
    with pytest.raises(Crash):
        learn(tmp_path, passing, Kill(5), minutes=1)
    (state,) = tmp_path.glob("*/state.weights.h5")
    progress = checkpoint.read_progress(state)
    assert (progress.epoch, progress.batch) == (1, batch)


def test_the_speed_includes_seconds_before_the_checkpoint(
    tmp_path, monkeypatch
):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    class Passing(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            now[0] += 2.0

    for kill in (2, 9):
        with contextlib.suppress(Crash):
            learn(tmp_path, TrainingSpeed(10), Passing(), Kill(kill), epochs=1)
    assert learn(tmp_path, epochs=1)[0]["wall_seconds"] == [6.0]


def test_more_epochs_continue_a_training(tmp_path, uninterrupted, capsys):
    """As if all of them had been asked for at once."""
    learn(tmp_path, epochs=1, minutes=10)
    found = learn(tmp_path, minutes=10)
    np.testing.assert_equal(found, uninterrupted)
    assert "resumes after epoch 1 and 0 batches" in capsys.readouterr().out
    for epochs, said in ((3, "3 epochs are done,"), (2, "more than requested")):
        assert learn(tmp_path, epochs=epochs)[0] == found[0]
        assert said in capsys.readouterr().out


def test_a_training_stopped_early_continues_with_more_epochs(tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss")

    def stop_at(epoch):
        def stop(now, logs):
            callback.model.stop_training = now == epoch

        callback = keras.callbacks.LambdaCallback(on_epoch_end=stop)
        return callback

    for _ in range(2):
        train(folder, new_model(), stop_at(1), epochs=5)
        assert folder.epochs_done() == 2
    train(folder, new_model(), epochs=6)
    assert folder.epochs_done() == 6


@pytest.mark.parametrize("cut", [None, 1, 3])
def test_it_stops_when_its_patience_ends(tmp_path, cut):
    """At a negative rate no epoch is better than the first."""
    folder = TrainingFolder(tmp_path, {}, "val_loss", patience=3)
    if cut:
        train(folder, new_model(-0.01), epochs=cut)
    for epochs in (9, 9):
        train(folder, new_model(-0.01), epochs=epochs)
        assert folder.epochs_done() == 1 + 3
    train(folder, new_model(-0.01), epochs=10)
    assert folder.epochs_done() == 1 + 3 + 1


def test_a_better_epoch_renews_the_patience(tmp_path):
    folder = TrainingFolder(tmp_path, {}, "score", patience=2)
    scores = iter([5.0, 6.0, 4.0, 7.0, 3.0, 3.0, 3.0, 1.0])

    def log(epoch, logs):
        logs["score"] = next(scores)

    train(
        folder,
        new_model(),
        keras.callbacks.LambdaCallback(on_epoch_end=log),
        epochs=8,
    )
    assert folder.history()["score"] == [5.0, 6.0, 4.0, 7.0, 3.0, 3.0, 3.0]


def test_a_rate_that_a_callback_changed_is_gone_on_with(tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss")
    halve = keras.callbacks.ReduceLROnPlateau("loss", 0.5, 0, min_delta=9e9)
    train(folder, new_model(), halve, epochs=2)
    model = train(folder, new_model(), epochs=3)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.05)
    model = train(folder, new_model(), epochs=4)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.05)
    model = train(folder, new_model(rate=0.2), epochs=5)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.2)


def test_other_settings_are_printed(tmp_path, capsys):
    for rate in (0.1, 0.2, 0.1):
        settings = {"units": 1, "data": ["a"] * 99, "rate": rate}
        train(TrainingFolder(tmp_path, settings, "loss"), new_model(), epochs=1)
    printed = capsys.readouterr().out
    assert printed.count("different settings: rate.") == 1
    assert "1 epochs are done" in printed


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_ends_the_run(tmp_path, loss):
    folder = TrainingFolder(tmp_path, {}, "val_loss")
    train(folder, new_model(), epochs=2)
    best = folder.best.read_bytes()
    bad = new_model()
    bad.compile(bad.optimizer, lambda y, p: keras.ops.sum(p) * 0 + loss)
    with pytest.raises(FloatingPointError, match="batch 1 of epoch 3.*best"):
        train(folder, bad)
    assert folder.best.read_bytes() == best
    assert folder.epochs_done() == 2
    assert folder.path / "state.weights.h5" in folder.path.iterdir()


def test_a_validation_loss_that_is_not_finite_ends_the_run(tmp_path):
    nan = [np.full((1, 1), math.nan), np.zeros(1)]
    folder = TrainingFolder(tmp_path, {}, "loss")
    spoil = keras.callbacks.LambdaCallback(
        on_test_begin=lambda logs: model.set_weights(nan)
    )
    model = new_model()
    with pytest.raises(FloatingPointError, match="`val_loss`.*after epoch 1"):
        train(folder, model, spoil)
    assert file_names(folder) == {"settings.json"}


HOLD = """
import filelock, sys
with filelock.FileLock(sys.argv[1] + "/.lock"):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path],
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE},
    ) as other:
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(RuntimeError, match=f"Another.*{tmp_path.name}'"):
            train(folder, new_model())
        other.kill()
        other.wait()
    with locked(tmp_path):
        train(folder, new_model(), epochs=1)


def cut(path):
    path.write_bytes(path.read_bytes()[:-30])


def spoil(path):
    path.write_bytes(b"what is this")


def lose_rows(path):
    path.write_text("".join(path.read_text().splitlines(True)[:-1]))


def empty(path):
    path.write_bytes(b"")


def flip(path):
    path.write_bytes(flipped(path.read_bytes()))


def change(path):
    path.write_text(path.read_text().replace("0.", "0.1", 1))


@pytest.mark.parametrize(
    "name, harm",
    [
        ("best.weights.h5", cut),
        ("best.weights.h5", spoil),
        ("best.weights.h5", flip),
        ("best.weights.h5", pathlib.Path.unlink),
        ("state.weights.h5", cut),
        ("state.weights.h5", flip),
        ("state.weights.h5", empty),
        ("state.weights.h5", pathlib.Path.unlink),
    ],
)
def test_damage_is_named_and_its_remedy_helps(tmp_path, name, harm):
    folder = TrainingFolder(tmp_path, {}, "loss")
    train(folder, new_model(), epochs=2)
    before = folder.best.read_bytes()
    harm(folder.path / name)
    for epochs in (2, 3):
        with pytest.raises(ValueError) as error:
            train(folder, new_model(), epochs=epochs)
        if name != "best.weights.h5":
            assert folder.best.read_bytes() == before
    expected = "history.csv" if "state" in name else name
    if harm in (cut, flip, empty):
        expected = name
    if harm is flip:
        assert "its checksum does not match" in str(error.value)
    assert str(folder.path / expected) in str(error.value)
    assert f"Delete the folder '{folder.path}'" in str(error.value)
    shutil.rmtree(folder.path)
    train(folder, new_model(), epochs=1)


@pytest.mark.parametrize(
    "harm", [empty, lose_rows, cut, change, spoil, pathlib.Path.unlink]
)
def test_a_damaged_log_is_written_again(tmp_path, harm):
    folder = TrainingFolder(tmp_path, {}, "loss")
    train(folder, new_model(), epochs=2)
    history = folder.history()
    harm(folder.path / "history.csv")
    train(folder, new_model(), epochs=2)
    assert folder.history() == history


def test_best_weights_are_loaded_into_a_new_model(tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss")
    model = train(folder, new_model())
    best = weights_at(model, folder.best)
    # As when nothing is left to train, with an optimizer that is not built.
    model = new_model()
    folder.load_best(model)
    assert_same(model.get_weights(), best)


@pytest.mark.usefixtures("capsys")  # pytest's own files are limited too
def test_a_full_disk_is_reported(tmp_path):
    """A limit on the size of files stands for it."""
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(4000)])
    model.compile("sgd", "mse", run_eagerly=True)
    data = np.ones((1, 1)), np.ones((1, 4000))
    batches = tf.data.Dataset.from_tensors(data)
    folder = TrainingFolder(tmp_path, {}, "loss")
    history = folder.fit(model, batches, 1, verbose=0)
    names = file_names(folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (20, 4_000, 20_000):
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
            with pytest.raises(
                OSError, match="run again.*weights|intact.*history"
            ):
                folder.fit(model, batches, 2, verbose=0)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert file_names(folder) == names and folder.history() == history
    assert len(folder.fit(model, batches, 2, verbose=0)["loss"]) == 2


def test_the_weights_of_the_last_epochs_are_kept(model, tmp_path):
    folder = TrainingFolder(tmp_path, {}, "loss", keep=2)
    seen = []
    watch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append(model.get_weights())
    )
    train(folder, model, watch, epochs=3)
    names = ["epoch-0001.weights.h5", "epoch-0002.weights.h5"]
    assert [path.name for path in folder.last()] == names
    assert not (folder.path / "epoch-0000.weights.h5").exists()
    for path, expected in zip(folder.last(), seen[1:], strict=True):
        assert_same(weights_at(model, path), expected)
    load_average(model, folder.last())
    for found, *two in zip(model.get_weights(), *seen[1:], strict=True):
        np.testing.assert_allclose(found, np.mean(two, axis=0), rtol=1e-6)
    assert np.abs(seen[1][0] - seen[2][0]).max() > 1e-3
    # A copy that somebody made is none of them.
    first, _ = folder.last()
    first.rename(first.with_name("epoch-0001 (1).weights.h5"))
    with pytest.raises(ValueError, match="missing.*Delete.*epochs 2"):
        folder.last()


def test_names_of_files_may_have_more_digits(tmp_path):
    for name in ("epoch-10000", "epoch-0003 (1)"):  # which is a copy
        (tmp_path / f"{name}.weights.h5").touch()
    assert list(fit_callbacks.kept_epochs(tmp_path)) == [10_000]


class Counter(keras.callbacks.Callback):
    """Counts batches, also over interruptions."""

    def __init__(self, stop_at=None):
        super().__init__()
        self.count, self.stop_at = 0, stop_at

    def on_train_batch_end(self, batch, logs=None):
        self.count += 1
        self.model.stop_training = self.count == self.stop_at

    def get_state(self):
        return {"count": self.count}

    def set_state(self, state):
        self.count = state["count"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return learn(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("kills", [[2], [3], [4, 1, 2]])
def test_it_goes_on_wherever_it_was_interrupted(tmp_path, uninterrupted, kills):
    """With the next batch of the same order, and with its callbacks."""
    for kill in kills:
        with pytest.raises(Crash):
            learn(tmp_path, Counter(), Kill(kill))
    counter = Counter()
    np.testing.assert_equal(learn(tmp_path, counter), uninterrupted)
    assert counter.count == 9


def test_a_stop_in_the_last_batch_of_a_resumed_epoch(tmp_path):
    with pytest.raises(Crash):
        learn(tmp_path, Counter(6), Kill(4))
    history, _ = learn(tmp_path, Counter(6))
    assert len(history["loss"]) == 2


def test_an_epoch_has_whole_executions(tmp_path, model):
    batches = BATCHES.repeat(2)  # of four batches
    with pytest.raises(Crash):
        folder = TrainingFolder(tmp_path, {"cut": 1}, "loss")
        folder.fit(model, batches, 2, None, [Kill(1)], minutes=0, verbose=0)
    model.compile("sgd", "mse", steps_per_execution=2)
    with pytest.raises(ValueError, match="batches, 4, and .*trained on, 1."):
        folder.fit(model, batches, 2, verbose=0)
    folder = TrainingFolder(tmp_path, {"cut": 0}, "loss")
    folder.fit(model, batches, 2, verbose=0)
    assert int(model.optimizer.iterations) == 8
    model.compile("sgd", "mse", steps_per_execution=3)
    with pytest.raises(ValueError, match="Received: steps_per_execution=3"):
        folder.fit(model, batches, 3, verbose=0)


@pytest.mark.parametrize("again", [True, False])
def test_rows_do_not_move_into_the_validation_data(tmp_path, model, again):
    """Which are then those of an uninterrupted training, too."""
    data = tf.data.Dataset.from_tensor_slices((X, Y))
    data = data.shuffle(8, seed=1, reshuffle_each_iteration=again)
    batches, validation = data.skip(4).batch(2), data.take(4).batch(2)
    folder = TrainingFolder(tmp_path, {}, "loss")
    if again:
        with pytest.raises(ValueError, match="is split before it is shuf"):
            folder.fit(model, batches, 1, validation, verbose=0)
        batches, validation = data.cache().skip(4).batch(2), (X, Y)
    folder.fit(model, batches, 1, validation, verbose=0)


@pytest.mark.parametrize(
    ("options", "call", "message"),
    [
        ({"keep": -1}, train, "Received: keep=-1"),
        ({"patience": 1.5}, train, "Received: patience=1.5"),
        ({"mode": "auto"}, train, "Received: mode='auto'"),
        (
            {},
            lambda folder, model: folder.fit(model, BATCHES, 0),
            "d: epochs=0",
        ),
        (
            {},
            lambda folder, model: folder.fit(model, BATCHES.repeat(), 1),
            "infinite",
        ),
        (
            {},
            lambda folder, model: folder.fit(model, BATCHES.take(0), 1),
            "of length 0",
        ),
        (
            {},
            lambda folder, model: folder.best_epoch(),
            "There is no best epoch",
        ),
        ({}, train, "monitor.*loss.*'val_bleu'"),
    ],
)
def test_arguments_are_checked(tmp_path, model, options, call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(TrainingFolder(tmp_path, {}, "val_bleu", **options), model)


def test_a_folder_of_a_killed_process_gets_its_settings(tmp_path, model):
    folder = TrainingFolder(tmp_path, {"units": 1}, "val_loss")
    folder.path.mkdir()
    train(folder, model)
    assert "settings.json" in file_names(folder)
