"""What the processes of one training tell each other."""

import contextlib
import io
import pathlib
import re
import tarfile
import tempfile
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

from kerasrnn.typing import PathLike


def is_first_worker() -> bool:
    """Returns whether this process is the one that writes the results.

    In the scope of a strategy with several workers, that is the chief or,
    without a chief, worker 0. Without such a strategy, it is always true.

    Example:

    >>> is_first_worker()
    True
    """
    if keras.backend.backend() != "tensorflow":
        return True
    import tensorflow as tf

    return bool(tf.distribute.get_strategy().extended.should_checkpoint)


@contextlib.contextmanager
def worker_folder(path: PathLike) -> Iterator[pathlib.Path]:
    """Gives each worker of a strategy a folder of its own to write to.

    Call it in the scope of the strategy.

    Args:
        path: String or path of the folder that the first worker writes.

    Yields:
        A `pathlib.Path`: that folder, or in other workers an empty one that
        is removed at the end.

    Example:

    >>> with worker_folder("saved_models/mine") as output:
    ...     folder = TrainingFolder(output, {"seed": 1}, "val_loss")
    """
    if is_first_worker():
        yield pathlib.Path(path)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield pathlib.Path(folder)


def copy_from_first_worker(
    folder: pathlib.Path, paths: list[pathlib.Path], strategy: Any
) -> None:
    """Copies files of the first worker to the folders of the others.

    All workers must call it. They need no common disk.

    Args:
        folder: A `pathlib.Path`, a folder of the same name in all workers,
            whose content is replaced in all but the first.
        paths: List of `pathlib.Path`, files in that folder of the first
            worker; those that are missing are left out.
        strategy: A `tf.distribute.Strategy`. There is nothing to do if it has
            one worker.

    Raises:
        ValueError: when the folder of this worker has another name.
    """
    if strategy.cluster_resolver is None:
        return
    archive = io.BytesIO()
    first = strategy.extended.should_checkpoint
    if first:
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.add(folder, folder.name, recursive=False)
            for path in filter(pathlib.Path.exists, paths):
                tar.add(path, f"{folder.name}/{path.name}")
    archive = io.BytesIO(_sent_by_first(archive.getvalue(), strategy))
    if first:
        return
    with tarfile.open(fileobj=archive) as tar:
        if tar.getnames()[0] != folder.name:
            raise ValueError(
                "All workers must train the same model on the same data. "
                "Expected: the same command in each of them. Received: "
                f"'{tar.getnames()[0]}' in the first worker and "
                f"'{folder.name}' here."
            )
        for path in folder.iterdir():
            path.unlink()
        tar.extractall(folder.parent, filter="data")


def text_of_first_worker(text: str, strategy: Any) -> str:
    """Returns the string that the first worker calls it with.

    All workers must call it.

    Args:
        text: String.
        strategy: A `tf.distribute.Strategy`.
    """
    if strategy.cluster_resolver is None:
        return text
    return _sent_by_first(text.encode(), strategy).rstrip(b"\0").decode()


def _sent_by_first(data, strategy):
    """Returns the bytes that the first worker called it with."""
    import tensorflow as tf

    @tf.function(autograph=False)
    def summed(values):
        def in_replica():
            context = tf.distribute.get_replica_context()
            # A worker may have several replicas.
            sends = tf.equal(context.replica_id_in_sync_group, 0)
            return context.all_reduce("sum", tf.where(sends, values, 0))

        return strategy.experimental_local_results(strategy.run(in_replica))[0]

    data += bytes(-len(data) % 4)
    words = np.frombuffer(data, "int32")
    if not strategy.extended.should_checkpoint:
        words = np.zeros(0, "int32")
    size = int(summed(tf.constant([words.size]))[0])
    words = np.pad(words, (0, size - words.size))
    return summed(tf.constant(words)).numpy().tobytes()


@contextlib.contextmanager
def all_workers(strategy: Any) -> Iterator[None]:
    """Enters a strategy, and says so if another worker stops meanwhile.

    Args:
        strategy: A `tf.distribute.Strategy`; `None` changes nothing.

    Raises:
        RuntimeError: instead of the error of TensorFlow.
    """
    if strategy is None:
        yield
        return
    import tensorflow as tf

    lost = (
        tf.errors.AbortedError,
        tf.errors.CancelledError,
        tf.errors.DeadlineExceededError,
        tf.errors.UnavailableError,
    )
    try:
        with strategy.scope():
            yield
    except lost as error:
        resolver = strategy.cluster_resolver
        own = str(resolver.task_id) if resolver else ""
        named = re.findall(r"/task:(\d+)", error.message or "")
        other = next((number for number in named if number != own), None)
        who = "Another worker" if other is None else f"Worker {other}"
        raise RuntimeError(
            f"{who} has stopped, so that the training cannot go on. Look for "
            "its own error. Then start all workers again with the same "
            "command; the training resumes after its last finished epoch. "
            f"Received: {type(error).__name__}."
        ) from error
