"""The base of the models, of their layers that read ids, and of ensembles."""

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
from kerasrnn.models.rnn_stack import RNNStack
from kerasrnn.saving import Configured
from kerasrnn.saving import all_layers
from kerasrnn.saving import build_once
from kerasrnn.typing import Config
from kerasrnn.typing import States
from kerasrnn.typing import Tensor

# The first argument of a model, if it is given by name.
_NAMES = {"ids", "inputs", "source", "vocabulary"}
_NO_IDS = "alignment", "features"


class ReadsIds:
    """Base of models and layers whose first argument is ids.

    Keras casts floats to the `compute_dtype` of a layer. In half precision this
    rounds ids above 256, and a `keras.Input` is of floats unless it is told
    otherwise. So they become integers before.

    It also says the shape of its outputs, for which `TimeDistributed` asks
    before it calls the layer inside: that of what the call would return.

    Attributes:
        axes_of_ids: The number of axes of the ids, in a dictionary if the
            inputs are one; `None` if the inputs are no ids.
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
        # Keras would take it from the shape, which says nothing of dtypes.
        return keras.Operation.compute_output_spec(self, *args, **kwargs)

    def compute_output_shape(self, *shapes: Any, **named_shapes: Any) -> Any:
        """Returns the shape of the outputs, nested as these are.

        Args:
            *shapes: The shape of the input, or a dictionary of shapes.
            **named_shapes: The same, by a name: Keras uses that of `build`.

        Raises:
            NotImplementedError: when there are several inputs.
        """
        shapes = *shapes, *named_shapes.values()
        if len(shapes) != 1:
            return super().compute_output_shape(*shapes)  # type: ignore[misc]
        build_once(self, *shapes)
        inputs = keras.tree.map_shape_structure(keras.KerasTensor, shapes[0])
        outputs = self.compute_output_spec(inputs)
        return keras.tree.map_structure(lambda x: x.shape, outputs)


class Model(ReadsIds, Configured, KeepsQuantization, keras.Model):
    """Base of the models.

    They know all sizes before they see their inputs, so that `build` needs no
    argument. Beyond what `keras.Model` does, they

    * refuse a loss of probabilities, which would clip logits to 0 and 1, and
      class weights of the labels of steps, which Keras would take for one-hot
      vectors and weigh by the position of the largest label;
    * export ids of any number of rows and steps;
    * quantize the layers inside.

    Attributes:
        returns_logits: Whether the outputs are logits.
        labels_of_steps: Whether the labels have an axis of time.
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
        # Keras would not compile a model whose `compile` is not its own.
        arguments = keras.saving.deserialize_keras_object(config)
        self.compile(**arguments)
        if self.built and self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def check_loss(self, loss: Any) -> None:
        """Raises `ValueError` if a loss does not take logits.

        Args:
            loss: A loss of Keras or any function, or `None`.
        """
        if _takes_logits(loss) is False:
            raise ValueError(
                f"{type(self).__name__} returns logits, which this loss would "
                "take for probabilities. Expected: the loss with "
                "`from_logits=True`, or for tokens "
                "`kerasrnn.training.TokenCrossentropy`. "
                f"Received: loss={name_of(loss)}"
            )

    def fit(
        self, *args: Any, class_weight: Any = None, **kwargs: Any
    ) -> keras.callbacks.History:
        """Trains the model; see `keras.Model.fit`.

        Raises:
            ValueError: when there is a `class_weight` for the labels of steps.
        """
        if self.labels_of_steps and class_weight is not None:
            raise ValueError(
                "The labels of steps have no class weights: Keras would weigh "
                "a row by the position of its largest label. Expected: "
                "`sample_weight`, if the loss takes it. "
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

        With TensorFlow, a model of ids reads int32 ids of any number of rows
        and steps, unless `input_signature` says otherwise. Keras's own export
        reads floats of the length of the first call, and no dictionary.
        """
        axes = self.axes_of_ids
        # On other backends, not all of these models can be exported so.
        if (
            input_signature is None
            and axes is not None
            and keras.backend.backend() == "tensorflow"
        ):
            input_signature = [keras.tree.map_structure(_ids, axes)]
        super().export(filepath, format, verbose, input_signature, **kwargs)

    def get_build_config(self) -> Config | None:
        config = super().get_build_config()
        return config and _without_shapes(config)

    def build_from_config(self, config: Config) -> None:
        super().build_from_config(_without_shapes(config))

    def quantization_modes(self) -> tuple[str | None, ...]:
        """Returns how each inner layer is quantized.

        Graphs that were traced when this was different have other weights.
        """
        return tuple(x.quantization_mode for x in all_layers(self))


def give_weights(model: Any) -> None:
    """Builds a model that knows all sizes, if it is not built yet.

    Args:
        model: A Keras model. Others are left as they are.
    """
    if isinstance(model, Model) and not model.built:
        model.build()


def name_of(loss: Any) -> str:
    """Returns the name of a loss, of a class or of a function."""
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
    """Whether a loss takes logits; `None` if it does not say."""
    if loss is None or isinstance(loss, keras.losses.Loss):
        return loss and loss.get_config().get("from_logits")
    argument = inspect.signature(loss).parameters.get("from_logits")
    return None if argument is None else argument.default


def _ids(axes):
    return keras.InputSpec(shape=(None,) * axes, dtype="int32")


def _without_shapes(config):
    """Returns a build configuration without the shapes of inputs.

    Of inputs that are a dictionary, Keras notes the shape of one tensor alone.
    A loaded model would be called on it, and could not be built.
    """
    shapes = "input_shape", "shapes_dict"
    rest = {k: v for k, v in config.items() if k not in shapes}
    return {"shapes_dict": {}, **rest}


class RecurrentModel(Model):
    """Base of models that are recurrent layers between an input and an output.

    A subclass calls `add_rnns` in its constructor, and `run_rnns` in its method
    `run`.
    """

    def add_rnns(
        self, cell: keras.layers.Layer, depth: int, dropout: float
    ) -> None:
        """Creates the recurrent layers; see `RNNStack` for the arguments."""
        cells.check_cell(cell, type(self).__name__)
        cells.check_vectors(cell, type(self).__name__)
        self.stack = RNNStack(
            cell,
            depth,
            dropout=dropout,
            variational=True,
            dtype=self.dtype_policy,
            name="stack",
        )
        self.depth, self.dropout = self.stack.depth, self.stack.dropout

    @property
    def cell(self) -> keras.layers.Layer:
        """The cell of the first layer."""
        return self.stack.cell

    @property
    def state_sizes(self) -> list[int]:
        """Widths of the states of all layers, as a flat list."""
        return self.stack.state_sizes

    def initial_states(self, batch_size: int) -> States:
        """Returns the states that a sequence starts from, as a flat list."""
        return self.stack.initial_states(batch_size)

    def embed(self, inputs: Tensor, training: bool = False) -> Tensor:
        """Returns what the recurrent layers read of a batch of inputs."""
        return inputs

    def run(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        """Runs over a batch of sequences, from given states.

        Args:
            inputs: What `call` takes, of shape `(batch, time, ...)`.
            states: List of tensors, as `initial_states` returns them.
            training: Whether to behave as in training (dropout).

        Returns:
            The logits of every step, and the states after the last one.

        Example, for the samplers of `keras_nlp`, which call the states a
        cache:

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
        """Runs the recurrent layers, starting from given states.

        Args:
            x: Tensor of shape `(batch, time, width)`.
            states: List of tensors of shape `(batch, size)`.
            training: Whether to behave as in training (dropout).

        Returns:
            The outputs of shape `(batch, time, output_size)`, and the states
            after the last step.
        """
        x, states = self.stack(x, initial_state=states, training=training)
        # A graph that loops over windows needs their static widths.
        return x, [
            ops.reshape(ops.cast(state, self.variable_dtype), (-1, size))
            for state, size in zip(states, self.state_sizes, strict=True)
        ]


class Ensemble(ReadsIds, Configured, keras.layers.Layer, abc.ABC):
    """Base of ensembles, whose members answer the same question.

    A subclass says what its members are, and how their answers are joined.
    One model may be a member twice.

    Args:
        models: List of models of the class `member`, at least one.
        **kwargs: Base layer arguments, such as `name`.

    Attributes:
        member: The class of the models.

    Raises:
        ValueError: when there is no model, one is of another class, they differ
            in their numbers of logits, or two share a layer.
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
                "`models` must be one or more, all with the same number of "
                f"logits. Received: {len(models)} models, with "
                f"{sorted(sizes)} logits"
            )
        _check_apart(models)
        self.models = list(models)
        self.built = True

    @abc.abstractmethod
    def logits_of(self, model: Any) -> int:
        """Returns the number of logits of a member."""


def _check_apart(models):
    """Raises `ValueError` if two models share a layer.

    Keras saves such a pair without complaint, but cannot load it.
    """
    owners = {}
    for model in models:
        for variable in model.weights:
            other = owners.setdefault(id(variable), model)
            if other is not model:
                raise ValueError(
                    "`models` must not share layers. Expected: each with "
                    "layers of its own. Received: two models with the "
                    f"variable {variable.path!r}"
                )
