"""The sLSTM of the xLSTM."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import one_of
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.four_gates_cell import FourGatesCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Nest
from kerasrnn.typing import States

# The logarithm of a weight of 0.
_NEVER = -1e30


@keras.saving.register_keras_serializable("kerasrnn")
class SLSTMCell(FourGatesCell):
    """An LSTM cell with exponential gates (Beck et al. 2024).

        a_i, a_f, a_z, a_o = x W + h R + b
        log_f = log(sigmoid(a_f))     log_f = a_f with forget_gate="exp"
        m' = max(log_f + m, a_i)
        i = exp(a_i - m')             f = exp(log_f + m - m')
        c' = f * c + i * tanh(a_z)    n' = f * n + i
        h' = sigmoid(a_o) * c' / n'

    The stabilizer `m`, the log of the largest weight of any step in `c'`, keeps
    the exponentials in `[0, 1]`, and cancels out of `h'`. A unit that has seen
    nothing has `n = 0`; there `m` counts as minus infinity, as in the authors'
    code. So all states may start at 0, and `n` is 1 or more from the first
    step on. There is one head: `R` mixes all units.

    Args:
        activation: Activation of `a_z`.
        recurrent_activation: Activation of `a_o`.
        forget_gate: `"sigmoid"` or `"exp"`.
        unit_forget_bias: Whether the bias of `a_f` starts at 1, as in an LSTM
            of Keras. An exponential gate ignores it: it would start at `e`,
            and older steps would soon count more than newer ones.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h, c, n, m]`, each of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer, `forget_gate` is
            not one of the above, or a rate is not in `[0, 1)`.

    Example:

    >>> FastRNN(SLSTMCell(8), return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Beck et al., 2024](https://arxiv.org/abs/2405.04517).
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        forget_gate: str = "sigmoid",
        **kwargs: Any,
    ) -> None:
        super().__init__(units, activation, recurrent_activation, **kwargs)
        self.forget_gate = one_of(
            "forget_gate", forget_gate, ("sigmoid", "exp")
        )
        self.state_size = 4 * [self.units]

    @property
    def has_forget_bias(self) -> bool:
        return self.unit_forget_bias and self.forget_gate == "sigmoid"

    def step(self, states: States, given: Nest, product: Product) -> States:
        h, c, n, m = states
        a_i, a_f, a_z, a_o = self.gates(h, given, product)
        log_f = ops.log_sigmoid(a_f) if self.forget_gate == "sigmoid" else a_f
        kept = ops.where(n > 0, log_f + m, _NEVER)
        m = ops.maximum(kept, a_i)
        i, f = ops.exp(a_i - m), ops.exp(kept - m)
        c, n = f * c + i * self.activation(a_z), f * n + i
        return [self.recurrent_activation(a_o) * c / n, c, n, m]


@keras.saving.register_keras_serializable("kerasrnn")
class SLSTM(CellLayer):
    """An sLSTM layer.

    Example:

    >>> SLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Beck et al., 2024](https://arxiv.org/abs/2405.04517).
    """

    cell_class = SLSTMCell
