"""The layer that runs a `SelfAttentionCell` over a sequence."""

from typing import Unpack

import keras

from kerasrnn.layers.attention.self_attention_cell import SelfAttentionCell
from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.typing import LayerOptions


@keras.saving.register_keras_serializable("kerasrnn")
class SelfAttentionRNN(FastRNN):
    """Runs a `SelfAttentionCell` over a sequence, faster than `RNN`.

    It computes what `keras.layers.RNN` computes with such a cell. With the
    attention after the cell, the cell does not depend on it: the cell runs
    first, as in `FastRNN`, then all steps attend at once. With the attention
    before the cell, or with `unroll`, both run in the loop of
    `keras.layers.RNN`.

    Args:
        cell: A `SelfAttentionCell`.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the final states of the one
            before.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0 instead
            of the previous output.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as of
            every Keras layer.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional list of the states of the cell.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout of the cell).

    Returns:
        The outputs of shape `(batch, time, output_size)` with
        `return_sequences`, otherwise the last one, `(batch, output_size)`;
        with `return_state` followed by the last states.

    Masking: a masked step leaves the states as they are, so it does not enter
    the window. It repeats the output before it, or gives 0 with
    `zero_output_for_mask`.

    Raises:
        ValueError: when `cell` is not a `SelfAttentionCell`.

    Example:

    >>> cell = SelfAttentionCell(GAMRHNCell(8, 2, 6, 3, 4), "dot", window=3)
    >>> SelfAttentionRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Daniluk et al., 2017](https://arxiv.org/abs/1702.04521).
    """

    def __init__(
        self,
        cell: SelfAttentionCell,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        if not isinstance(cell, SelfAttentionCell):
            raise ValueError(
                "SelfAttentionRNN expects `cell` to be a SelfAttentionCell, "
                "such as `SelfAttentionCell(GRUCell(256), 'additive')`. "
                f"Received: cell={cell!r}"
            )
        super().__init__(
            cell,
            return_sequences,
            return_state,
            go_backwards,
            stateful,
            unroll,
            zero_output_for_mask,
            **kwargs,
        )
