"""The base of what is served: a model, its traced functions, its SavedModel."""

import pathlib
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.models.model import give_weights
from kerasrnn.pipelines.batching import indices_by_length
from kerasrnn.pipelines.ensembles import models_of
from kerasrnn.pipelines.finite import check_answer
from kerasrnn.pipelines.graphs import served_function
from kerasrnn.pipelines.saved_model import export_saved_model
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.texts import warn_of_cut
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.typing import Config
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor

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


class ServedModel(keras.Model):
    """Base of the models that serve functions of another model.

    A subclass names what it serves in `functions`. Other functions that it
    traces are in a `TracedProperty`. `asked_by` says in words which of its
    methods to call in place of Keras's `predict`.

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
        raise NotImplementedError(self._instead("a call"))

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(self._instead("`predict`"))

    def _instead(self, received):
        """What to call in place of a method of Keras."""
        name = type(self).__name__
        return (
            f"A {name} is not called as a Keras model. Expected: "
            f"{self.asked_by}; or its inner model, `.model`. "
            f"Received: {received}"
        )

    def load_weights(
        self, filepath: PathLike, *args: Any, **kwargs: Any
    ) -> None:
        """Loads what `save_weights` wrote; see `keras.Model.load_weights`.

        Raises:
            ValueError: when the inner model has no weights yet, or the file is
                of another one.
        """
        if not self.model.built:
            raise ValueError(
                "The inner model has no weights to load into. Expected: one "
                "that is built, or was called on ids. Received: "
                f"{self.model.name!r}, a {type(self.model).__name__}"
            )
        super().load_weights(filepath, *args, **kwargs)

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

    def functions(self) -> dict[str, list[Any]]:
        """Returns the functions to serve, by name.

        Returns:
            A dictionary of lists: a function, then the `tf.TensorSpec` of
            each of its arguments.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `functions()`."
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
            FloatingPointError: when the weights of the model are not finite.
            ValueError: when `texts` is not a list of strings, or `batch_size`
                is not a positive integer.
        """
        if isinstance(signature, str):
            function = self.signatures[signature]
        else:
            function = signature
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
