"""A recurrent cell that attends to a memory."""

import keras
from keras import ops

from kerasrnn.layers import cells
from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.attention import AttentionMechanism
from kerasrnn.layers.bahdanau_attention import BahdanauAttention
from kerasrnn.layers.dot_attention import DotAttention
from kerasrnn.layers.dot_attention import GeneralAttention
from kerasrnn.layers.dot_attention import ScaledDotAttention
from kerasrnn.layers.multi_head_attention import MultiHeadDotAttention

_BY_NAME = {
    "dot": lambda units: DotAttention(),
    "scaled_dot": lambda units: ScaledDotAttention(),
    "general": lambda units: GeneralAttention(),
    "additive": BahdanauAttention,
    "multi_head": lambda units: MultiHeadDotAttention(4, max(1, units // 4)),
}


def get_attention(identifier, units):
    """Returns an attention mechanism from a name, a config or a layer.

    Args:
        identifier: `"dot"`, `"scaled_dot"`, `"general"`, `"additive"`,
            `"multi_head"` (four heads), a serialized mechanism, or a layer.
        units: Integer, width of what attends: the hidden width of
            `"additive"` and of all heads of `"multi_head"` together.

    Raises:
        ValueError: for anything else.
    """
    if isinstance(identifier, dict):
        identifier = keras.saving.deserialize_keras_object(identifier)
    if isinstance(identifier, AttentionMechanism):
        return identifier
    if identifier in _BY_NAME:
        return _BY_NAME[identifier](units)
    raise ValueError(
        "`attention` must be an attention mechanism of `kerasrnn.layers` or "
        f"one of {', '.join(map(repr, _BY_NAME))}. "
        f"Received: attention={identifier!r}"
    )


@keras.saving.register_keras_serializable("kerasrnn")
class AttentionCell(keras.layers.Layer):
    """A recurrent cell that attends to a memory given from outside.

    Around any `cell`, with `s` its state and `h` its output, in one of two
    placements. Before the cell (Bahdanau et al. 2015), the query is the
    output of the step before, and the cell reads the context:

        c_t = attend(h_{t-1}, memory)
        h_t, s_t = cell([x_t; c_t], s_{t-1})                    output h_t

    After the cell (Luong et al. 2015), the query is the output of this step:

        h_t, s_t = cell(x_t, s_{t-1})      or, with input feeding,
        h_t, s_t = cell([x_t; h~_{t-1}], s_{t-1})
        c_t = attend(h_t, memory)
        h~_t = tanh(W_c [c_t; h_t])                             output h~_t

    Args:
        cell: Any Keras recurrent cell, such as `keras.layers.GRUCell(256)`
            or `keras.layers.StackedRNNCells([...])`.
        attention: A mechanism of `kerasrnn.layers`, or its name: `"dot"`,
            `"scaled_dot"`, `"general"`, `"additive"` or `"multi_head"`.
        placement: `"before"` or `"after"` the cell.
        units: Positive integer, width of `h~`; `None` for the width of `h`.
            For the placement after the cell.
        input_feeding: Whether the cell reads the `h~` of the step before.
            For the placement after the cell.
        kernel_initializer: Initializer of `W_c`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: The states of the step before; `get_initial_state` gives the
            first ones, which with input feeding are `[h~, cell states]` and
            otherwise those of `cell`.
        projected: What `project` made of a memory
            `(batch, places, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`.
        training: Whether to behave as in training (dropout of `cell`).

    Returns:
        A tuple `(output, states, weights)`: the output of shape
        `(batch, output_size)`, the new states, and the attention weights of
        shape `(batch, places)`.

    Masking: a masked place of the memory has weight exactly 0.

    Raises:
        ValueError: when `cell` is no recurrent cell, `attention` or
            `placement` is unknown, `units` is not positive, or an option of
            the other placement is given.

    Example:

    >>> cell = AttentionCell(keras.layers.GRUCell(8), "general")
    >>> layer = AttentionRNN(cell)
    >>> layer(np.ones((2, 4, 3)), np.ones((2, 5, 6))).shape
    (2, 4, 8)

    References:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473),
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025).
    """

    def __init__(
        self,
        cell,
        attention="additive",
        placement="before",
        units=None,
        input_feeding=False,
        kernel_initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        cells.check_cell(cell, "AttentionCell")
        if placement not in ("before", "after"):
            raise ValueError(
                "`placement` must be 'before' or 'after'. "
                f"Received: placement={placement!r}"
            )
        if placement == "before" and (units is not None or input_feeding):
            raise ValueError(
                "`units` and `input_feeding` belong to placement='after': "
                "before the cell its own output is the output. Received: "
                f"units={units}, input_feeding={input_feeding}"
            )
        self.cell = cell
        self.attention = get_attention(attention, cell.output_size)
        self.placement = placement
        self.units = units
        self.input_feeding = input_feeding
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        if placement == "before":
            self.output_size = cell.output_size
        else:
            self.output_size = positive_integer(
                "units", cell.output_size if units is None else units
            )

    @property
    def loops_over_attention(self):
        """Whether a step needs the attention of the step before it."""
        return self.placement == "before" or self.input_feeding

    @property
    def state_size(self):
        if self.input_feeding:
            return [self.output_size, self.cell.state_size]
        return self.cell.state_size

    def get_initial_state(self, batch_size=None):
        states = cells.initial_state(self.cell, batch_size)
        if not self.input_feeding:
            return states
        zeros = ops.zeros((batch_size, self.output_size), self.compute_dtype)
        return [zeros, states]

    def build(self, inputs_shape, memory_shape):
        """Builds for a sequence `(..., dim)` and a memory `(..., dim)`."""
        output_size = self.cell.output_size
        if not self.attention.built:
            self.attention.build((None, None, output_size), memory_shape)
            self.attention.built = True
        self._check_widths(output_size, memory_shape[-1])
        context_dim = self.attention.context_dim(memory_shape[-1])
        width = inputs_shape[-1]
        if self.placement == "before":
            width += context_dim
        elif self.input_feeding:
            width += self.output_size
        if not self.cell.built:
            self.cell.build((None, width))
            self.cell.built = True
        self.cell_input_size = width
        if self.placement == "after":
            self.kernel = self.add_weight(
                shape=(context_dim + output_size, self.output_size),
                initializer=self.kernel_initializer,
                name="kernel",
            )

    def _check_widths(self, query_dim, memory_dim):
        """An attention that was in use elsewhere may not fit here."""
        config = self.attention.get_build_config() or {}
        shapes = config.get("shapes_dict")
        if not shapes:
            return
        built_for = shapes["query_shape"][-1], shapes["memory_shape"][-1]
        if built_for != (query_dim, memory_dim):
            raise ValueError(
                "`attention` was built before, for a query of width "
                f"{built_for[0]} and a memory of width {built_for[1]}; here "
                f"they have the widths {query_dim} and {memory_dim}. "
                f"Received: attention={self.attention!r}"
            )

    def project(self, memory):
        """Prepares a memory `(batch, places, dim)` for all steps at once."""
        return self.attention.project(memory)

    def attend(self, query, projected, memory_mask=None):
        """One query a sentence: `(batch, dim)` -> context, weights."""
        context, weights = self.attention.attend(
            ops.expand_dims(query, 1), projected, memory_mask
        )
        return ops.squeeze(context, 1), ops.squeeze(weights, 1)

    def combine(self, context, output):
        """h~ = tanh(W_c [c; h]) over any leading axes."""
        joined = ops.concatenate([context, output], axis=-1)
        return ops.tanh(ops.matmul(joined, self.kernel))

    # Keras fills in the mask of an argument by its name, from tensors alone:
    # what was projected must not be called `memory` beside `memory_mask`.
    def call(self, inputs, states, projected, memory_mask=None, training=False):
        if self.placement == "before":
            query = cells.last_output(self.cell, states)
            context, weights = self.attend(query, projected, memory_mask)
            inputs = ops.concatenate([inputs, context], axis=-1)
            output, states = cells.step(self.cell, inputs, states, training)
            return output, states, weights
        if self.input_feeding:
            fed, states = states
            inputs = ops.concatenate([inputs, fed], axis=-1)
        output, states = cells.step(self.cell, inputs, states, training)
        context, weights = self.attend(output, projected, memory_mask)
        output = self.combine(context, output)
        if self.input_feeding:
            states = [output, states]
        return output, states, weights

    def get_config(self):
        return {
            **super().get_config(),
            "cell": keras.saving.serialize_keras_object(self.cell),
            "attention": keras.saving.serialize_keras_object(self.attention),
            "placement": self.placement,
            "units": self.units,
            "input_feeding": self.input_feeding,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
        }

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config["cell"])
        return cls(**{**config, "cell": cell})
