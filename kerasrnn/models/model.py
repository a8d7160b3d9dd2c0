"""Base classes of models, of layers that read ids, and of ensembles."""

import abc
import inspect
import pathlib
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import check_not_ragged
from kerasrnn.arguments import instance
from kerasrnn.layers.loop import cells
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.models.rnn_stack import HasStack
from kerasrnn.models.rnn_stack import RNNStack
from kerasrnn.saving import Configured
from kerasrnn.saving import all_layers
from kerasrnn.saving import build_once
from kerasrnn.typing import Config
from kerasrnn.typing import States
from kerasrnn.typing import Tensor

# Names of the first argument of a model.
_NAMES = {"ids", "inputs", "source", "vocabulary"}
_NO_IDS = "alignment", "features"


class ReadsIds:
    """Base of models and layers whose first argument is ids.

    Keras casts float inputs to the `compute_dtype` of a layer, and a
    `keras.Input` is float by default. In half precision, this rounds ids above
    256. So ids are converted to integers before.

    It also implements `compute_output_shape`, which `TimeDistributed` calls
    before the layer itself.

    Attributes:
        axes_of_ids: The number of axes of the ids, or a dictionary of them if
            the inputs are a dictionary; `None` if the inputs are not ids.
    """

    axes_of_ids: Any = 2
    built: bool
    build: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.axes_of_ids is not None:
            args = *map(_as_integers, args[:1]), *args[1:]
            for name in _NAMES & kwargs.keys():
                kwargs[name] = _as_integers(kwargs[name])
        return super().__call__(*args, **kwargs)  # type: ignore[misc]

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        # Keras would derive it from the shape, which does not know dtypes.
        return keras.Operation.compute_output_spec(self, *args, **kwargs)

    def compute_output_shape(self, *shapes: Any, **named_shapes: Any) -> Any:
        """Returns the shapes of the outputs, with their structure.

        Args:
            *shapes: The shape of the input, or a dictionary of shapes.
            **named_shapes: The same, by name. Keras uses the names in `build`.

        Raises:
            NotImplementedError: when there are several inputs.
        """
        shapes = *shapes, *named_shapes.values()
        if len(shapes) != 1:
            return super().compute_output_shape(*shapes)  # type: ignore[misc]
        build_once(self, *shapes)
        outputs = self.compute_output_spec(
            keras.tree.map_shape_structure(keras.KerasTensor, shapes[0])
        )
        return keras.tree.map_structure(lambda x: x.shape, outputs)


class Model(ReadsIds, Configured, KeepsQuantization, keras.Model):
    """Base class of the models.

    They know all sizes in advance, so `build` needs no argument. In addition to
    `keras.Model`, they

    * refuse losses of probabilities, which would clip logits to 0 and 1, and
      class weights for the labels of steps, which Keras would treat as one-hot
      vectors;
    * export functions of ids with any number of rows and steps;
    * quantize their inner layers.

    Attributes:
        returns_logits: Whether the outputs are logits.
        labels_of_steps: Whether the labels have a time axis.
    """

    returns_logits = True
    labels_of_steps = True

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if self.returns_logits:
            for each in keras.tree.flatten(loss):
                self.check_loss(keras.losses.get(each))
        super().compile(optimizer, loss, *args, **kwargs)

    def compile_from_config(self, config: Config) -> None:
        # Keras does not restore the compilation of models that override
        # `compile`.
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.built and self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def check_loss(self, loss: Any) -> None:
        """Raises `ValueError` if a loss does not expect logits.

        Args:
            loss: A Keras loss, any function, or `None`.
        """
        if _takes_logits(loss) is False:
            raise ValueError(
                f"{type(self).__name__} returns logits, but this loss expects "
                "probabilities. Expected: the loss with `from_logits=True`, "
                "or, for tokens, `kerasrnn.training.TokenCrossentropy`. "
                f"Received: loss={name_of(loss)}"
            )

    def fit(
        self, *args: Any, class_weight: Any = None, **kwargs: Any
    ) -> keras.callbacks.History:
        """Trains the model; see `keras.Model.fit`.

        Raises:
            ValueError: when `class_weight` is given for labels of steps.
        """
        if self.labels_of_steps and class_weight is not None:
            raise ValueError(
                "`class_weight` is not supported for labels of steps: Keras "
                "would weight a whole row by the position of its largest "
                "label. Expected: `sample_weight`, if the loss supports it. "
                f"Received: class_weight={class_weight!r}"
            )
        return super().fit(*args, class_weight=class_weight, **kwargs)

    def export(
        self,
        filepath: str | pathlib.Path,
        format: str = "tf_saved_model",
        verbose: bool | None = None,
        input_signature: Any = None,
        **kwargs: Any,
    ) -> None:
        """Exports the model; see `keras.Model.export`.

        With TensorFlow, a model of ids reads int32 ids with any number of rows
        and steps, unless `input_signature` says otherwise. Keras's own export
        reads floats with the length of the first call, and does not support
        dictionaries.
        """
        axes = self.axes_of_ids
        # Other backends cannot export all of these models in this way.
        if (
            input_signature is None
            and axes is not None
            and keras.backend.backend() == "tensorflow"
        ):
            input_signature = [
                keras.tree.map_structure(
                    lambda n: keras.InputSpec(shape=(None,) * n, dtype="int32"),
                    axes,
                )
            ]
        super().export(filepath, format, verbose, input_signature, **kwargs)

    def get_build_config(self) -> Config | None:
        config = super().get_build_config()
        return config and _without_shapes(config)

    def build_from_config(self, config: Config) -> None:
        super().build_from_config(_without_shapes(config))

    def quantization_modes(self) -> tuple[str | None, ...]:
        """Returns how each inner layer is quantized.

        Graphs that were traced with other modes use other weights.
        """
        return tuple(x.quantization_mode for x in all_layers(self))


def give_weights(model: Any) -> None:
    """Builds a model if it knows all sizes and is not built yet.

    Args:
        model: A Keras model. Models that do not know all sizes are not changed.
    """
    if isinstance(model, Model) and not model.built:
        model.build()


def name_of(loss: Any) -> str:
    """Returns the name of a loss: an object, a class or a function."""
    return getattr(loss, "__name__", type(loss).__name__)


def _as_integers(ids):
    """Returns ids as integers; refuses ragged ones."""
    if isinstance(ids, dict):
        return {
            name: x if name in _NO_IDS else _as_integers(x)
            for name, x in ids.items()
        }
    check_not_ragged(ids)
    dtype = getattr(ids, "dtype", "int32")
    if keras.backend.is_float_dtype(keras.backend.standardize_dtype(dtype)):
        return ops.cast(ids, "int32")
    return ids


def _takes_logits(loss):
    """Whether a loss expects logits; `None` if unknown."""
    if loss is None or isinstance(loss, keras.losses.Loss):
        return loss and loss.get_config().get("from_logits")
    argument = inspect.signature(loss).parameters.get("from_logits")
    return None if argument is None else argument.default


def _without_shapes(config):
    """Returns a build configuration without the shapes of inputs.

    For a dictionary of inputs, Keras records the shape of only one tensor, and
    loading would fail to build the model with it.
    """
    shapes = "input_shape", "shapes_dict"
    return {
        "shapes_dict": {},
        **{k: v for k, v in config.items() if k not in shapes},
    }


class RecurrentModel(HasStack, Model):
    """Base of models with recurrent layers between input and output.

    A subclass calls `add_rnns` in its constructor and `run_rnns` in `run`.
    """

    def add_rnns(
        self, cell: keras.layers.Layer, depth: int, dropout: float
    ) -> None:
        """Creates the recurrent layers; see `RNNStack` for the arguments."""
        cells.check_vectors(cell, type(self).__name__)
        self.stack = RNNStack(
            cell,
            depth,
            dropout=dropout,
            variational=True,
            dtype=self.dtype_policy,
            name="stack",
        )
        self.dropout = self.stack.dropout

    @property
    def state_sizes(self) -> list[int]:
        """Widths of the states of all layers, as a flat list."""
        return self.stack.state_sizes

    def initial_states(self, batch_size: int) -> States:
        """Returns the initial states of a sequence, as a flat list."""
        return self.stack.initial_states(batch_size)

    def embed(self, inputs: Tensor, training: bool = False) -> Tensor:
        """Returns the inputs of the recurrent layers for a batch."""
        return inputs

    def run(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        """Runs over a batch of sequences from given initial states.

        Args:
            inputs: The inputs of `call`, of shape `(batch, time, ...)`.
            states: List of tensors, as `initial_states` returns them.
            training: Whether to behave as in training (dropout).

        Returns:
            The logits of every step, and the states after the last step.

        Example, with a sampler of `keras_nlp`, where states are the "cache":

        >>> import keras_nlp
        >>> model = LanguageModel(50, RHNCell(8))
        >>> def next(prompt, cache, index):
        ...     last = ops.take(prompt, [index - 1], axis=1)
        ...     logits, cache = model.run(last, cache)
        ...     return logits[:, 0], None, cache
        >>> prompt, given = np.full((2, 6), 3), np.arange(6) < [[2], [4]]
        >>> sampler = keras_nlp.samplers.TopPSampler(p=0.9)
        >>> states = model.initial_states(2)
        >>> sampler(next, prompt, states, index=1, mask=given).shape
        (2, 6)
        """
        build_once(self)
        x = self.embed(inputs, training)
        x, states = self.run_rnns(x, states, training)
        return self.output_projection(x), states

    def run_rnns(
        self, x: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        """Runs the recurrent layers from given initial states.

        Args:
            x: Tensor of shape `(batch, time, width)`.
            states: List of tensors of shape `(batch, size)`.
            training: Whether to behave as in training (dropout).

        Returns:
            The outputs of shape `(batch, time, output_size)`, and the states
            after the last step.
        """
        x, states = self.stack(x, initial_state=states, training=training)
        # A graph that loops over windows needs static widths.
        return x, [
            ops.reshape(ops.cast(state, self.variable_dtype), (-1, size))
            for state, size in zip(states, self.state_sizes, strict=True)
        ]


class Ensemble(ReadsIds, Configured, keras.layers.Layer, abc.ABC):
    """Base class of ensembles of models.

    A subclass defines the class of the members and how their predictions are
    combined. A model may be a member twice.

    Args:
        models: List of models of the class `member`, at least one.
        **kwargs: Base layer arguments, such as `name`.

    Attributes:
        member: The class of the models.

    Raises:
        ValueError: when there is no model, one has another class, their numbers
            of logits differ, or two share a layer.
    """

    member: type[keras.Model]

    def __init__(self, models: Sequence[keras.Model], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for model in models:
            instance("models", model, self.member)
            give_weights(model)
        sizes = {self.logits_of(model) for model in models}
        if len(sizes) != 1:
            raise ValueError(
                "`models` must be a list of one or more models with the same "
                f"number of logits. Received: {len(models)} models, with "
                f"{sorted(sizes)} logits"
            )
        # Keras saves models that share a layer, but cannot load them.
        owners: dict[int, Any] = {}
        for model in models:
            for variable in model.weights:
                if owners.setdefault(id(variable), model) is not model:
                    raise ValueError(
                        "`models` must not share layers. Expected: separate "
                        "layers in each model. Received: two models with the "
                        f"variable {variable.path!r}"
                    )
        self.models = list(models)
        self.built = True

    @abc.abstractmethod
    def logits_of(self, model: Any) -> int:
        """Returns the number of logits of a member."""
