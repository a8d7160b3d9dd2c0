"""Grouped auxiliary memory."""

from typing import Any

import keras

from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.grouped_memory_cell import GroupedMemoryCell
from kerasrnn.layers.through_time.gam import GAMLoop
from kerasrnn.typing import Initializer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout


@keras.saving.register_keras_serializable("kerasrnn")
class GAMCell(GroupedMemoryCell):
    """A grouped auxiliary memory as a cell (Luo & Yu 2019).

    The memory `m` has N groups of S slots. Each step writes to it and then
    reads it. With `s` the vector that the previous step read, and softmax_S
    over the slots of each group:

        k = W_k [x; s]                                         the head
        a = softmax_S(W_a k)
        r = sigmoid(W_r [x; s] + b_r)
        c = tanh(W_m [x; r * s] + b_m)                         N candidates
        m = (1 - a) * m + a * (c, repeated for the S slots)
        s = sum_S softmax_S(W_a' k + b_a') * m                 the output

    Args:
        num_groups: Positive integer N, also the width of the output.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the head `k`.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        bias_initializer: Initializer of the biases.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of `s` where it
            enters a matrix product. Both masks are the same at every step.
        layer_norm: Whether the products of `r` and of `c` are normalized
            over their units before the bias is added.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[s, m]` of shapes `(batch, num_groups)` and
            `(batch, num_groups * group_size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, num_groups)`, and the new states.

    Masking: `keras.layers.RNN` skips masked steps.

    Raises:
        ValueError: when a size is not a positive integer, or a rate is not
            in `[0, 1)`.

    Example:

    >>> cell = GAMCell(num_groups=8, group_size=3, head_units=4)
    >>> keras.layers.RNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
    """

    def __init__(
        self,
        num_groups: int,
        group_size: int,
        head_units: int,
        kernel_initializer: Initializer = "glorot_normal",
        bias_initializer: Initializer = "zeros",
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        layer_norm: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            num_groups,
            num_groups,
            group_size,
            head_units,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            layer_norm=layer_norm,
            seed=seed,
            **kwargs,
        )

    def build(self, input_shape: Shape) -> None:
        self.build_memory(input_shape[-1], num_reads=1)

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        state, memory = keras.tree.flatten(states)
        inputs = self.drop_input(inputs, training)
        state = self.drop_state(state, training)
        head, memory = self.write(inputs, state, memory)
        state = self.read(head, memory, index=0)
        return state, keras.tree.pack_sequence_as(states, [state, memory])

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
        zoneout: Zoneout = None,
    ) -> tuple[Tensor, States]:
        """Runs over a sequence `(time, batch, input_dim)`; see `FastRNN`."""
        return self.run_memory_loop(
            GAMLoop, sequence, states, mask, training, zoneout
        )


@keras.saving.register_keras_serializable("kerasrnn")
class GAM(CellLayer):
    """A fast grouped auxiliary memory layer.

    It computes what `keras.layers.RNN(GAMCell(...))` does, gradients
    included, at a fraction of the cost; see `RHN` for how. With `layer_norm`
    or `unroll` it uses the loop of `keras.layers.RNN`.

    Args:
        num_groups: Positive integer, groups of the memory and width of the
            output.
        group_size: Positive integer, slots in a group.
        head_units: Positive integer, width of the head.
        kernel_initializer: Initializer of each kernel.
        bias_initializer: Initializer of the biases.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of `s` where it
            enters a matrix product.
        layer_norm: Whether the products of `r` and of `c` are normalized
            over their units before the bias is added.
        seed: Optional integer, seed of dropout.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the last states of the one
            before.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional `[s, m]`, of shapes `(batch, num_groups)` and
            `(batch, num_groups * group_size)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, num_groups)` with
        `return_sequences`, otherwise the last one; with `return_state`
        followed by the last `s` and `m`.

    Masking: a masked step leaves the states as they are and repeats the
    output before it, or gives 0 with `zero_output_for_mask`.

    Raises:
        ValueError: as for `GAMCell`.

    Example:

    >>> layer = GAM(8, 3, 4, return_sequences=True)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, IEEE Access 7.
    """

    cell_class = GAMCell

    def __init__(
        self,
        num_groups: int,
        group_size: int,
        head_units: int,
        kernel_initializer: Initializer = "glorot_normal",
        bias_initializer: Initializer = "zeros",
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        layer_norm: bool = False,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            GAMCell(
                num_groups,
                group_size,
                head_units,
                kernel_initializer=kernel_initializer,
                bias_initializer=bias_initializer,
                dropout=dropout,
                recurrent_dropout=recurrent_dropout,
                layer_norm=layer_norm,
                seed=seed,
                dtype=kwargs.get("dtype"),
            ),
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            zero_output_for_mask=zero_output_for_mask,
            **kwargs,
        )
