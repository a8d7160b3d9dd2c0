"""A training on disk: interrupted, it resumes; ended, it can go on."""

import math
import pathlib

import keras

from kerasrnn.training.batches import check_batches
from kerasrnn.training.batches import endless
from kerasrnn.training.csv_log import columns
from kerasrnn.training.csv_log import read_rows
from kerasrnn.training.csv_log import write_rows
from kerasrnn.training.files import reading
from kerasrnn.training.fingerprints import fingerprint
from kerasrnn.training.output_folder import locked
from kerasrnn.training.run_callbacks import BEST
from kerasrnn.training.run_callbacks import LOG
from kerasrnn.training.run_callbacks import AfterCallbacks
from kerasrnn.training.run_callbacks import BeforeCallbacks
from kerasrnn.training.run_callbacks import FitFacts
from kerasrnn.training.run_callbacks import kept_epochs
from kerasrnn.training.run_state import Progress
from kerasrnn.training.run_state import build_metrics
from kerasrnn.training.run_state import check_weights
from kerasrnn.training.run_state import constant_rate
from kerasrnn.training.run_state import deletion_remedy
from kerasrnn.training.run_state import load_state
from kerasrnn.training.run_state import load_weights
from kerasrnn.training.run_state import read_progress
from kerasrnn.training.run_state import remove_earlier_states
from kerasrnn.training.run_state import states
from kerasrnn.training.settings_file import make_training_folder


class TrainingFolder:
    """A training on disk: interrupted, it resumes; ended, it can go on.

    A folder of its own for each combination of settings holds the last state
    (weights, optimizer, random generators, and within an epoch the batch and
    the running metrics), the weights of the best epoch, and the log of all
    epochs. Every file is there whole or not at all. An epoch counts once it
    is validated and logged.

    A resumed training learns what it would have learnt uninterrupted, to
    the last digit where the backend computes the same twice: batches come in
    the order of their epoch, and dropout goes on. A learning rate that
    depends on the number of epochs is that of the new number.

    Settings are what makes a training another one, and the caller chooses
    them. The number of epochs is none of them. Where the learning rate is
    one, another rate begins a training of its own, and `fit` says so; where
    it is left out, the training goes on with the rate of the new optimizer.
    To fine-tune is to begin anew from other weights: the settings then hold
    the fingerprint of what it begins from (`file_fingerprint`, `start_from`).

    Args:
        output: Folder to make it in. One process at a time trains there.
        settings: Dictionary of what the training depends on, the data
            included: with other data, the same ids may be other words.
        monitor: Name of the logged value that says which epoch is best. One
            where it is NaN is worse than any other.
        mode: `"min"` or `"max"`, which value of it is.
        keep: Integer, of how many of the last epochs the weights are kept;
            see `last`.

    Attributes:
        best: Path of the weights of the best epoch.
        path: Path of the folder, made by `fit`.

    Example:

    >>> import tensorflow as tf
    >>> x = np.ones((8, 1))
    >>> batches = tf.data.Dataset.from_tensor_slices((x, x)).batch(4)
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> folder = TrainingFolder("out", {"units": 1, "seed": 1}, "val_loss")
    >>> history = folder.fit(
    ...     model, batches, epochs=2, validation_data=batches, verbose=0
    ... )
    >>> len(history["val_loss"])
    2
    >>> folder.load_best(model)
    """

    def __init__(self, output, settings, monitor, mode="min", keep=0):
        self.path = pathlib.Path(output) / f"training-{fingerprint(settings)}"
        self.best = self.path / BEST
        self._settings = settings
        self._monitor, self._mode, self._keep = monitor, mode, keep

    def fit(
        self,
        model,
        batches,
        epochs,
        validation_data=None,
        callbacks=(),
        minutes=10.0,
        verbose="auto",
    ):
        """Trains up to a number of epochs, from where an earlier call ended.

        Where as many epochs are done, nothing is learnt and the model stays
        as it is. The same holds of a training that a callback ended, such as
        `keras.callbacks.EarlyStopping`, until more epochs are asked for than
        were then; the callback counts anew.

        Args:
            model: A built and compiled `keras.Model`. It ends with the last
                weights; see `load_best`.
            batches: `tf.data.Dataset` of what an epoch learns, of known
                length. It may be shuffled anew every epoch; one that was
                iterated over before goes on in its own order. Or a
                `keras.utils.PyDataset`, with the same batches in every epoch:
                its `on_epoch_begin` and `on_epoch_end` are not called.
            epochs: Positive integer, how many epochs there are to be, those
                of earlier calls included.
            validation_data: As for `keras.Model.fit`.
            callbacks: List of callbacks. What they log is logged, and what
                they do to the weights at the end of an epoch is in the
                weights of that epoch, not in the state to go on from. What a
                method `get_state` returns, a dictionary for JSON, is in the
                states within an epoch, and given to its `set_state`.
            minutes: Float, how often to save the state within an epoch.
            verbose: As for `keras.Model.fit`.

        Returns:
            The log of all epochs: a dictionary of name to list.

        Raises:
            FloatingPointError: when the loss is NaN or infinite.
            OSError: when a file cannot be written, as on a full disk.
            RuntimeError: when another process trains in the output folder.
            ValueError: when a file of an earlier call is damaged, or
                `monitor` is not logged, or `batches` are of another kind.
        """
        check_batches(batches)
        with locked(self.path.parent):
            start = self._start()
            if epochs <= max(start.epoch, start.stopped):
                print(
                    f"{start.epoch} epochs are trained, in '{self.path}'. "
                    "Training goes on where more are asked for."
                )
            else:
                self._train(
                    *(model, batches, callbacks, start, 60 * minutes),
                    epochs=epochs,
                    validation_data=validation_data,
                    verbose=verbose,
                )
            return self.history()

    def load_best(self, model):
        """Loads the weights of the best epoch.

        Args:
            model: A `keras.Model` like the one that was trained.

        Raises:
            ValueError: when the file is damaged, or of another model.
        """
        with reading(self.best, deletion_remedy(self.path)):
            load_weights(model, self.best)

    def last(self):
        """Returns the paths of the weights that are kept, the last last.

        Raises:
            ValueError: when one of them is missing.
        """
        done, paths = self.epochs_done(), kept_epochs(self.path)
        epochs = range(max(0, done - self._keep), done)
        missing = [epoch for epoch in epochs if epoch not in paths]
        if missing:
            numbers = ", ".join(str(epoch + 1) for epoch in missing)
            raise ValueError(
                f"Weights are missing. {deletion_remedy(self.path)} "
                f"Received: none of the epochs {numbers}"
            )
        return [paths[epoch] for epoch in epochs]

    def epochs_done(self):
        """Returns how many epochs are in the log."""
        return len(self._rows())

    def history(self):
        """Returns the log: a dictionary of lists, one number an epoch."""
        history = columns(self._rows())
        history.pop("epoch", None)
        return history

    def _train(self, model, batches, callbacks, start, seconds, **options):
        metrics, rate = [], constant_rate(model.optimizer)
        if start.batch or keras.backend.backend() == "jax":
            # What is restored must exist. On JAX, `fit` would see to that by
            # drawing a batch, and the order of the others would change.
            build_metrics(model, batches)
        if start.epoch or start.batch:
            print(
                f"Training goes on after epoch {start.epoch} and "
                f"{start.batch} batches of the next, where it was left."
            )
            metrics = load_state(model, self._state())
        steps = len(batches)
        run = FitFacts(
            *(self.path, start, steps, rate),
            *(self._is_best, self._keep, seconds),
        )
        model.fit(
            # One iterator for all epochs: Keras makes one or two for each.
            endless(batches, start.epoch * steps + start.batch),
            initial_epoch=start.epoch,
            steps_per_epoch=steps,
            shuffle=False,
            callbacks=[
                BeforeCallbacks(run, metrics),
                *callbacks,
                AfterCallbacks(run, callbacks),
            ],
            **options,
        )

    def _is_best(self, row, earlier):
        if self._monitor not in row:
            raise ValueError(
                "`monitor` must be a value that the training logs, of "
                f"{', '.join(list(row)[1:])}. "
                f"Received: monitor={self._monitor!r}"
            )
        sign = -1 if self._mode == "max" else 1
        new = sign * row[self._monitor]
        others = [sign * other[self._monitor] for other in earlier]
        return all(new < value or math.isnan(value) for value in others)

    def _state(self):
        found = states(self.path)
        return found[max(found)] if found else None

    def _rows(self):
        state = self._state()
        remedy = (
            deletion_remedy(self.path)
            if state is None
            else self._new_log(state)
        )
        with reading(self.path / LOG, remedy):
            return read_rows(self.path / LOG)

    def _new_log(self, state):
        return (
            f"Delete it: training goes on from '{state.name}', out of which "
            "the log is written anew."
        )

    def _start(self):
        """Makes the folder, or finds out how far the training in it is."""
        if not self.path.exists():
            make_training_folder(self.path, self._settings)
        # A process that was killed may not have come to it.
        remove_earlier_states(self.path)
        for partial in self.path.glob("partial-*"):
            partial.unlink()
        state, log = self._state(), self.path / LOG
        if state is None:
            # Interrupted, a training may have logged its first epoch.
            if len(self._rows()) > 1:
                raise ValueError(
                    "There is a log, and no state to go on from. "
                    f"{deletion_remedy(self.path)} Received: '{log}'."
                )
            return Progress()
        progress = read_progress(state)
        if progress.rows:
            self._check_log(progress, state)
            check_weights(self.best)
        return progress

    def _check_log(self, progress, state):
        """Compares the log with the state, which an epoch may be missing."""
        log = self.path / LOG
        if not log.exists():
            write_rows(log, progress.rows)
        rows, expected = self._rows(), progress.rows
        found = [_without_nan(row) for row in rows[: len(expected)]]
        if found != [_without_nan(row) for row in expected]:
            raise ValueError(
                f"The log is not the one of the {len(expected)} epochs that "
                f"were trained. {self._new_log(state)} "
                f"Received: '{log}' of {len(rows)} epochs."
            )


def _without_nan(row):
    return {name: x for name, x in row.items() if not math.isnan(x)}
