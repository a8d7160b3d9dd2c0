"""The base of the pipelines: a model, its training and its files."""

import json
import zipfile
from typing import Any
from typing import Self

import keras

from kerasrnn import __version__
from kerasrnn.files import reading
from kerasrnn.pipelines.batching import ready
from kerasrnn.pipelines.fit_arguments import check_beside_dataset
from kerasrnn.pipelines.fit_arguments import check_fit_arguments
from kerasrnn.pipelines.served_model import ServedModel
from kerasrnn.pipelines.task import Task
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import PathLike

_VERSION = "kerasrnn"  # its key in a configuration


@keras.saving.register_keras_serializable("kerasrnn")
class TextPipeline(ServedModel):
    """Base of the pipelines: a model, and all it needs from input to answer.

    A pipeline is a Keras model. `save` writes it to one `.keras` file, with
    the vocabularies of its tokenizers, and with the optimizer if the model is
    compiled. `open` opens that file, or says in a sentence why it cannot;
    `keras.saving.load_model` opens it, too, and needs `import
    kerasrnn.pipelines`. `compile` and `fit` train the inner model.

    A subclass creates batches of examples in `batches`, names what it serves
    in `functions`, defines in `task` how a run trains, scores and shows it,
    and adds its own arguments to `get_config`.

    Args:
        model: The inner Keras model, or layer, which works on ids or numbers.
        **kwargs: Base model arguments, such as `name`.
    """

    def batches(
        self, examples: Any, batch_size: int, seed: int | None = None
    ) -> Batches:
        """Returns a `tf.data.Dataset` of batches to train the model on.

        Without a seed, their order is the same each time.
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
            ValueError: when the inner model is not a `keras.Model`, such as
                that of an ensemble.
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
                and `callbacks`, but no `validation_split` and no
                `shuffle=False`.
                A `ModelCheckpoint` must have `save_weights_only=True`, for
                `pipeline.model.load_weights`; a `Run` keeps whole pipelines.

        Returns:
            The `keras.callbacks.History` of the training.

        Raises:
            ValueError: when there is nothing to train on, the batches are of
                strings, or an argument is one of these.
        """
        if batches is None:
            raise ValueError("`fit` needs examples. Received: None")
        check_fit_arguments(batches, kwargs, type(self).__name__)
        if not getattr(self.model, "compiled", False):
            self.compile()
        return self.model.fit(
            batches,
            **{**kwargs, "validation_data": validation_data, "shuffle": False},
        )

    def batched(
        self, rows: Any, dev: Any, batch_size: int, seed: int, **weights: Any
    ) -> tuple[Batches, Batches]:
        """Returns batches to train and to validate on, for `fit`.

        Args:
            rows: What `batches` takes, or a `tf.data.Dataset` that it returned.
            dev: The same to validate on, or `None`.
            batch_size: Positive integer.
            seed: Integer, the seed of the shuffling of `rows`.
            **weights: Arguments of `batches`, the weights of `rows`.

        Raises:
            ValueError: when there are weights beside a dataset.
        """
        check_beside_dataset(rows, weights)
        # A subclass of the user may make batches without any.
        given = {k: x for k, x in weights.items() if x is not None}
        return (
            ready(
                rows,
                lambda x: self.batches(x, batch_size, seed=seed, **given),
            ),
            ready(dev, lambda x: self.batches(x, batch_size)),
        )

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
                f"{type(pipeline).__name__}"
            )
        return pipeline

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            _VERSION: __version__,
            "model": keras.saving.serialize_keras_object(self.model),
        }

    @classmethod
    def from_config(cls, config: Config) -> Self:
        config = dict(config)
        fault = _of_another(config.pop(_VERSION, None))
        try:
            return cls(**cls._arguments(config))
        except Exception as error:
            if fault:
                raise ValueError(f"{fault} Received: {error}") from error
            raise

    @classmethod
    def _arguments(cls, config):
        """The arguments of the constructor, with what they hold created."""
        return {
            name: keras.saving.deserialize_keras_object(value)
            if isinstance(value, dict)
            else value
            for name, value in config.items()
        }


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
