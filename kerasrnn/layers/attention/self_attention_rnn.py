"""The layer that runs a `SelfAttentionCell` over a sequence."""

from typing import Any

import keras

from kerasrnn.configured import constructor_parameters
from kerasrnn.documented import document
from kerasrnn.layers.attention.self_attention_cell import SelfAttentionCell
from kerasrnn.layers.recurrent.fast_rnn import FastRNN


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
        **kwargs: Further arguments of `FastRNN`.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional list of the states of the cell.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout of the cell).

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
        self, cell: SelfAttentionCell, *args: Any, **kwargs: Any
    ) -> None:
        if not isinstance(cell, SelfAttentionCell):
            raise ValueError(
                "SelfAttentionRNN expects `cell` to be a SelfAttentionCell, "
                "such as `SelfAttentionCell(GRUCell(256), 'additive')`. "
                f"Received: cell={cell!r}"
            )
        super().__init__(cell, *args, **kwargs)


document(
    SelfAttentionRNN,
    constructor_parameters(SelfAttentionRNN),
    FastRNN,
    sections=("Returns",),
)
