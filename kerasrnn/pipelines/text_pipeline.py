"""The base of the pipelines: a model, its training and its files."""

import functools
import pathlib
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Self

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.pipelines.saved_model import export_saved_model
from kerasrnn.pipelines.served_ids import served_function
from kerasrnn.pipelines.task import Task
from kerasrnn.pipelines.texts import indices_by_length
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.texts import warn_of_cut
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training.reading import reading
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class TextPipeline(keras.Model):
    """Base of the pipelines: a model with what it needs to take text.

    A pipeline is a Keras model. `save` writes it to one `.keras` file, with
    the vocabularies of its tokenizers, and with the optimizer if the model is
    compiled. `keras.saving.load_model` opens that file; it needs `import
    kerasrnn.pipelines`. `compile` and `fit` train the inner model.

    A subclass creates batches of examples in `batches`, names what it serves
    in `functions`, says in `task` how a run trains, scores and shows it, and
    adds its own arguments to `get_config`.

    Args:
        model: The inner Keras model, or layer, which works on ids.
        **kwargs: Base model arguments, such as `name`.
    """

    # Properties that hold traced functions.
    traced: tuple[str, ...] = ("_signatures",)
    _times_quantized = 0

    def __init__(self, model: keras.layers.Layer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.model = model
        self.built = True

    def __setattr__(self, name, value):
        old = self.__dict__.get(name)
        if isinstance(old, keras.Layer) and old is not value:
            # Keras would still track and save the old one.
            raise AttributeError(
                f"A pipeline keeps its `{name}`. Expected: a new pipeline "
                f"with another one. Received: {name}={value!r}"
            )
        # Functions that are already traced use the old value.
        for functions in self.traced:
            self.__dict__.pop(functions, None)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        # Keras looks at all that this lists for state to save or to load.
        hidden = {"signatures", *self.traced}
        return [name for name in super().__dir__() if name not in hidden]

    @property
    def signatures(self) -> dict[str, Callable[..., dict[str, Tensor]]]:
        """The functions to export, by the names under which they are served.

        They take tensors and return dictionaries of tensors. They are traced
        at their first call.
        """
        times = getattr(self.model, "times_quantized", 0)
        if times != self._times_quantized:
            self._times_quantized = times  # drops what is traced
        return self._signatures

    @functools.cached_property
    def _signatures(self):
        return {
            name: served_function(function, *specs)
            for name, (function, *specs) in self.functions().items()
        }

    def functions(self) -> dict[str, list[Any]]:
        """Returns the functions to serve, by name.

        Returns:
            A dictionary of lists: a function, then the `tf.TensorSpec` of
            each of its arguments.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `functions()`."
        )

    def batches(
        self, examples: Any, batch_size: int, seed: int | None = None
    ) -> Batches:
        """Returns a `tf.data.Dataset` of batches to train the model on.

        Without a seed, their order is that of length.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `batches()`."
        )

    def task(self) -> Task:
        """Returns how a `Run` trains, scores and shows it."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `task()`."
        )

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

        Raises:
            ValueError: when the inner model is no `keras.Model`, as that of an
                ensemble.
        """
        if not isinstance(self.model, keras.Model):
            raise ValueError(
                "To be trained, a pipeline must contain a `keras.Model`. "
                "Train each member of an ensemble alone (`--members 1` of a "
                "translation writes the first) and join them again. Received: "
                f"{self.model.name!r}, a {type(self.model).__name__}"
            )
        self.model.compile(
            optimizer,
            loss or self.default_loss(),
            metrics=self.default_metrics() if metrics is None else metrics,
            **kwargs,
        )
        if self.model.built:
            # If the first step creates variables, Keras traces it twice.
            self.model.optimizer.build(self.model.trainable_variables)

    def default_loss(self) -> keras.losses.Loss:
        """Returns the loss to use if `compile` is given none."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `default_loss()`."
        )

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the metrics to use if `compile` is given none."""
        return []

    def fit(
        self, batches: Batches, validation_data: Batches = None, **kwargs: Any
    ) -> keras.callbacks.History:
        """Trains the inner model, after `compile()` if it is not compiled.

        Args:
            batches: `tf.data.Dataset` to train on. Subclasses also take
                texts.
            validation_data: As `batches`; `None` for no validation.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`.

        Returns:
            The `keras.callbacks.History` of the training.

        Raises:
            ValueError: when there is nothing to train on.
        """
        if batches is None:
            raise ValueError("`fit` needs examples. Received: None")
        if not getattr(self.model, "compiled", False):
            self.compile()
        return self.model.fit(
            batches, validation_data=validation_data, shuffle=False, **kwargs
        )

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

    @classmethod
    def open(cls, path: PathLike) -> Self:
        """Opens a file that `save` wrote.

        Args:
            path: String or path of a `.keras` file.

        Returns:
            The pipeline.

        Raises:
            ValueError: when the file is damaged, or is not of this class.
        """
        expected = f"a file that {cls.__name__}.save wrote"
        if pathlib.Path(path).is_dir():
            raise ValueError(
                f"Expected: {expected}. Received: the folder '{path}'"
            )
        with reading(path, f"Expected: {expected}."):
            pipeline = keras.saving.load_model(path)
        if not isinstance(pipeline, cls):
            raise ValueError(
                f"Expected: {expected}. Received: '{path}', which contains a "
                f"{type(pipeline).__name__}"
            )
        return pipeline

    def reads(self) -> tuple[Tokenizer, int | None] | None:
        """Returns the tokenizer of the texts, and of how many tokens of each.

        `None` where no text is cut.
        """
        return None

    def answers(
        self,
        texts: Strings,
        batch_size: int,
        signature: str | Callable[..., dict[str, Tensor]] = "serving_default",
        *others: Strings,
    ) -> Iterator[tuple[np.ndarray, dict[str, Tensor]]]:
        """Calls a signature on batches of texts of similar length.

        It warns if texts are cut.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.
            signature: Name of a signature that takes texts, or the function.
            *others: Lists of strings, as long, for a signature that takes
                more.

        Yields:
            Tuples `(indices, answer)`: the indices of the texts of a batch in
            the list, and the dictionary that the signature returns.

        Raises:
            ValueError: when `texts` is not a list of strings, or `batch_size`
                is no positive integer.
        """
        if isinstance(signature, str):
            signature = self.signatures[signature]
        texts = text_list(texts)
        if reads := self.reads():
            warn_of_cut(texts, *reads)
        for indices in indices_by_length(texts, batch_size):
            columns = (
                tf.constant([column[i] for i in indices], tf.string)
                for column in (texts, *others)
            )
            yield indices, signature(*columns)

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "model": keras.saving.serialize_keras_object(self.model),
        }

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**deserialized(config))


def deserialized(config):
    """Returns a configuration with its layers and other objects created."""
    return {
        name: keras.saving.deserialize_keras_object(value)
        if isinstance(value, dict)
        else value
        for name, value in config.items()
    }
