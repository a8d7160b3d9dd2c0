"""The run of a recipe: the training, and the files that it writes."""

import contextlib
import json
import pathlib
import sys
from collections.abc import Mapping
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any
from typing import Literal
from typing import Self
from typing import TypeVar

import keras

from kerasrnn.distribute import is_first_worker
from kerasrnn.distribute import make_strategy
from kerasrnn.distribute import worker_folder
from kerasrnn.distribute.workers import text_of_first_worker
from kerasrnn.pipelines.saved_model import next_version
from kerasrnn.pipelines.text_pipeline import TextPipeline
from kerasrnn.pipelines.vocabulary_facts import vocabulary_facts
from kerasrnn.plots import save_figure
from kerasrnn.plots import training_figure
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import Settings
from kerasrnn.training import Stopwatch
from kerasrnn.training import TrainingFolder
from kerasrnn.training import by_size
from kerasrnn.training import faster_dtype
from kerasrnn.training import fingerprint
from kerasrnn.training import identity
from kerasrnn.training import load_average
from kerasrnn.training import locked
from kerasrnn.training import without_costs
from kerasrnn.training.card import new_card
from kerasrnn.training.card import write_json
from kerasrnn.training.files import whole
from kerasrnn.typing import Batches
from kerasrnn.typing import History

AnyPipeline = TypeVar("AnyPipeline", bound=TextPipeline)


class Run(contextlib.AbstractContextManager):
    """The run of a recipe: trains a model and saves a pipeline.

    It is a context manager. Inside `with`, the output folder is locked for
    other processes, the random seeds of Python, NumPy and the backend are
    set, and models are built in the precision of the settings.

    With `settings.distribute`, models are built for several devices, until
    `fit` ends. In workers other than the first, which have nothing to write,
    `fit` also ends the `with` block.

    Args:
        settings: `kerasrnn.training.Settings`.

    Attributes:
        output: Path of the output folder.
        settings: The settings, as written to the card.
        dtype: String, the dtype policy of the training.

    Raises:
        OSError: when the folder cannot be written.
        RuntimeError: when another process has locked the folder, or the
            recipe does not support the backend, or TensorBoard is missing.

    Example:

    >>> with Run(settings) as run:
    ...     translator = build_translator()
    ...     batches, validation = map(translator.batches, (pairs, dev))
    ...     translator.compile("adam")
    ...     history = run.fit(
    ...         translator.model, batches, validation, "val_loss", data=pairs
    ...     )
    ...     translator = run.save(translator, "translator")
    ...     scores = {"beam 5": translator.evaluate(dev)}
    ...     run.finish(translator, history, scores=scores)
    """

    # Texts are tokenized and served in TensorFlow graphs.
    backends: tuple[str, ...] = ("tensorflow",)
    output: pathlib.Path
    dtype: str
    # A subclass may need fields that `Settings` lacks.
    settings: Any

    def __init__(self, settings: Settings) -> None:
        if keras.backend.backend() not in self.backends:
            raise RuntimeError(
                "This recipe does not support the backend. Expected: "
                f"KERAS_BACKEND={' or '.join(self.backends)}. "
                f"Received: KERAS_BACKEND={keras.backend.backend()}"
            )
        if settings.tensorboard and not find_spec("tensorboard"):
            raise RuntimeError(
                "TensorFlow does not install TensorBoard. Expected: the "
                "package tensorboard. Received: tensorboard=True"
            )
        self.settings, self.clock = settings, Stopwatch()
        self.data: dict[str, Any] | None = None

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
            self._stack = stack.pop_all()
        keras.utils.set_random_seed(settings.seed)
        if not settings.start_from:  # whose precision is that of its file
            auto = settings.dtype == "auto"
            dtype = faster_dtype() if auto else settings.dtype
            if settings.distribute == "workers":
                # Their devices may differ; their models must not.
                dtype = text_of_first_worker(dtype, strategy)
            keras.config.set_dtype_policy(dtype)
        self.dtype = keras.config.dtype_policy().name
        return self

    def __exit__(
        self, kind: type[BaseException] | None = None, *error: Any
    ) -> bool:
        self._stack.close()
        return kind is _NotFirst

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
        model: keras.Model,
        batches: Batches,
        validation: Batches,
        monitor: str,
        mode: Literal["min", "max"] = "min",
        average: int = 0,
        patience: int = 0,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        tokenizers: Sequence[Tokenizer] = (),
        **facts: Any,
    ) -> History:
        """Trains a compiled model, or resumes an earlier run.

        A run with other settings, data, vocabularies or other facts is another
        one, and does not resume.

        Args:
            model: A built and compiled `keras.Model`. It ends with the
                weights of its best epoch, or with averaged weights.
            batches: `tf.data.Dataset` of training batches.
            validation: `tf.data.Dataset` of validation batches.
            monitor: Name of the logged value that decides which epoch is
                best.
            mode: `"min"` or `"max"`: whether the lowest or the highest value
                is best.
            average: Integer, over how many of the last epochs to average the
                weights; 0 for the weights of the best epoch.
            patience: Integer, after how many epochs without a better one to
                stop; 0 for never.
            callbacks: List of further callbacks.
            tokenizers: List of the `Tokenizer`s that the batches are made
                with: with another vocabulary, the same ids stand for other
                words.
            **facts: Values that the training depends on besides the settings,
                such as the data.

        Returns:
            The log of all epochs: a dictionary of name to list.
        """
        self.dtype = model.dtype_policy.name
        settings = identity(self.settings) | facts
        if tokenizers:
            settings["vocabularies"] = [
                fingerprint(vocabulary_facts(x)) for x in tokenizers
            ]
        if settings.get("dtype") == "auto":
            # On another device, a training does not resume in other precision.
            settings["dtype"] = self.dtype
        self.data = {
            "fingerprint": fingerprint(facts.get("data")),
            "license": self.settings.data_license,
        }
        folder = TrainingFolder(
            *(self.output, settings, monitor, mode, average, patience)
        )
        history = folder.fit(
            model,
            batches,
            self.settings.epochs,
            validation_data=validation,
            callbacks=[*callbacks, *self._boards()],
            verbose=self._verbosity(),
        )
        self._scope.close()
        if not self._first:
            raise _NotFirst
        if average:
            load_average(model, folder.last())
        else:
            folder.load_best(model)
        return history

    def _boards(self):
        """A callback behind the others, whose values it logs, too."""
        if not (self.settings.tensorboard and self._first):
            return []
        folder = self.output / "tensorboard"
        return [keras.callbacks.TensorBoard(folder, write_graph=False)]

    def _verbosity(self):
        if not self._first:
            return 0
        # In a file, one line per epoch instead of a progress bar.
        return "auto" if sys.stdout.isatty() else 2

    def save(self, pipeline: AnyPipeline, name: str) -> AnyPipeline:
        """Saves a pipeline, as soon as it is trained.

        What follows, such as samples and pictures, may fail on unusual data.

        Args:
            pipeline: A pipeline of `kerasrnn.pipelines`.
            name: String, the name of its `.keras` file.

        Returns:
            The pipeline.
        """
        with whole(self.output / f"{name}.keras") as partial:
            pipeline.save(partial)
        self._saved = f"{name}.keras"
        return pipeline

    def finish(
        self,
        pipeline: TextPipeline,
        history: History,
        pictures: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Writes the SavedModel of a pipeline, pictures and, last, a card.

        Args:
            pipeline: The pipeline that `save` has saved.
            history: The log of its training, which is plotted.
            pictures: Dictionary of name to `matplotlib.figure.Figure`, of
                more pictures to save.
            **facts: More values for the card, such as `scores`, which are
                also printed.
        """
        training = training_figure(without_costs(history))
        pictures = {"training": training, **(pictures or {})}
        for picture, figure in pictures.items():
            save_figure(figure, self.output / f"{picture}.png")
        card = new_card(
            settings=self.settings.in_force(),
            dtype=self.dtype,
            parameters=pipeline.model.count_params(),
            data=self.data,
            history=history,
            **facts,
            **self.clock.read(),
        )
        written = f"{self._saved}, card.json and pictures"
        if keras.backend.backend() == "tensorflow":
            version = next_version(self.output)
            pipeline.export(version, card)
            written = f"the SavedModel {version.name}/, {written}"
        write_json(self.output / "card.json", card)
        print(json.dumps(facts.get("scores"), indent=2, ensure_ascii=False))
        print(f"\nIn {self.output} are {written}.")


class _NotFirst(Exception):
    """Ends the run of a worker that writes no results."""
