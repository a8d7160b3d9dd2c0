"""A model of polyphonic music."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.models.model import RecurrentModel
from kerasrnn.models.token_output import checked_counts
from kerasrnn.saving import build_once
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class PianoRollModel(RecurrentModel):
    """Predicts every step of a piano roll from the steps before it.

    It consists of recurrent layers and a sigmoid for each key. Given the past,
    the keys are independent of each other, as in Chung et al. 2014.

    Args:
        cell: A recurrent cell, such as `FastGRUCell(46)`, or one that attends
            to its past, such as `SelfAttentionCell(RHNCell(50), "additive")`.
            It is a template: every layer runs a copy of it with `FastRNN`,
            which is fast with the cells of this package.
        keys: Positive integer, the width of a roll.
        depth: Positive integer, number of layers.
        dropout: Rate of the variational dropout (Gal & Ghahramani 2016) of the
            input, between layers and before the output: one mask for all steps
            of a batch. Dropout of the recurrent state is an argument of the
            cell.
        **kwargs: Base model arguments, such as `name` and `dtype`; the cell
            keeps its own dtype.

    Call arguments:
        inputs: Tensor of shape `(batch, time, keys)`, 1 where a key sounds: the
            roll to predict, delayed by one step.
        training: Whether to behave as in training (dropout).

    Returns:
        Logits of shape `(batch, time, keys)`.

    Masking: padding on the right affects no step before it; mask it in the
    loss.

    Raises:
        ValueError: when a size is not positive, a rate not in `[0, 1)`, or
            `cell` is not a recurrent cell.

    Example:

    >>> model = PianoRollModel(FastGRUCell(46))
    >>> model(np.zeros((2, 7, 88))).shape
    (2, 7, 88)
    >>> model.count_params()
    22904

    References:
        [Boulanger-Lewandowski et al., 2012](https://arxiv.org/abs/1206.6392),
        [Chung et al., 2014](https://arxiv.org/abs/1412.3555).
    """

    axes_of_ids = None

    def __init__(
        self,
        cell: keras.layers.Layer,
        keys: int = 88,
        depth: int = 1,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keys = positive_integer("keys", keys)
        self.add_rnns(cell, depth, dropout)
        # Few keys sound at once. If the untrained model expected half of them,
        # the first updates would drive the states into saturation.
        self.output_projection = keras.layers.Dense(
            self.keys,
            bias_initializer=keras.initializers.Constant(-3.0),
            dtype=self.dtype_policy,
            name="output",
        )

    def build(self, input_shape: Shape | None = None) -> None:
        self.stack.build((None, None, self.keys))
        self.output_projection.build((None, None, self.stack.output_size))

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        return self.run(
            inputs, self.initial_states(ops.shape(inputs)[0]), training
        )[0]

    def assign_frequencies(self, counts: Tensor, steps: int) -> None:
        """Sets the bias to the log-odds that a key sounds in a step.

        The untrained model then predicts each key with its frequency, not all
        keys with the same probability; see `TokenOutput.assign_frequencies` for
        the advantage.

        Args:
            counts: Array-like of shape `(keys,)`: the number of steps of the
                training pieces in which each key sounds. For the odds, one step
                with and one step without each key are added.
            steps: Positive integer, the number of steps of these pieces.

        Raises:
            ValueError: when the shape differs, or a count is not between 0 and
                `steps`.
        """
        counts = checked_counts(counts, self.keys, steps)
        build_once(self)
        self.output_projection.bias.assign(
            ops.log(counts + 1) - ops.log(steps - counts + 1)
        )
