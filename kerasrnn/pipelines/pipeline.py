"""The base class of pipelines: training, saving and serving."""

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
from kerasrnn.serving.signature import reason
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


def _is_finite(x):
    """Whether all entries of a tensor are finite; true for integers."""
    return not tf.as_dtype(x.dtype).is_floating or bool(
        tf.reduce_all(tf.math.is_finite(tf.convert_to_tensor(x)))
    )


_TRACED = "_traced"  # the attribute with the cached values


class TracedProperty:
    """A cached property that is recomputed when its graphs are outdated.

    That is the case after an attribute of the pipeline is set or a layer in it
    is quantized.

    Args:
        make: Function from the pipeline to the value.
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


_VERSION = "kerasrnn"  # the key of the version in a configuration
# Beginnings of messages about arguments of `fit` with a dataset or examples.
BESIDE = (
    "A dataset already contains labels and weights. Expected: a dataset from "
    "`batches` alone. Received, in addition to a dataset: "
)


@keras.saving.register_keras_serializable("kerasrnn")
class TextPipeline(keras.Model, abc.ABC):
    """Base class of pipelines: a model with all it needs for raw input.

    A pipeline is a Keras model. `save` writes it to one `.keras` file, with the
    vocabularies of its tokenizers, and with the optimizer if the model is
    compiled. `open` loads that file, or raises an error with a clear reason.
    `keras.saving.load_model` loads it, too, after `import kerasrnn.pipelines`.
    `compile` and `fit` train the inner model.

    A subclass creates batches of examples in `batches`, returns the functions
    to serve in `functions`, and returns in `task` how a run trains, scores and
    reports it. `asked_by` names the methods to call instead of Keras's
    `predict`. Each argument of its constructor is an attribute with the same
    name.

    Args:
        model: The inner Keras model or layer, which works on ids or numbers. A
            model of this package is built if it has no weights yet.
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
            f"A {type(self).__name__} cannot be called like a Keras model. "
            f"Expected: {self.asked_by}, or a call of its inner model `.model`"
        )

    predict = __call__

    def __setattr__(self, name, value):
        old = self.__dict__.get(name)
        if isinstance(old, keras.Layer) and old is not value:
            # Keras would still track and save the old object.
            raise AttributeError(
                f"`{name}` of a pipeline cannot be changed. Expected: a new "
                f"pipeline. Received: {name}={value!r}"
            )
        # Functions that were traced before use the old value.
        self.__dict__.pop(_TRACED, None)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        # Keras looks for state to save or load in all listed attributes.
        return [
            name
            for name in super().__dir__()
            if name != _TRACED
            and not isinstance(getattr(type(self), name, None), TracedProperty)
        ]

    @TracedProperty
    def signatures(self) -> dict[str, Callable[..., dict[str, Tensor]]]:
        """The functions to export and serve, by name.

        They map tensors to dictionaries of tensors, and are traced at their
        first call.
        """
        return {
            name: served_function(function, *specs)
            for name, (function, *specs) in self.functions().items()
        }

    @abc.abstractmethod
    def functions(self) -> dict[str, list[Any]]:
        """Returns the functions to serve, by name.

        Returns:
            A dictionary of lists: a function, followed by the `tf.TensorSpec`
            of each argument.
        """

    def export(
        self,
        path: PathLike,
        card: Mapping[str, Any] | None = None,
    ) -> pathlib.Path:
        """Writes a SavedModel of the `signatures`.

        Args:
            path: Folder to write, `NAME/VERSION`; see `export_saved_model`.
            card: Facts for `card.json` in that folder, such as scores, in
                addition to `served_facts`.

        Returns:
            The path of the folder, a `pathlib.Path`.
        """
        facts = {**self.served_facts(), **(card or {})}
        return export_saved_model(
            path, self.signatures, self.layers, facts, self.warm_up_texts()
        )

    def warm_up_texts(self) -> dict[str, list[list[str]]]:
        """Returns batches of texts to warm up signatures, by name.

        For other signatures, one batch with one text is enough.
        """
        return {}

    def served_facts(self) -> Config:
        """Returns facts that clients need, for the card of an export."""
        return {}

    def reads(self) -> tuple[Tokenizer, int | None] | None:
        """Returns the tokenizer of the texts, and the maximum length.

        The maximum length is the number of tokens that are read. `None` if
        texts are never truncated.
        """
        return None

    def ask(
        self, function: Callable[..., dict[str, Tensor]], *inputs: Any
    ) -> dict[str, Tensor]:
        """Calls a function of `signatures`.

        Args:
            function: The function.
            *inputs: Its inputs.

        Returns:
            The dictionary of tensors that the function returns.

        Raises:
            FloatingPointError: when the weights of the model are not finite.
            ValueError: when the function refuses its inputs. Its message is the
                sentence of the check; the trace of TensorFlow is its cause.
        """
        try:
            answer = function(*inputs)
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(reason(error)) from error
        # There may be millions of weights. They are checked only if the answer
        # does not show that they are finite.
        floats = [x for x in answer.values() if x.dtype.is_floating]
        if not floats or not all(map(_is_finite, floats)):
            self._check_weights()
        return answer

    def _check_weights(self) -> None:
        weights = self.model.weights
        if wrong := [x.path for x in weights if not _is_finite(x)]:
            raise FloatingPointError(
                "The weights of the model are not finite, probably because "
                "training failed. A lower learning rate or gradient clipping "
                "(`global_clipnorm` of the optimizer) may help. Expected: "
                "finite weights. Received: NaN or infinite numbers in "
                f"{len(wrong)} of {len(weights)} weights, such as {wrong[0]!r}"
            )

    def answers(
        self,
        texts: Strings,
        batch_size: int,
        function: Callable[..., dict[str, Tensor]] | None = None,
        *others: Strings,
    ) -> Iterator[tuple[np.ndarray, dict[str, Tensor]]]:
        """Calls a signature on batches of texts of similar length.

        It warns if texts are truncated.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.
            function: One of the `signatures` with texts as input; `None` for
                `serving_default`.
            *others: Lists of strings of the same length, for further inputs of
                the signature.

        Yields:
            Tuples `(indices, answer)`: the indices of the texts of a batch, and
            the dictionary that the signature returns.

        Raises:
            FloatingPointError: when the weights of the model are not finite.
            ValueError: when `texts` is not a list of strings, `batch_size` is
                not a positive integer, or the function refuses its inputs.
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
            yield indices, self.ask(function, *columns)

    def answer_columns(
        self, kinds: Mapping[str, str], texts: Strings, *args: Any
    ) -> dict[str, np.ndarray]:
        """Returns `answers`, a number for each text, in the order of the texts.

        Args:
            kinds: Dictionary from the names of answers to their dtypes.
            texts: List of strings.
            *args: Other arguments of `answers`.
        """
        columns = {k: np.zeros(len(texts), kind) for k, kind in kinds.items()}
        for indices, answer in self.answers(texts, *args):
            for name, column in columns.items():
                column[indices] = answer[name].numpy()
        return columns

    @abc.abstractmethod
    def batches(self, examples: Any, *args: Any, **kwargs: Any) -> Batches:
        """Returns a `tf.data.Dataset` of batches to train the model on.

        Args:
            examples: The training examples.
            *args: Arguments of the subclass, first of all further columns, such
                as labels.
            **kwargs: `batch_size`, `seed` (seed of the shuffling; without it,
                the order is always the same) and, if supported, `sample_weight`
                and `class_weight`.
        """

    @abc.abstractmethod
    def task(self) -> Task:
        """Returns the `Task`: how a `Run` trains, scores and reports it."""

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
            # Keras would trace the first step twice if it creates variables.
            self.model.optimizer.build(self.model.trainable_variables)

    @abc.abstractmethod
    def default_loss(self) -> keras.losses.Loss:
        """Returns the loss of `compile` if none is given."""

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the metrics of `compile` if none are given."""
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
        """Trains the inner model, and compiles it first if necessary.

        Args:
            examples: The examples, as in `batches`, or a `tf.data.Dataset` from
                `batches`.
            labels: The labels of a `TextLabeller`; `None` for other pipelines,
                and with a dataset.
            batch_size: Positive integer, examples in a batch; `None` for the
                default of `batches`.
            validation_data: Like `examples`; for a `TextLabeller`, a tuple
                `(texts, labels)` or `(texts, labels, sample_weight)`; or a
                dataset. `None` for no validation.
            seed: Integer, the seed of the shuffling.
            sample_weight: List of floats, the weight of each example in the
                loss; `None` for equal weights, and with a dataset. Not all
                pipelines support weights.
            class_weight: Dictionary from labels or tags (names or numbers) to
                the weights of their texts or words, by default 1; or
                `"balanced"`, which gives all labels the same total weight. It
                is multiplied by `sample_weight`.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs` and
                `callbacks`, except `validation_split` and `shuffle=False`. A
                `ModelCheckpoint` needs `save_weights_only=True`, for
                `pipeline.model.load_weights`; a `Run` saves whole pipelines.

        Returns:
            The `keras.callbacks.History` of the training.

        Raises:
            ValueError: when labels or weights are given with a dataset, or an
                argument of Keras is not supported.
            TypeError: when the pipeline does not support labels or weights.
        """
        if kwargs.get("shuffle") not in (None, True):
            raise ValueError(
                "`fit` always shuffles examples. Expected: `shuffle=True`, or "
                "a dataset in the order you need, such as from `batches`. "
                f"Received: shuffle={kwargs['shuffle']}"
            )
        for callback in keras.tree.flatten(kwargs.get("callbacks")):
            is_file = isinstance(callback, keras.callbacks.ModelCheckpoint)
            if is_file and not callback.save_weights_only:
                raise ValueError(
                    "`ModelCheckpoint` would save only the inner model, "
                    "without tokenizers. Expected: `kerasrnn.pipelines.Run`, "
                    "which keeps the best epoch and can resume, or "
                    "`save_weights_only=True`, for "
                    "`pipeline.model.load_weights`. Received: "
                    f"ModelCheckpoint({callback.filepath!r})"
                )
        size = {} if batch_size is None else {"batch_size": batch_size}
        given = {
            "labels": labels,
            "sample_weight": sample_weight,
            "class_weight": class_weight,
        }
        given = {k: x for k, x in given.items() if x is not None}
        if isinstance(examples, tf.data.Dataset):
            if class_weight is not None:
                kwargs["class_weight"] = self.numbered_class_weight(
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

    def numbered_class_weight(self, class_weight: Any) -> Any:
        """Converts the `class_weight` given with a dataset for Keras."""
        return class_weight

    @classmethod
    def open(cls, path: PathLike) -> Self:
        """Opens a file that `save` wrote.

        Args:
            path: String or path of a `.keras` file.

        Returns:
            The pipeline.

        Raises:
            ValueError: when the file is damaged, was written by an incompatible
                version of this package, or contains another class.
        """
        expected = f"Expected: a file that {cls.__name__}.save wrote."
        with reading(path, expected), zipfile.ZipFile(path) as file:
            if damaged := file.testzip():
                raise zipfile.BadZipFile(f"Bad CRC-32 for file {damaged!r}")
            config = json.loads(file.read("config.json"))["config"]
        remark, version = "", config.get(_VERSION, __version__)
        if version != __version__:
            remark = (
                f"This version of kerasrnn, {__version__}, cannot read a file "
                f"of version {version}. Install that version, or train again."
            )
        with reading(path, expected, remark):
            pipeline = keras.saving.load_model(path)
            parts = pipeline.layers if isinstance(pipeline, cls) else []
            if not all(part.built for part in parts):
                raise ValueError("a vocabulary is missing")
        if not isinstance(pipeline, cls):
            raise ValueError(
                f"{expected} Received: '{path}', which contains a "
                f"{type(pipeline).__name__}. Use the class or the recipe that "
                "wrote it"
            )
        return pipeline

    def get_config(self) -> Config:
        """Returns the arguments of the constructor, read from attributes."""
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
        """Returns the arguments of the constructor, with objects created."""
        return {
            name: keras.saving.deserialize_keras_object(value)
            if isinstance(value, dict)
            else value
            for name, value in config.items()
        }


class XlaPipeline(TextPipeline):
    """Base class of pipelines that XLA can compile for static shapes.

    Attributes:
        xla: The `XlaShapes` of compiled programs, in Python and in an export;
            `None` (default) not to use XLA. A program is compiled at the first
            text that fits it, which takes seconds. It is not saved with the
            pipeline.
        usual_shapes: The recommended `XlaShapes` for most pipelines of the
            class.
    """

    usual_shapes = XlaShapes()
    xla: XlaShapes | None = None

    def programs(self, shapes: XlaShapes) -> dict[str, Sequence[int]]:
        """Returns the batch sizes of each signature's programs.

        Signatures that share the programs of others can be left out.
        """
        return {"serving_default": shapes.rows}

    @abc.abstractmethod
    def lengths(self, texts: Strings) -> np.ndarray:
        """Returns the number of ids of each text that the model reads."""

    def warm_up_texts(self) -> dict[str, list[list[str]]]:
        """Returns texts for each program of the signatures."""
        if self.xla is None:
            return {}
        most = max(self.xla.lengths)
        texts = [" ".join(["a"] * count) for count in range(1, most + 1)]
        lengths = self.lengths(texts)
        longest = np.searchsorted(lengths, self.xla.lengths, "right") - 1
        return {
            name: [
                count * [texts[index]]
                for index in np.maximum(longest, 0)
                for count in rows
            ]
            for name, rows in self.programs(self.xla).items()
        }

    def served_facts(self) -> Config:
        """Returns `"xla"`, the shapes of the programs, or `None`."""
        return {"xla": self.xla and dataclasses.asdict(self.xla)}
