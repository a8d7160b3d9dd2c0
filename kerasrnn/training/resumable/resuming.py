"""How far the training in a folder is, by its checkpoint and its log."""

import math

from kerasrnn.distribute.workers import copy_from_first_worker
from kerasrnn.training.csv_log import read_rows
from kerasrnn.training.csv_log import write_rows
from kerasrnn.training.reading import reading
from kerasrnn.training.resumable.checkpoint import Progress
from kerasrnn.training.resumable.checkpoint import check_weights
from kerasrnn.training.resumable.checkpoint import deletion_remedy
from kerasrnn.training.resumable.checkpoint import read_progress
from kerasrnn.training.resumable.checkpoint import remove_earlier_states
from kerasrnn.training.resumable.checkpoint import states
from kerasrnn.training.resumable.fit_callbacks import BEST
from kerasrnn.training.resumable.fit_callbacks import LOG
from kerasrnn.training.resumable.settings_file import NAME as SETTINGS
from kerasrnn.training.resumable.settings_file import make_training_folder


def start_together(folder, settings, strategy):
    """Returns how far a training is, the same for all workers.

    Args:
        folder: Path of the training folder. It is created if there is none.
        settings: Dictionary of what the training depends on.
        strategy: A `tf.distribute.Strategy` of several replicas, or `None`.
            The others start from the checkpoint of the first worker.

    Returns:
        A `Progress`.

    Raises:
        ValueError: when a file is damaged or missing, or several devices are
            to resume a training within an epoch.
    """
    start = _start(folder, settings)
    if strategy is not None:
        paths = [folder / LOG, folder / BEST, *states(folder).values()]
        copy_from_first_worker(folder, paths, strategy)
        start = _start(folder, settings)
    if strategy is not None and start.batch:
        raise ValueError(
            "Several devices can resume a training only at the start of an "
            "epoch. Expected: that one device finishes the epoch. Received:"
            f" {start.batch} batches of epoch {start.epoch + 1} are done."
        )
    return start


def last_state(folder):
    """Returns the path of the last checkpoint, `None` if there is none."""
    found = states(folder)
    return found[max(found)] if found else None


def logged_rows(folder):
    """Returns the log of a training, a list of a dictionary for each epoch.

    Raises:
        ValueError: when the file is damaged.
    """
    state = last_state(folder)
    remedy = deletion_remedy(folder) if state is None else _new_log(state)
    with reading(folder / LOG, remedy):
        return read_rows(folder / LOG)


def _start(folder, settings):
    """Creates the folder, or finds out how far its training is."""
    if not (folder / SETTINGS).exists():
        make_training_folder(folder, settings)
    # A killed process may have left earlier and partial files behind.
    remove_earlier_states(folder)
    for partial in folder.glob("partial-*"):
        partial.unlink()
    state = last_state(folder)
    if state is None:
        # A training may be killed after it logged its first epoch.
        if len(logged_rows(folder)) > 1:
            raise ValueError(
                "There is a log but no checkpoint to resume from. "
                f"{deletion_remedy(folder)} Received: '{folder / LOG}'."
            )
        return Progress()
    progress = read_progress(state)
    if progress.rows:
        _check_log(folder, progress, state)
        check_weights(folder / BEST)
    return progress


def _check_log(folder, progress, state):
    """Compares the log with that of the checkpoint, which may be behind.

    The log may have one epoch more.
    """
    log = folder / LOG
    if not log.exists():
        write_rows(log, progress.rows)
    rows, expected = logged_rows(folder), progress.rows
    found = [_without_nan(row) for row in rows[: len(expected)]]
    if found != [_without_nan(row) for row in expected]:
        raise ValueError(
            f"The log is not that of the {len(expected)} epochs of the "
            f"checkpoint. {_new_log(state)} "
            f"Received: '{log}' of {len(rows)} epochs."
        )


def _new_log(state):
    """Returns what to do about a damaged log beside a checkpoint."""
    return (
        "Delete it: the training then resumes from "
        f"'{state.name}' and writes a new log."
    )


def _without_nan(row):
    return {name: x for name, x in row.items() if not math.isnan(x)}
