"""The base of the pipelines: a model, how it is trained, kept and served."""

import abc
import dataclasses
import inspect
import json
import pathlib
import zipfile
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Self

import keras
import numpy as np
import tensorflow as tf

from kerasrnn import __version__
from kerasrnn.files import reading
from kerasrnn.models.model import give_weights
from kerasrnn.pipelines.loss_weights import ClassWeight
from kerasrnn.pipelines.saved_model import export_saved_model
from kerasrnn.pipelines.signatures import served_function
from kerasrnn.pipelines.task import Task
from kerasrnn.pipelines.texts import indices_by_length
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.texts import warn_of_cut
from kerasrnn.pipelines.vocabularies import models_of
from kerasrnn.pipelines.xla import XlaShapes
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


def check_answer(model, answer):
    """Raises an error if the weights are why an answer is not finite.

    Weights, of which there may be millions, are not looked at otherwise. What
    has no floats in its answer calls `check_weights`.

    Args:
        model: The Keras model, or layer, that answers.
        answer: Dictionary of tensors.

    Raises:
        FloatingPointError: when a weight is NaN or infinite.
    """
    if not all(map(_is_finite, answer.values())):
        check_weights(model)


def check_weights(model):
    """Raises an error if a weight of a model is not finite.

    Args:
        model: A Keras model or layer.

    Raises:
        FloatingPointError: when a weight is NaN or infinite.
    """
    wrong = [x.path for x in model.weights if not _is_finite(x)]
    if wrong:
        raise FloatingPointError(
            "The model cannot answer: its weights are not finite numbers, as "
            "after a training that failed. Expected: finite weights; a lower "
            "learning rate or clipped gradients (`global_clipnorm` of the "
            "optimizer) may help. Received: NaN or infinite numbers in "
            f"{len(wrong)} of {len(model.weights)} weights, such as "
            f"{wrong[0]!r}"
        )


def _is_finite(x):
    """Whether all entries of a tensor are, if they are floats."""
    is_float = tf.as_dtype(x.dtype).is_floating
    return not is_float or bool(
        tf.reduce_all(tf.math.is_finite(tf.convert_to_tensor(x)))
    )


_TRACED = "_traced"  # what the properties keep


class TracedProperty:
    """A property that is kept until what is traced in it is out of date.

    That is when an attribute of the pipeline is set, or a layer in it is
    quantized.

    Args:
        make: Function of the pipeline, which returns the value.
    """

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make, self.__doc__ = make, make.__doc__

    def __get__(self, served: Any, owner: Any = None) -> Any:
        if served is None:
            return self
        modes: list[Any] = [
            getattr(model, "quantization_modes", tuple)()
            for model in models_of(served.model)
        ]
        if served.__dict__.get(_TRACED, {}).get("modes") != modes:
            served.__dict__[_TRACED] = {"modes": modes}
        kept = served.__dict__[_TRACED]
        if self not in kept:
            kept[self] = self.make(served)
        return kept[self]


_VERSION = "kerasrnn"  # its key in a configuration
# What is wrong with what `fit` is given beside a dataset, or beside examples.
BESIDE = (
    "A dataset has labels and weights in its batches. Expected: those of "
    "`batches`. Received, beside a dataset: "
)


@keras.saving.register_keras_serializable("kerasrnn")
class TextPipeline(keras.Model, abc.ABC):
    """Base of the pipelines: a model, and all it needs from input to answer.

    A pipeline is a Keras model. `save` writes it to one `.keras` file, with
    the vocabularies of its tokenizers, and with the optimizer if the model is
    compiled. `open` opens that file, or says in a sentence why it cannot;
    `keras.saving.load_model` opens it, too, and needs `import
    kerasrnn.pipelines`. `compile` and `fit` train the inner model.

    A subclass creates batches of examples in `batches`, names what it serves
    in `functions`, and defines in `task` how a run trains, scores and shows
    it. `asked_by` says in words which of its methods to call in place of
    Keras's `predict`. It keeps each argument of its constructor as an
    attribute of that name.

    Args:
        model: The inner Keras model, or layer, which works on ids or numbers. A
            model of this package gets its weights now if it has none.
        **kwargs: Base model arguments, such as `name`.
    """

    asked_by = "`signatures`"

    def __init__(self, model: keras.layers.Layer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        give_weights(model)
        self.model = model
        self.built = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"A {type(self).__name__} is not called as a Keras model. "
            f"Expected: {self.asked_by}; or its inner model, `.model`"
        )

    predict = __call__

    def __setattr__(self, name, value):
        old = self.__dict__.get(name)
        if isinstance(old, keras.Layer) and old is not value:
            # Keras would still track and save the old one.
            raise AttributeError(
                f"A pipeline keeps its `{name}`. Expected: a new pipeline "
                f"with another one. Received: {name}={value!r}"
            )
        # Functions that are already traced use the old value.
        self.__dict__.pop(_TRACED, None)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        # Keras looks at all that this lists for state to save or to load.
        return [
            name
            for name in super().__dir__()
            if name != _TRACED
            and not isinstance(getattr(type(self), name, None), TracedProperty)
        ]

    @TracedProperty
    def signatures(self) -> dict[str, Callable[..., dict[str, Tensor]]]:
        """The functions to export, by the names under which they are served.

        They take tensors and return dictionaries of tensors. They are traced
        at their first call.
        """
        return {
            name: served_function(function, *specs)
            for name, (function, *specs) in self.functions().items()
        }

    @abc.abstractmethod
    def functions(self) -> dict[str, list[Any]]:
        """Returns the functions to serve, by name.

        Returns:
            A dictionary of lists: a function, then the `tf.TensorSpec` of
            each of its arguments.
        """

    def export(
        self,
        path: PathLike,
        card: Mapping[str, Any] | None = None,
    ) -> pathlib.Path:
        """Writes a SavedModel of the `signatures`.

        Args:
            path: Folder to write, `NAME/VERSION`; see `export_saved_model`.
            card: Facts for `card.json` in that folder, such as scores, besides
                the pipeline's `served_facts`.

        Returns:
            The path written, a `pathlib.Path`.
        """
        facts = {**self.served_facts(), **(card or {})}
        return export_saved_model(
            path, self.signatures, self.layers, facts, self.warm_up_texts()
        )

    def warm_up_texts(self) -> dict[str, list[list[str]]]:
        """Returns the batches of texts to warm signatures up with, by name.

        One batch of one text is enough for the others.
        """
        return {}

    def served_facts(self) -> Config:
        """Returns what a client must know, for the card of an export."""
        return {}

    def reads(self) -> tuple[Tokenizer, int | None] | None:
        """Returns the tokenizer that reads the texts, and its limit.

        The limit is how many tokens of each text are kept. `None` if no text
        is ever truncated.
        """
        return None

    def answers(
        self,
        texts: Strings,
        batch_size: int,
        function: Callable[..., dict[str, Tensor]] | None = None,
        *others: Strings,
    ) -> Iterator[tuple[np.ndarray, dict[str, Tensor]]]:
        """Calls a signature on batches of texts of similar length.

        It warns if texts are cut.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.
            function: One of the `signatures` that takes texts; `None` for
                `serving_default`.
            *others: Lists of strings, as long, for a signature that takes
                more.

        Yields:
            Tuples `(indices, answer)`: the indices of the texts of a batch in
            the list, and the dictionary that the signature returns.

        Raises:
            FloatingPointError: when the weights of the model are not finite.
            ValueError: when `texts` is not a list of strings, or `batch_size`
                is not a positive integer.
        """
        function = function or self.signatures["serving_default"]
        texts = text_list(texts)
        if reads := self.reads():
            warn_of_cut(texts, *reads)
        for indices in indices_by_length(texts, batch_size):
            columns = (
                tf.constant([column[i] for i in indices], tf.string)
                for column in (texts, *others)
            )
            answer = function(*columns)
            check_answer(self.model, answer)
            yield indices, answer

    @abc.abstractmethod
    def batches(self, examples: Any, *args: Any, **kwargs: Any) -> Batches:
        """Returns a `tf.data.Dataset` of batches to train the model on.

        Args:
            examples: What the pipeline trains on.
            *args: Those of a subclass; more columns, such as labels, are first.
            **kwargs: `batch_size` and `seed`, the seed of the shuffling:
                without one, their order is the same each time. And weights,
                if it takes some: `sample_weight`, `class_weight`.
        """

    @abc.abstractmethod
    def task(self) -> Task:
        """Returns how a `Run` trains, scores and shows it."""

    def compile(
        self,
        optimizer: str | keras.optimizers.Optimizer = "adam",
        loss: Any = None,
        metrics: list[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Compiles the inner model.

        Args:
            optimizer: A Keras optimizer, or its name.
            loss: A loss of the model's logits; `None` for `default_loss`.
            metrics: List of metrics; `None` for `default_metrics`.
            **kwargs: Other arguments of `keras.Model.compile`.
        """
        self.model.compile(
            optimizer,
            loss or self.default_loss(),
            metrics=self.default_metrics() if metrics is None else metrics,
            **kwargs,
        )
        if self.model.built:
            # If the first step creates variables, Keras traces it twice.
            self.model.optimizer.build(self.model.trainable_variables)

    @abc.abstractmethod
    def default_loss(self) -> keras.losses.Loss:
        """Returns the loss to use if `compile` is given none."""

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the metrics to use if `compile` is given none."""
        return []

    def fit(
        self,
        examples: Any,
        labels: Any = None,
        *,
        batch_size: int | None = None,
        validation_data: Any = None,
        seed: int = 0,
        sample_weight: Sequence[float] | None = None,
        class_weight: ClassWeight = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains the inner model, after `compile()` if it is not compiled.

        Args:
            examples: What `batches` takes, or a `tf.data.Dataset` that it
                returned.
            labels: The labels of a `TextLabeller`; `None` for others, and with
                a dataset.
            batch_size: Positive integer, examples in a batch; `None` for that
                of `batches`.
            validation_data: As `examples`, for a `TextLabeller` a tuple
                `(texts, labels)` or `(texts, labels, sample_weight)`; or a
                dataset. `None` for no validation.
            seed: Integer, the seed of the shuffling.
            sample_weight: List of floats, the weight of each example in the
                loss; `None` for equal weights, and with a dataset. Not all
                pipelines have weights.
            class_weight: Dictionary from labels or tags, by name or by number,
                to the weight of their texts or words, 1 for others; or
                `"balanced"`, to give all the same weight in total. It
                multiplies `sample_weight`.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`, but no `validation_split` and no
                `shuffle=False`.
                A `ModelCheckpoint` must have `save_weights_only=True`, for
                `pipeline.model.load_weights`; a `Run` keeps whole pipelines.

        Returns:
            The `keras.callbacks.History` of the training.

        Raises:
            ValueError: when there are labels or weights beside a dataset, or
                an argument of Keras is one of these.
            TypeError: when `batches` takes no such labels or weights.
        """
        if kwargs.get("shuffle") not in (None, True):
            raise ValueError(
                "`fit` shuffles where it makes the batches. Expected: "
                "`shuffle=True`; for another order, a dataset of yours, such "
                f"as `batches` returns. Received: shuffle={kwargs['shuffle']}"
            )
        _check_callbacks(kwargs.get("callbacks"))
        size = {} if batch_size is None else {"batch_size": batch_size}
        given = {
            "labels": labels,
            "sample_weight": sample_weight,
            "class_weight": class_weight,
        }
        given = {k: x for k, x in given.items() if x is not None}
        if isinstance(examples, tf.data.Dataset):
            if class_weight is not None:
                kwargs["class_weight"] = self.class_weight_of_dataset(
                    given.pop("class_weight")
                )
            if given:
                raise ValueError(f"{BESIDE}{' and '.join(given)} of `fit`")
        else:
            examples = self.batches(examples, seed=seed, **size, **given)
        if not isinstance(validation_data, tf.data.Dataset | None):
            validation_data = self.validation_batches(validation_data, **size)
        if not getattr(self.model, "compiled", False):
            self.compile()
        return self.model.fit(
            examples,
            **{**kwargs, "validation_data": validation_data, "shuffle": False},
        )

    def validation_batches(self, examples: Any, **size: Any) -> Batches:
        """Returns the batches of the `validation_data` of `fit`."""
        return self.batches(examples, **size)

    def class_weight_of_dataset(self, class_weight: Any) -> Any:
        """Returns the `class_weight` beside a dataset as Keras takes it."""
        return class_weight

    @classmethod
    def open(cls, path: PathLike) -> Self:
        """Opens a file that `save` wrote.

        Args:
            path: String or path of a `.keras` file.

        Returns:
            The pipeline.

        Raises:
            ValueError: when the file is damaged, of another version of this
                package that this one cannot read, or not of this class.
        """
        expected = f"Expected: a file that {cls.__name__}.save wrote."
        with reading(path, expected):
            written = _intact(path)
        with reading(path, expected, _of_another(written)):
            pipeline = keras.saving.load_model(path)
            parts = pipeline.layers if isinstance(pipeline, cls) else []
            if not all(part.built for part in parts):
                raise ValueError("a vocabulary is missing")
        if not isinstance(pipeline, cls):
            raise ValueError(
                f"{expected} Received: '{path}', which contains a "
                f"{type(pipeline).__name__}: use the class, or the recipe, "
                "that wrote it"
            )
        return pipeline

    def get_config(self) -> Config:
        """Returns the arguments of the constructor, from its attributes."""
        own = {
            name: getattr(self, name)
            for kind in type(self).__mro__[::-1]
            if issubclass(kind, TextPipeline) and "__init__" in vars(kind)
            for name in inspect.signature(vars(kind)["__init__"]).parameters
            if name not in ("self", "args", "kwargs")
        }
        return {
            **super().get_config(),
            _VERSION: __version__,
            **{
                name: keras.saving.serialize_keras_object(
                    list(x) if isinstance(x, tuple) else x
                )
                for name, x in own.items()
            },
        }

    @classmethod
    def from_config(cls, config: Config) -> Self:
        own = {k: v for k, v in config.items() if k != _VERSION}
        return cls(**cls._arguments(own))

    @classmethod
    def _arguments(cls, config):
        """The arguments of the constructor, with what they hold created."""
        return {
            name: keras.saving.deserialize_keras_object(value)
            if isinstance(value, dict)
            else value
            for name, value in config.items()
        }


def _check_callbacks(callbacks):
    """Raises `ValueError` if one would not save what is trained."""
    for callback in keras.tree.flatten(callbacks):
        is_file = isinstance(callback, keras.callbacks.ModelCheckpoint)
        if is_file and not callback.save_weights_only:
            raise ValueError(
                "`ModelCheckpoint` would save the inner model, without what "
                "makes it a pipeline. Expected: `kerasrnn.pipelines.Run`, "
                "which keeps the best epoch and resumes; or "
                "`save_weights_only=True`, for `pipeline.model.load_weights`. "
                f"Received: ModelCheckpoint({callback.filepath!r})"
            )


def _intact(path):
    """Checks all of an archive; returns the version that wrote it, if known."""
    with zipfile.ZipFile(path) as file:
        if damaged := file.testzip():
            raise zipfile.BadZipFile(f"Bad CRC-32 for file {damaged!r}")
        return json.loads(file.read("config.json"))["config"].get(_VERSION)


def _of_another(version):
    """Says that a file is of another version of this package, if it is."""
    if version in (None, __version__):
        return ""
    return (
        f"A file of kerasrnn {version} cannot be read by this version, "
        f"{__version__}: install the other, or train again."
    )


class XlaPipeline(TextPipeline):
    """Base of the pipelines that can run in programs of static shapes.

    Attributes:
        xla: The `XlaShapes` of the programs that XLA compiles, in Python and
            in an export; `None`, the default, to do without XLA. A program is
            compiled at the first text that it fits, for seconds. It is not
            saved with the pipeline.
        usual_shapes: The `XlaShapes` that pay for most pipelines of the class.
    """

    usual_shapes = XlaShapes()
    xla: XlaShapes | None = None

    def programs(self, shapes: XlaShapes) -> dict[str, Sequence[int]]:
        """Returns the batch sizes of the programs of each signature.

        A signature that shares the programs of another can be left out.
        """
        return {"serving_default": shapes.rows}

    @abc.abstractmethod
    def lengths(self, texts: Strings) -> np.ndarray:
        """Returns how many ids the model reads of each text."""

    def warm_up_texts(self) -> dict[str, list[list[str]]]:
        """Returns texts for each program of the signatures that have some."""
        shapes = self.xla
        if shapes is None:
            return {}
        most = max(shapes.lengths)
        texts = [" ".join(["a"] * count) for count in range(1, most + 1)]
        lengths = self.lengths(texts)
        longest = np.searchsorted(lengths, shapes.lengths, "right") - 1
        return {
            name: [
                count * [texts[index]]
                for index in np.maximum(longest, 0)
                for count in rows
            ]
            for name, rows in self.programs(shapes).items()
        }

    def served_facts(self) -> Config:
        """Returns `"xla"`, the shapes of the programs, or `None`."""
        shapes = self.xla
        return {"xla": None if shapes is None else dataclasses.asdict(shapes)}
