"""What a training happens in: folder, seeds, precision and devices."""

import contextlib
import pathlib
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any
from typing import Self

import keras

from kerasrnn.data import CorpusError
from kerasrnn.distribute import is_first_worker
from kerasrnn.distribute import make_strategy
from kerasrnn.distribute import worker_folder
from kerasrnn.distribute.workers import text_of_first_worker
from kerasrnn.training import Settings
from kerasrnn.training import Stopwatch
from kerasrnn.training import faster_dtype
from kerasrnn.training import locked
from kerasrnn.training.command_line import with_flags

_RESUMES = (
    "The same command resumes from the last checkpoint: there is one after "
    "each epoch, and on one device every ten minutes."
)


class RunScope(contextlib.AbstractContextManager):
    """The part of `Run` that comes before and after all else.

    See `Run`.
    """

    output: pathlib.Path
    dtype: str
    # A recipe has fields that `Settings` lacks.
    settings: Any

    def __init__(
        self, settings: Settings, backends: Sequence[str] = ("tensorflow",)
    ) -> None:
        if keras.backend.backend() not in backends:
            raise RuntimeError(
                "This recipe does not support the backend. Expected: "
                f"KERAS_BACKEND={' or '.join(backends)}. "
                f"Received: KERAS_BACKEND={keras.backend.backend()}"
            )
        if settings.tensorboard and not find_spec("tensorboard"):
            raise RuntimeError(
                "TensorFlow does not install TensorBoard. Expected: the "
                "package tensorboard. Received: tensorboard=True"
            )
        self.settings, self.clock = settings, Stopwatch()
        self._is_open = False

    def __enter__(self) -> Self:
        settings = self.settings
        with contextlib.ExitStack() as stack:
            self._scope = stack.enter_context(contextlib.ExitStack())
            strategy = None
            if settings.distribute:
                strategy = make_strategy(settings.distribute, settings.devices)
                self._scope.enter_context(strategy.scope())
            self._first = is_first_worker()
            output = stack.enter_context(worker_folder(settings.output))
            self.output = stack.enter_context(locked(output))
            policy = keras.config.dtype_policy()
            stack.callback(keras.config.set_dtype_policy, policy)
            keras.utils.set_random_seed(settings.seed)
            if not settings.start_from:  # whose precision is that of its file
                auto = settings.dtype == "auto"
                dtype = faster_dtype() if auto else settings.dtype
                if settings.distribute == "workers":
                    # Their devices may differ; their models must not.
                    dtype = text_of_first_worker(dtype, strategy)
                keras.config.set_dtype_policy(dtype)
            self.dtype = keras.config.dtype_policy().name
            # Last, so that whatever fails before it undoes the rest.
            self._stack = stack.pop_all()
        self._is_open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: Any = None,
    ) -> bool:
        self._is_open = False
        self._stack.close()
        if isinstance(error, CorpusError):
            error.args = (with_flags(str(error), self.settings),)
        if isinstance(error, KeyboardInterrupt):
            error.args = (_RESUMES,)
        return kind is NotFirst

    def _check_open(self):
        """Raises `RuntimeError` outside of the `with` block."""
        if not self._is_open:
            raise RuntimeError(
                "A run trains and finishes inside its `with` block, which "
                "locks the output folder. Expected: `with Run(settings) as "
                "run:`. Received: a run that is not entered, or has ended"
            )


class NotFirst(Exception):
    """Ends the run of a worker that writes no results."""
