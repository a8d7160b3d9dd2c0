import contextlib
import pathlib
import types

import keras
import pytest

from kerasrnn.distribute import is_first_worker
from kerasrnn.distribute import worker_folder
from kerasrnn.distribute import workers
from kerasrnn.distribute.workers import all_workers

STRATEGY = types.SimpleNamespace(
    scope=contextlib.nullcontext,
    cluster_resolver=types.SimpleNamespace(task_id=0),
)
on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="TensorFlow starts workers"
)


def test_the_only_process_writes(tmp_path):
    assert is_first_worker()
    with worker_folder(tmp_path) as folder:
        assert folder == tmp_path


def test_other_workers_write_to_a_folder_that_is_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "is_first_worker", lambda: False)
    with worker_folder(tmp_path) as folder:
        assert folder.is_dir() and folder != tmp_path
    assert not folder.exists() and isinstance(folder, pathlib.Path)


@on_tensorflow
@pytest.mark.parametrize(
    "message, who",
    [
        ("/job:worker/replica:0/task:0 lost /job:worker/task:1", "Worker 1"),
        ("Socket closed", "Another worker"),
    ],
)
def test_an_error_names_the_worker_that_stopped(message, who):
    import tensorflow as tf

    lost = tf.errors.UnavailableError(None, None, message)
    with pytest.raises(RuntimeError, match=f"{who} has stopped.* same command"):
        with all_workers(STRATEGY):
            raise lost


@pytest.mark.parametrize(
    "strategy", [None, pytest.param(STRATEGY, marks=on_tensorflow)]
)
def test_other_errors_stay_as_they_are(strategy):
    with pytest.raises(ZeroDivisionError), all_workers(strategy):
        raise ZeroDivisionError
