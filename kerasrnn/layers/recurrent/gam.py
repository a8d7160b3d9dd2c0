"""Grouped auxiliary memory."""

from typing import Any

import keras

from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.grouped_memory_cell import GroupedMemoryCell
from kerasrnn.typing import Nest
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


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

    `W_k`, `W_a`, `W_r`, `W_m` and `W_a'` are `head_kernel`, `write_kernel`,
    `reset_kernel`, `candidate_kernel` and `read_kernel[0]`; the rows of `W_k`,
    `W_r` and `W_m` are those of x, then of s. The state `m` is flat, group by
    group. With `layer_norm` the products of `r` and of `c` are normalized.

    Args:
        num_groups: Positive integer N, also the width of the output.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the head `k`.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        **kwargs: Further arguments of `RecurrentCell`. Those of `kernel_*` are
            of all kernels; those of `recurrent_*` have no effect.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[s, m]` of shapes `(batch, num_groups)` and
            `(batch, num_groups * group_size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, num_groups)`, and the new states.

    Raises:
        ValueError: when a size is not a positive integer, or a rate is not
            in `[0, 1)`.

    Example:

    >>> cell = GAMCell(num_groups=8, group_size=3, head_units=4)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
    """

    def __init__(
        self, num_groups: int, group_size: int, head_units: int, **kwargs: Any
    ) -> None:
        super().__init__(
            units=num_groups,
            num_groups=num_groups,
            group_size=group_size,
            head_units=head_units,
            **kwargs,
        )

    def build(self, input_shape: Shape) -> None:
        self.build_memory(input_shape[-1], num_reads=1)

    def given(self, inputs: Tensor) -> Nest:
        return self.given_memory(inputs)

    def step(self, states: States, given: Nest, product: Product) -> States:
        s, memory = states
        products = product(s, given["of_s"], drop=True)
        k, memory = self.write(products, s, memory, given, product)
        return [self.read(k, memory, 0, given, product), memory]


@keras.saving.register_keras_serializable("kerasrnn")
class GAM(CellLayer):
    """A grouped auxiliary memory layer.

    Example:

    >>> layer = GAM(8, group_size=3, head_units=4, return_sequences=True)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
    """

    cell_class = GAMCell
