"""The run of a recipe: training and output files."""

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
    "The same command resumes from the last checkpoint. Checkpoints are "
    "written after each epoch and, on one device, every ten minutes."
)


class NotFirst(Exception):
    """Ends the run of workers other than the first, which write nothing."""


class Run(contextlib.AbstractContextManager):
    """The run of a recipe: trains a pipeline and writes the results.

    The pipeline's `Task` defines everything that depends on the task.

    It is a context manager. Inside `with`, the output folder is locked for
    other processes, the random seeds of Python, NumPy and the backend are set,
    and models have the precision of the settings.

    With `settings.distribute`, models are built for several devices until `fit`
    ends. In workers other than the first, which write nothing, `fit` also ends
    the `with` block.

    Args:
        settings: `kerasrnn.training.Settings`.
        backends: Tuple of the names of supported backends.

    Attributes:
        output: Path of the output folder.
        settings: The settings, as written to the card.
        dtype: String, the dtype policy of the training.
        histories: List of the logs of all trainings; an ensemble has one for
            each member.
        scores: Dictionary of the scores of each part, filled by `finish`.

    Raises:
        OSError: when the folder cannot be written.
        RuntimeError: when another process has locked the folder, the recipe
            does not support the backend, or TensorBoard is missing.

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
        # If matplotlib is missing, fail now and not at the end of the run.
        import kerasrnn.plots  # noqa: F401

        if keras.backend.backend() not in backends:
            raise RuntimeError(
                "This recipe does not support the backend. Expected: "
                f"KERAS_BACKEND={' or '.join(backends)}. "
                f"Received: KERAS_BACKEND={keras.backend.backend()}"
            )
        if settings.tensorboard and not find_spec("tensorboard"):
            raise RuntimeError(
                "`tensorboard=True` needs the package tensorboard, which is "
                "not installed. Expected: pip install tensorboard. Received: "
                "tensorboard=True"
            )
        # Recipes have fields that `Settings` lacks.
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
            if not settings.start_from:  # which has its own precision
                auto = settings.dtype == "auto"
                dtype = faster_dtype() if auto else settings.dtype
                if settings.distribute == "workers":
                    # Workers may have different devices, but must have equal
                    # models.
                    dtype = text_of_first_worker(dtype, strategy)
                keras.config.set_dtype_policy(dtype)
            self.dtype = keras.config.dtype_policy().name
            # Last, so that earlier errors undo the rest.
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
        """Chooses settings that are `None` by the size of the corpus.

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

        With other settings, data, vocabularies or facts, a new training starts.
        Each member of an ensemble needs a separate call. If the optimizer keeps
        an exponential moving average of the weights (`use_ema`), the average is
        validated and saved.

        Args:
            pipeline: A compiled pipeline of `kerasrnn.pipelines`. Afterwards it
                has the weights of the best epoch, or averaged weights.
            rows: The training examples, as in `row_batches` of its task.
            dev: The validation examples.
            batches: `tf.data.Dataset` of the rows; `None` for that of
                `row_batches`.
            average: Integer, number of last epochs whose weights are averaged;
                0 for the weights of the best epoch.
            patience: Integer, number of epochs without improvement before
                training stops (early stopping); 0 for never.
            callbacks: List of further callbacks.
            member: Integer, number of a member of an ensemble. It is added to
                the seed of the data order.
            class_weight: Weights of labels or tags, as in `fit` of the
                pipeline.
            **facts: Other values that the training depends on, in addition to
                settings and rows.

        Returns:
            The log of all epochs: a dictionary of name to list.

        Raises:
            RuntimeError: when it is called outside of the `with` block.
            ValueError: as in `kerasrnn.training.TrainingFolder` and its `fit`.
        """
        if not hasattr(self, "_stack"):
            raise RuntimeError(
                "`fit` and `finish` must be called inside the `with` block of "
                "the run, which locks the output folder. Expected: "
                "`with Run(settings) as run:`. Received: a call outside of it"
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
        weights = {} if class_weight is None else {"class_weight": class_weight}
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
        """Returns the facts that identify this training."""
        found = identity(self.settings) | facts
        if tokenizers:
            # With another vocabulary, ids stand for other words.
            found["vocabularies"] = [
                fingerprint(vocabulary_facts(x)) for x in tokenizers
            ]
        if found.get("dtype") == "auto":
            # A training must not resume in another precision on another device.
            found["dtype"] = self.dtype
        return found

    def _watching(self, task, sizes, dev, callbacks):
        """Returns the callbacks of a training in the order of execution."""
        found = []
        if count := sizes.get(task.speed_unit):
            found.append(TrainingSpeed(count, task.speed_unit))
        if getattr(task.pipeline.model.optimizer, "use_ema", False):
            found.append(keras.callbacks.SwapEMAWeights(swap_on_epoch=True))
        found += [*task.epoch_scores(dev), *callbacks]
        if self.settings.tensorboard and self._first:
            # After the others, because it logs their values, too.
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

        If the run started from a saved pipeline, that is also scored. The
        scores before and after are printed, and the card has the former as
        `"before"`. A warning lists the parts whose scores became much worse.

        Args:
            pipeline: A trained pipeline or ensemble.
            dev: The validation examples, also for samples and pictures.
            test: Test examples to score at the end; or a dictionary from names
                of parts (not `"dev"`) to examples; or `None`.
            scoring: Dictionary of arguments of the task's `row_scores`.
            showing: Dictionary of arguments of its `report`.
            pictures: Dictionary of name to `matplotlib.figure.Figure` with more
                pictures to save.
            **facts: More values for the card.

        Returns:
            The saved pipeline, in float32.

        Raises:
            RuntimeError: when `fit` was not called, or outside of the `with`
                block.
            ValueError: when a part of `test` has the name `"dev"`.
        """
        if not self.histories:
            raise RuntimeError(
                "`finish` must be called after `fit`. Received: no call of "
                "`fit`"
            )
        parts = test if isinstance(test, Mapping) else {"test": test}
        if "dev" in parts:
            raise ValueError(
                "No part of `test` may be named 'dev', which is the name of "
                f"`dev`. Received: {', '.join(map(repr, parts))}"
            )
        parts = {"dev": dev, **parts}
        pipeline = in_float32(pipeline)
        task = pipeline.task()
        # Saved first, because later steps may fail on unusual data.
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
            vocabulary_sizes=[x.vocabulary_size for x in task.tokenizers],
            data=self._data,
            scores=scores,
            results={
                part: task.headline(found) for part, found in scores.items()
            },
            **shown,
            **facts,
            **self.clock.read(),
        )
        # After anything that a recipe prints itself.
        self._stack.callback(
            print_end,
            task,
            scores,
            self.output,
            [path.name, *written],
            facts.get("before"),
        )
        return pipeline
