"""A recurrent cell that attends to a memory."""

import keras
from keras import ops

from kerasrnn.layers import cells
from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.attention import AttentionMechanism
from kerasrnn.layers.attention import over_last
from kerasrnn.layers.bahdanau_attention import BahdanauAttention
from kerasrnn.layers.dot_attention import DotAttention
from kerasrnn.layers.dot_attention import GeneralAttention
from kerasrnn.layers.dot_attention import ScaledDotAttention
from kerasrnn.layers.multi_head_attention import MultiHeadDotAttention

_BY_NAME = {
    "dot": lambda units, **kwargs: DotAttention(**kwargs),
    "scaled_dot": lambda units, **kwargs: ScaledDotAttention(**kwargs),
    "general": lambda units, **kwargs: GeneralAttention(**kwargs),
    "additive": BahdanauAttention,
    "multi_head": lambda units, **kwargs: MultiHeadDotAttention(
        4, max(1, units // 4), **kwargs
    ),
}


def get_attention(identifier, units, dtype=None):
    """Returns an attention mechanism from a name, a config or a layer.

    Args:
        identifier: `"dot"`, `"scaled_dot"`, `"general"`, `"additive"`,
            `"multi_head"` (four heads), a serialized mechanism, or a layer.
        units: Integer, width of what attends: the hidden width of
            `"additive"` and of all heads of `"multi_head"` together.
        dtype: Dtype or policy of a mechanism given by its name; `None` for
            the global one.

    Raises:
        ValueError: for anything else.
    """
    if isinstance(identifier, dict):
        identifier = keras.saving.deserialize_keras_object(identifier)
    if isinstance(identifier, AttentionMechanism):
        return identifier
    if isinstance(identifier, str) and identifier in _BY_NAME:
        return _BY_NAME[identifier](units, dtype=dtype)
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

    Without attention it is the cell, and all weights are 0: a decoder that
    knows the source by its first states alone (Sutskever et al. 2014).

    Args:
        cell: Any Keras recurrent cell, such as `keras.layers.GRUCell(256)`
            or `keras.layers.StackedRNNCells([...])`.
        attention: A mechanism of `kerasrnn.layers`, or its name: `"dot"`,
            `"scaled_dot"`, `"general"`, `"additive"` or `"multi_head"`;
            `None` for no attention.
        placement: `"before"` or `"after"` the cell.
        units: Positive integer, width of `h~`; `None` for the width of `h`.
            For the placement after the cell.
        input_feeding: Whether the cell reads the `h~` of the step before.
            For the placement after the cell.
        kernel_initializer: Initializer of `W_c`.
        **kwargs: Base layer arguments, such as `name` and `dtype`, which is
            that of `cell` unless given.

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
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025),
        [Sutskever et al., 2014](https://arxiv.org/abs/1409.3215).
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
        kwargs.setdefault("dtype", cells.policy(cell))
        super().__init__(**kwargs)
        cells.check_cell(cell, "AttentionCell")
        if placement not in ("before", "after"):
            raise ValueError(
                "`placement` must be 'before' or 'after'. "
                f"Received: placement={placement!r}"
            )
        combines = placement == "after" and attention is not None
        if not combines and (units is not None or input_feeding):
            raise ValueError(
                "`units` and `input_feeding` belong to an attention with "
                "placement='after': else the output of the cell is the "
                f"output. Received: units={units}, "
                f"input_feeding={input_feeding}, placement={placement!r}, "
                f"attention={attention!r}"
            )
        self.cell = cell
        self.attention = None
        if attention is not None:
            self.attention = get_attention(
                attention, cell.output_size, self.dtype_policy
            )
        self.placement = placement
        if units is not None:
            units = positive_integer("units", units)
        self.units = units
        self.input_feeding = input_feeding
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.output_size = cell.output_size if units is None else units

    @property
    def loops_over_attention(self):
        """Whether a step needs the attention of the step before it."""
        if self.attention is None:
            return False
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
        width = inputs_shape[-1]
        if self.attention is not None:
            context_dim = self._build_attention(output_size, memory_shape)
            if self.placement == "before":
                width += context_dim
            elif self.input_feeding:
                width += self.output_size
        if not self.cell.built:
            self.cell.build((None, width))
            self.cell.built = True
        self.cell_input_size = width
        if self.attention is not None and self.placement == "after":
            self.kernel = self.add_weight(
                shape=(context_dim + output_size, self.output_size),
                initializer=self.kernel_initializer,
                name="kernel",
            )

    def _build_attention(self, query_dim, memory_shape):
        """Builds the mechanism; returns the width of its context."""
        if not self.attention.built:
            self.attention.build((None, None, query_dim), memory_shape)
            self.attention.built = True
        self._check_widths(query_dim, memory_shape[-1])
        return self.attention.context_dim(memory_shape[-1])

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
        if self.attention is None:
            return memory[..., :0], memory[..., :0]
        return self.attention.project(memory)

    def attend(self, query, projected, memory_mask=None):
        """One query a sentence: `(batch, dim)` -> context, weights."""
        context, weights = self.attention.attend(
            ops.expand_dims(query, 1), projected, memory_mask
        )
        return ops.squeeze(context, 1), ops.squeeze(weights, 1)

    def look(self, outputs, projected, memory_mask=None):
        """What stands behind the cell, for outputs of any number of steps.

        Args:
            outputs: Tensor of shape `(batch, steps, dim)`.
            projected: What `project` returned.
            memory_mask: Boolean tensor of shape `(batch, places)`, or `None`.

        Returns:
            `h~` of shape `(batch, steps, output_size)`, and the attention
            weights of shape `(batch, steps, places)`.
        """
        if self.attention is None:
            _, values = projected
            shape = (*ops.shape(outputs)[:2], ops.shape(values)[-2])
            return outputs, ops.zeros(shape)
        context, weights = self.attention.attend(
            outputs, projected, memory_mask
        )
        return self.combine(context, outputs), weights

    def combine(self, context, output):
        """h~ = tanh(W_c [c; h]) over any leading axes."""
        joined = ops.concatenate([context, output], axis=-1)
        return ops.tanh(over_last(self.kernel, joined))

    # Keras fills in the mask of an argument by its name, from tensors alone:
    # what was projected must not be called `memory` beside `memory_mask`.
    def call(self, inputs, states, projected, memory_mask=None, training=False):
        if self.attention is not None and self.placement == "before":
            query = cells.last_output(self.cell, states)
            context, weights = self.attend(query, projected, memory_mask)
            inputs = ops.concatenate([inputs, context], axis=-1)
            output, states = cells.step(self.cell, inputs, states, training)
            return output, states, weights
        if self.input_feeding:
            fed, states = states
            inputs = ops.concatenate([inputs, fed], axis=-1)
        output, states = cells.step(self.cell, inputs, states, training)
        output, weights = (
            ops.squeeze(x, 1)
            for x in self.look(
                ops.expand_dims(output, 1), projected, memory_mask
            )
        )
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
