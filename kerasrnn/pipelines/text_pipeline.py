"""What every pipeline has: a model, its training, its files."""

import functools

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.pipelines.saved_model import export_saved_model
from kerasrnn.training.files import reading


@keras.saving.register_keras_serializable("kerasrnn")
class TextPipeline(keras.Model):
    """Base of the pipelines: a model and what makes it take text.

    A pipeline is a Keras model, so that `save` writes one `.keras` file of
    it, with the vocabularies of its tokenizers and with the optimizer, if the
    model is compiled; `keras.saving.load_model` opens that file where
    `kerasrnn.pipelines` is imported. `compile`, `fit` and `export` go to the
    model inside.

    A subclass names its graph functions in `functions`, makes batches of
    examples in `batches`, and adds its own arguments to `get_config`.

    Args:
        model: The Keras model, or layer, that works on ids.
        **kwargs: Base model arguments, such as `name`.
    """

    def __init__(self, model, **kwargs):
        super().__init__(**kwargs)
        self.model = model
        self.built = True

    def __setattr__(self, name, value):
        old = self.__dict__.get(name)
        if isinstance(old, keras.Layer) and old is not value:
            # Keras would go on saving the old one, too.
            raise AttributeError(
                f"A pipeline keeps its `{name}`. Expected: a pipeline made "
                f"anew around another one. Received: {name}={value!r}"
            )
        # A graph that was traced knows nothing of another search.
        self.__dict__.pop("signatures", None)
        super().__setattr__(name, value)

    @functools.cached_property
    def signatures(self):
        """The functions to export, by the names they are served under.

        They take tensors and return dictionaries of tensors, and are traced
        when they are first called.
        """
        return {
            name: tf.function(function, specs)
            for name, (function, *specs) in self.functions().items()
        }

    def functions(self):
        """Returns the functions to serve, by name.

        Returns:
            A dictionary of lists: a function, and the `tf.TensorSpec` of each
            of its arguments.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `functions()`."
        )

    def batches(self, examples, batch_size):
        """Returns a `tf.data.Dataset` that the model can learn from."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `batches()`."
        )

    def compile(self, optimizer="adam", loss=None, metrics=None, **kwargs):
        """Compiles the model inside.

        Args:
            optimizer: A Keras optimizer, or its name.
            loss: A loss of the model's logits; `None` for the usual one.
            metrics: List of metrics; `None` for the usual ones.
            **kwargs: Other arguments of `keras.Model.compile`.
        """
        self.model.compile(
            optimizer,
            loss or self.default_loss(),
            metrics=self.default_metrics() if metrics is None else metrics,
            **kwargs,
        )

    def default_loss(self):
        """Returns the loss that suits the model."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `default_loss()`."
        )

    def default_metrics(self):
        """Returns a list of the metrics that suit the model."""
        return []

    def fit(self, batches, validation_data=None, **kwargs):
        """Trains the model, compiled as by `compile()` if it is not yet.

        Args:
            batches: What a subclass says, or a `tf.data.Dataset`.
            validation_data: As `batches`; `None` for no validation.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`.

        Returns:
            The `keras.callbacks.History` of the training.
        """
        if not self.model.compiled:
            self.compile()
        return self.model.fit(
            batches, validation_data=validation_data, shuffle=False, **kwargs
        )

    def export(self, path):
        """Writes a SavedModel of the `signatures`.

        Args:
            path: Folder to write, `NAME/VERSION`; see `export_saved_model`.

        Returns:
            The path written, a `pathlib.Path`.
        """
        return export_saved_model(path, self.signatures, self.layers)

    @classmethod
    def open(cls, path):
        """Opens a file that `save` wrote.

        Args:
            path: String or path of a `.keras` file.

        Returns:
            The pipeline.

        Raises:
            ValueError: when the file is damaged, or holds something else.
        """
        expected = f"a file that {cls.__name__}.save wrote"
        with reading(path, f"Expected: {expected}."):
            pipeline = keras.saving.load_model(path)
        if not isinstance(pipeline, cls):
            raise ValueError(
                f"Expected: {expected}. Received: '{path}', which holds a "
                f"{type(pipeline).__name__}"
            )
        return pipeline

    def answers(self, texts, batch_size):
        """Serves strings, those of like length together.

        Args:
            texts: List of strings.
            batch_size: Positive integer, how many at once.

        Yields:
            Tuples `(places, answer)`: where in the list the texts of a batch
            are, and what `serving_default` answers to them.

        Raises:
            ValueError: when `texts` is no list of strings, or `batch_size`
                not positive.
        """
        if batch_size < 1:
            raise ValueError(
                "`batch_size` must be positive. "
                f"Received: batch_size={batch_size}"
            )
        texts = text_list(texts)
        order = np.argsort([len(text) for text in texts], kind="stable")
        for start in range(0, len(texts), batch_size):
            places = order[start : start + batch_size]
            batch = tf.constant([texts[i] for i in places], tf.string)
            yield places, self.signatures["serving_default"](batch)

    def get_config(self):
        return {
            **super().get_config(),
            "model": keras.saving.serialize_keras_object(self.model),
        }

    @classmethod
    def from_config(cls, config):
        return cls(**deserialized(config))


def deserialized(config):
    """Returns a configuration with its parts, such as layers, made again."""
    return {
        name: keras.saving.deserialize_keras_object(value)
        if isinstance(value, dict)
        else value
        for name, value in config.items()
    }


def decoded(strings):
    """Makes a list of Python strings of a string tensor `(batch,)`."""
    return [text.decode() for text in strings.numpy()]


def text_list(texts):
    """Returns an iterable of strings as a list.

    Raises:
        ValueError: when it is a string itself, or holds anything else.
    """
    if isinstance(texts, (str, bytes)):
        raise ValueError(
            "A list of strings is expected. "
            f"Received: the string {texts[:80]!r}"
        )
    texts = list(texts)
    wrong = [text for text in texts if not isinstance(text, (str, bytes))]
    if wrong:
        raise ValueError(
            f"A list of strings is expected. Received: {wrong[0]!r} in it"
        )
    return texts


def ready(examples, batches):
    """Returns batches of examples; what is a dataset or `None` stays."""
    if examples is None or isinstance(examples, tf.data.Dataset):
        return examples
    return batches(examples)
