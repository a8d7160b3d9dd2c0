"""The layer that runs an `AttentionCell` over a sequence."""

import keras
from keras import ops

from kerasrnn.layers import cells
from kerasrnn.layers.attention_cell import AttentionCell


@keras.saving.register_keras_serializable("kerasrnn")
class AttentionRNN(keras.layers.Layer):
    """Runs an `AttentionCell` over a sequence.

    Keys and values are projected once for the memory. Where no step needs
    the attention of the step before it (after the cell without input feeding,
    or no attention at all), only the cell loops, and all steps attend at once.

    Args:
        cell: An `AttentionCell`.
        return_state: Whether to return the final states as well.
        return_attention: Whether to return the attention weights as well.
        **kwargs: Base layer arguments, such as `name` and `dtype`, which is
            that of `cell` unless given.

    Call arguments:
        sequence: Tensor of shape `(batch, time, input_dim)`.
        memory: Tensor of shape `(batch, places, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`.
        initial_state: Optional states to start from, of the structure that
            `cell.get_initial_state` has; zeros without it.
        training: Whether to behave as in training (dropout of the cell).

    Returns:
        The outputs, of shape `(batch, time, output_size)`; with
        `return_state` or `return_attention` a tuple of the outputs, the
        states, and the weights of shape `(batch, time, places)`, each where
        asked for.

    Masking: a masked place of the memory has weight exactly 0. The sequence
    takes no mask: pad it on the right and mask the loss.

    Raises:
        ValueError: when `cell` is not an `AttentionCell`.

    Example:

    >>> cell = AttentionCell(keras.layers.LSTMCell(8), "additive")
    >>> layer = AttentionRNN(cell, return_attention=True)
    >>> outputs, weights = layer(np.ones((2, 4, 3)), np.ones((2, 5, 6)))
    >>> outputs.shape, weights.shape
    ((2, 4, 8), (2, 4, 5))

    References:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473),
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025).
    """

    def __init__(
        self, cell, return_state=False, return_attention=False, **kwargs
    ):
        kwargs.setdefault("dtype", cells.policy(cell))
        super().__init__(**kwargs)
        if not isinstance(cell, AttentionCell):
            raise ValueError(
                "AttentionRNN expects `cell` to be an AttentionCell, such as "
                "`AttentionCell(keras.layers.GRUCell(256), 'additive')`. "
                f"Received: cell={cell!r}"
            )
        self.cell = cell
        self.return_state = return_state
        self.return_attention = return_attention
        self.supports_masking = True
        self.supports_jit = cells.supports_jit(
            cell.cell, cell.loops_over_attention
        )

    def build(self, sequence_shape, memory_shape):
        if not self.cell.built:
            self.cell.build(sequence_shape, memory_shape)
            self.cell.built = True

    def call(
        self,
        sequence,
        memory,
        memory_mask=None,
        initial_state=None,
        training=False,
    ):
        if initial_state is None:
            batch_size = ops.shape(sequence)[0]
            initial_state = self.cell.get_initial_state(batch_size)
        initial_state = keras.tree.map_structure(
            lambda state: ops.cast(state, self.compute_dtype), initial_state
        )
        projected = self.cell.project(memory)
        if self.cell.loops_over_attention:
            run = self._attend_in_the_loop
        else:
            run = self._attend_at_once
        if training:
            self._draw_dropout_masks(sequence)
        outputs, states, weights = run(
            sequence, projected, memory_mask, initial_state, training
        )
        cells.drop_dropout_masks(self.cell.cell)
        results = [outputs]
        if self.return_state:
            results.append(states)
        if self.return_attention:
            results.append(weights)
        return tuple(results) if len(results) > 1 else outputs

    @property
    def weights_dtype(self):
        """Attention weights are float32 under mixed precision too."""
        return keras.backend.result_type(self.compute_dtype, "float32")

    def _draw_dropout_masks(self, sequence):
        shape = (ops.shape(sequence)[0], self.cell.cell_input_size)
        first = ops.zeros(shape, self.compute_dtype)
        cells.draw_dropout_masks(self.cell.cell, first)

    def _attend_in_the_loop(
        self, sequence, projected, memory_mask, states, training
    ):
        def step(carry, inputs):
            _, states, _ = carry
            carry = self.cell(
                inputs, states, projected, memory_mask, training=training
            )
            return carry, carry

        _, values = projected
        batch_size, places = ops.shape(values)[0], ops.shape(values)[-2]
        # `keras.ops.scan` wants each step's outputs to look like its carry,
        # so outputs and weights ride along in it, written and never read.
        output = ops.zeros(
            (batch_size, self.cell.output_size), self.compute_dtype
        )
        weights = ops.zeros((batch_size, places), self.weights_dtype)
        (_, states, _), (outputs, _, weights) = ops.scan(
            step, (output, states, weights), ops.swapaxes(sequence, 0, 1)
        )
        return ops.swapaxes(outputs, 0, 1), states, ops.swapaxes(weights, 0, 1)

    def _attend_at_once(
        self, sequence, projected, memory_mask, states, training
    ):
        outputs, states = cells.run(
            self.cell.cell, ops.swapaxes(sequence, 0, 1), states, training
        )
        outputs = ops.swapaxes(outputs, 0, 1)
        outputs, weights = self.cell.look(outputs, projected, memory_mask)
        return outputs, states, weights

    def get_config(self):
        return {
            **super().get_config(),
            "cell": keras.saving.serialize_keras_object(self.cell),
            "return_state": self.return_state,
            "return_attention": self.return_attention,
        }

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config["cell"])
        return cls(**{**config, "cell": cell})
