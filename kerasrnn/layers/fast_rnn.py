"""The layers that run a cell of this package over a whole sequence, fast."""

import keras
from keras import ops

from kerasrnn.layers.through_time import product
from kerasrnn.layers.through_time import wide

_RNN_ARGUMENTS = (
    "return_sequences",
    "return_state",
    "go_backwards",
    "stateful",
    "unroll",
    "zero_output_for_mask",
)
_LAYER_ARGUMENTS = (
    "name",
    "trainable",
    "activity_regularizer",
    "input_shape",
    "batch_shape",
)


class FastRNN(keras.layers.RNN):
    """Base of the layers that compute what `RNN(cell)` does, faster.

    A cell that can run over a sequence at once has `can_run_at_once` and

        run(sequence, states, mask, training) -> (outputs, states)

    where the sequence is `(time, batch, input_dim)`, the mask
    `(time, batch, 1)` or `None`. Where it cannot, with options that it says,
    or where a loop is to be unrolled, the layer is `keras.layers.RNN`.

    Before the first step that counts, the output is the state that the layer
    starts from. On TensorFlow `keras.layers.RNN` has 0 there, which differs
    only where it is given states.
    """

    cell_class = None

    def __init__(self, *args, **kwargs):
        ours = {
            name: kwargs.pop(name)
            for name in (*_RNN_ARGUMENTS, *_LAYER_ARGUMENTS)
            if name in kwargs
        }
        cell = self.cell_class(*args, **kwargs)
        super().__init__(cell, dtype=cell.dtype_policy, **ours)

    def inner_loop(self, sequences, initial_state, mask, training=False):
        if self.unroll or not self.cell.can_run_at_once:
            return super().inner_loop(sequences, initial_state, mask, training)
        sequence = ops.swapaxes(sequences, 0, 1)
        states = keras.tree.map_structure(wide, initial_state)
        if mask is not None:
            mask = ops.cast(ops.swapaxes(mask, 0, 1), states[0].dtype)
            mask = ops.expand_dims(mask, -1)
        if self.go_backwards:
            sequence = ops.flip(sequence, axis=0)
            mask = None if mask is None else ops.flip(mask, axis=0)
        outputs, states = self.cell.run(sequence, states, mask, training)
        if mask is not None and self.zero_output_for_mask:
            outputs = outputs * mask
        return outputs[-1], ops.swapaxes(outputs, 0, 1), states

    def get_config(self):
        config = super().get_config()
        del config["cell"]
        return {**self.cell.get_config(), **config}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def input_products(cell, sequence, bias, training):
    """What the steps of a cell of Keras are given: the products of its input.

    Args:
        cell: The cell, with its `kernel` and its dropout of the input.
        sequence: Tensor of shape `(time, batch, input_dim)`.
        bias: Tensor of shape `(width,)` to add, or `None`.
        training: Whether to drop out.

    Returns:
        Tensor of shape `(time, batch, width)`, in float32 or wider.
    """
    if training and cell.dropout:
        sequence = sequence * cell.get_dropout_mask(sequence[0])
    products = product(sequence, ops.cast(cell.kernel, cell.compute_dtype))
    return products if bias is None else products + wide(bias)
