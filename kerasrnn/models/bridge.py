"""Initial states of a decoder, from the final states of an encoder."""

from collections.abc import Sequence
from typing import Any
from typing import Literal

import keras

from kerasrnn.arguments import one_of
from kerasrnn.layers.loop.products import split_at
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.saving import Configured
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class Bridge(Configured, KeepsQuantization):
    """Initializes a decoder from the final states of an encoder.

        s_0 = tanh(W f + b)     "dense": for any two cells
        s_0 = f                 "copy": for states of equal widths

    Args:
        state_sizes: List of positive integers, the widths of the states of
            the decoder.
        kind: `"dense"` or `"copy"`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        final: Tensor of shape `(batch, final_dim)`, the final states of the
            encoder, concatenated.

    Returns:
        A list of tensors of shape `(batch, size)`, one for each state.

    Raises:
        ValueError: when `kind` is unknown, or states to copy have different
            widths.

    Example:

    >>> [state.shape for state in Bridge([8, 8])(np.ones((2, 10)))]
    [(2, 8), (2, 8)]

    Reference:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), appendix A.
    """

    def __init__(
        self,
        state_sizes: Sequence[int],
        kind: Literal["dense", "copy"] = "dense",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        one_of("bridge", kind, ("dense", "copy"))
        self.state_sizes = list(state_sizes)
        self.kind = kind
        self.dense = (
            keras.layers.Dense(
                sum(self.state_sizes),
                activation="tanh",
                dtype=self.dtype_policy,
                name="dense",
            )
            if kind == "dense"
            else None
        )

    def build(self, final_shape: Shape) -> None:
        if self.dense is not None:
            self.dense.build(final_shape)

    def call(self, final: Tensor) -> States:
        states = final if self.dense is None else self.dense(final)
        *widths, _ = self.state_sizes
        return split_at(states, *widths) if widths else [states]
