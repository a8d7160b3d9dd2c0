"""The run of a recipe: the training, and the files that it writes."""

import contextlib
import pathlib
from collections.abc import Mapping
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any
from typing import Self

import keras

from kerasrnn.arguments import integer
from kerasrnn.data import CorpusError
from kerasrnn.data import warn_of_unseen
from kerasrnn.distribute import is_first_worker
from kerasrnn.distribute import make_strategy
from kerasrnn.distribute import worker_folder
from kerasrnn.distribute.workers import text_of_first_worker
from kerasrnn.files import atomic_write
from kerasrnn.models import in_float32
from kerasrnn.pipelines.loss_weights import ClassWeight
from kerasrnn.pipelines.run_report import part_scores
from kerasrnn.pipelines.run_report import print_end
from kerasrnn.pipelines.run_report import print_start
from kerasrnn.pipelines.run_report import vocabulary_sizes
from kerasrnn.pipelines.run_report import write_results
from kerasrnn.pipelines.vocabularies import vocabulary_facts
from kerasrnn.training import Settings
from kerasrnn.training import Stopwatch
from kerasrnn.training import TrainingFolder
from kerasrnn.training import TrainingSpeed
from kerasrnn.training import by_size
from kerasrnn.training import faster_dtype
from kerasrnn.training import fingerprint
from kerasrnn.training import identity
from kerasrnn.training import load_average
from kerasrnn.training import locked
from kerasrnn.training.command_line import with_flags
from kerasrnn.typing import Batches
from kerasrnn.typing import History

_RESUMES = (
    "The same command resumes from the last checkpoint: there is one after "
    "each epoch, and on one device every ten minutes."
)


class NotFirst(Exception):
    """Ends the run of a worker that writes no results."""


class Run(contextlib.AbstractContextManager):
    """The run of a recipe: trains a pipeline and writes what comes of it.

    It is the same for every task; what differs is the pipeline's `Task`.

    It is a context manager. Inside `with`, the output folder is locked for
    other processes, the random seeds of Python, NumPy and the backend are
    set, and models are built in the precision of the settings.

    With `settings.distribute`, models are built for several devices, until
    `fit` ends. In workers other than the first, which have nothing to write,
    `fit` also ends the `with` block.

    Args:
        settings: `kerasrnn.training.Settings`.
        backends: Tuple of the names of the backends that the task trains on.

    Attributes:
        output: Path of the output folder.
        settings: The settings, as written to the card.
        dtype: String, the dtype policy of the training.
        histories: List of the logs of all trainings: one, or those of the
            members of an ensemble.
        scores: Dictionary of the scores of each part, which `finish` fills.

    Raises:
        OSError: when the folder cannot be written.
        RuntimeError: when another process has locked the folder, or the
            recipe does not support the backend, or TensorBoard is missing.

    Example:

    >>> with Run(settings) as run:
    ...     translator = build_translator()
    ...     translator.compile("adam")
    ...     history = run.fit(translator, pairs, dev)
    ...     translator = run.finish(translator, dev)
    """

    def __init__(
        self, settings: Settings, backends: Sequence[str] = ("tensorflow",)
    ) -> None:
        # Without matplotlib, a run stops here and not at its end.
        import kerasrnn.plots  # noqa: F401

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
        # A recipe has fields that `Settings` lacks.
        self.settings: Any = settings
        self.clock = Stopwatch()
        self.output: pathlib.Path
        self.dtype: str
        self.histories: list[History] = []
        self.scores: dict[str, Any] = {}
        self._data: dict[str, Any] = {}
        self._chosen: int | None = None

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
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: Any = None,
    ) -> bool:
        self._stack.close()
        del self._stack
        if isinstance(error, CorpusError):
            error.args = (with_flags(str(error), self.settings),)
        if isinstance(error, KeyboardInterrupt):
            error.args = (_RESUMES,)
        return kind is NotFirst

    def by_size(
        self, count: int, sizes: Mapping[float, Mapping[str, Any]]
    ) -> Any:
        """Fills in settings that are `None` by the size of the corpus.

        See `kerasrnn.training.by_size`.

        Returns:
            The new settings of the run.
        """
        self.settings = by_size(self.settings, count, sizes)
        return self.settings

    def fit(
        self,
        pipeline: Any,
        rows: Any,
        dev: Any,
        batches: Batches | None = None,
        average: int = 0,
        patience: int = 0,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        member: int = 0,
        class_weight: ClassWeight = None,
        **facts: Any,
    ) -> History:
        """Trains a compiled pipeline, or resumes an earlier run.

        A run with other settings, data, vocabularies or facts is another one,
        and does not resume. The members of an ensemble are trained by one call
        each. If the optimizer keeps an exponential moving average of the
        weights (`use_ema`), the average is validated and saved.

        Args:
            pipeline: A compiled pipeline of `kerasrnn.pipelines`. It ends with
                the weights of its best epoch, or with averaged weights.
            rows: What to train on, as the `row_batches` of its task takes it.
            dev: What to validate on.
            batches: `tf.data.Dataset` of the rows; `None` for those of
                `row_batches`.
            average: Integer, over how many of the last epochs to average the
                weights; 0 for the weights of the best epoch.
            patience: Integer, after how many epochs without a better one to
                stop; 0 for never.
            callbacks: List of further callbacks.
            member: Integer, the number of a member of an ensemble. It is added
                to the seed of the order of the rows.
            class_weight: Weights of labels or tags, as of the `fit` of the
                pipeline.
            **facts: Values that the training depends on besides the settings
                and the rows.

        Returns:
            The log of all epochs: a dictionary of name to list.

        Raises:
            RuntimeError: when it is called outside of the `with` block.
            ValueError: as `kerasrnn.training.TrainingFolder` and its `fit` do.
        """
        if not hasattr(self, "_stack"):
            raise RuntimeError(
                "A run trains and finishes inside its `with` block, which "
                "locks the output folder. Expected: `with Run(settings) as "
                "run:`. Received: a run that is not entered, or has ended"
            )
        integer("average", average, 0)
        settings, task = self.settings, pipeline.task()
        sizes = task.sizes(rows)
        self.dtype = pipeline.model.dtype_policy.name
        if settings.start_from:
            for tokenizer, texts in zip(
                task.tokenizers, task.texts_of(rows), strict=True
            ):
                warn_of_unseen(texts, tokenizer, "the training set")
        weights = {"class_weight": class_weight}
        weights = {k: x for k, x in weights.items() if x is not None}
        facts |= weights
        if batches is None:
            batches = task.row_batches(
                *(rows, settings.batch_size, settings.seed + member), **weights
            )
        facts["data"] = fingerprint([rows, dev])
        self._data = {
            "fingerprint": facts["data"],
            "license": settings.data_license,
            "train": sizes,
            "dev": task.sizes(dev),
        }
        if member:
            print(f"\nMember {member + 1} of the ensemble:")
            facts["member"] = member
        if self._first:
            print_start(task, self._data, settings.epochs, batches)
        folder = TrainingFolder(
            self.output,
            self._identity(task.tokenizers, facts),
            task.monitor,
            task.mode,
            average,
            patience,
        )
        history = folder.fit(
            pipeline.model,
            batches,
            settings.epochs,
            validation_data=task.row_batches(dev, settings.batch_size),
            callbacks=self._watching(task, sizes, dev, callbacks),
            verbose="auto" if self._first else 0,
        )
        self._scope.close()
        if not self._first:
            raise NotFirst
        if average:
            load_average(pipeline.model, folder.last())
        else:
            folder.load_best(pipeline.model)
        self._chosen = None if average else folder.best_epoch()
        self.histories.append(history)
        return history

    def _identity(self, tokenizers, facts):
        """What makes this training another than those with other values."""
        found = identity(self.settings) | facts
        if tokenizers:
            # With another vocabulary, the same ids stand for other words.
            found["vocabularies"] = [
                fingerprint(vocabulary_facts(x)) for x in tokenizers
            ]
        if found.get("dtype") == "auto":
            # On another device, a training does not resume in other precision.
            found["dtype"] = self.dtype
        return found

    def _watching(self, task, sizes, dev, callbacks):
        """The callbacks of a training, in the order in which they act."""
        found = []
        if count := sizes.get(task.speed_unit):
            found.append(TrainingSpeed(count, task.speed_unit))
        if getattr(task.pipeline.model.optimizer, "use_ema", False):
            found.append(keras.callbacks.SwapEMAWeights(swap_on_epoch=True))
        found += [*task.epoch_scores(dev), *callbacks]
        if self.settings.tensorboard and self._first:
            # Behind the others, whose values it logs, too.
            folder = self.output / "tensorboard"
            found.append(keras.callbacks.TensorBoard(folder, write_graph=False))
        return found

    def finish(
        self,
        pipeline: Any,
        dev: Any,
        test: Any = None,
        scoring: Mapping[str, Any] | None = None,
        showing: Mapping[str, Any] | None = None,
        pictures: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> Any:
        """Saves a trained pipeline in float32, scores, shows and exports it.

        If the run started from a saved pipeline, that is scored, too: what it
        has learnt is printed beside what it knew, and the card has its scores
        under `"before"`. A warning names the parts in which it became much
        worse.

        Args:
            pipeline: A trained pipeline, also an ensemble.
            dev: What to score it on, also for samples and pictures.
            test: More to score it on at the end; `None` for nothing. Or a
                dictionary of rows by the names of parts, other than `"dev"`.
            scoring: Dictionary of arguments of the task's `row_scores`.
            showing: Dictionary of arguments of its `report`.
            pictures: Dictionary of name to `matplotlib.figure.Figure`, of
                more pictures to save.
            **facts: More values for the card.

        Returns:
            The saved pipeline, in float32.

        Raises:
            RuntimeError: without `fit` before, or outside of the `with` block.
            ValueError: when a part of `test` has the name `"dev"`.
        """
        if not self.histories:
            raise RuntimeError(
                "`finish` comes after `fit`. Received: no call of `fit`"
            )
        parts = test if isinstance(test, Mapping) else {"test": test}
        if "dev" in parts:
            raise ValueError(
                "No part of `test` may be named 'dev', as `dev` is. "
                f"Received: {', '.join(map(repr, parts))}"
            )
        parts = {"dev": dev, **parts}
        pipeline = in_float32(pipeline)
        task = pipeline.task()
        # First of all: what follows may fail on unusual data.
        path = self.output / f"{task.file_name}.keras"
        with atomic_write(path) as partial:
            pipeline.save(partial)
        print("Scoring and exporting ...", flush=True)
        scores = self.scores = part_scores(task, parts, scoring)
        if self.settings.start_from:
            old = in_float32(type(pipeline).open(self.settings.start_from))
            facts["before"] = part_scores(old.task(), parts, scoring)
        shown, drawn = task.report(dev, self.output, **(showing or {}))
        if getattr(self.settings, "xla", False):
            pipeline.xla = pipeline.usual_shapes
        if len(self.histories) > 1:
            facts["members"] = self.histories
        written = write_results(
            self.output,
            pipeline,
            self.histories[-1],
            {**drawn, **(pictures or {})},
            self._chosen,
            settings=self.settings.in_force(),
            dtype=self.dtype,
            parameters=pipeline.model.count_params(),
            vocabulary_sizes=vocabulary_sizes(task.tokenizers),
            data=self._data,
            scores=scores,
            results={
                part: task.headline(found) for part, found in scores.items()
            },
            **shown,
            **facts,
            **self.clock.read(),
        )
        # Below what a recipe may print of its own.
        ends = task, scores, self.output, [path.name, *written]
        self._stack.callback(print_end, *ends, facts.get("before"))
        return pipeline
