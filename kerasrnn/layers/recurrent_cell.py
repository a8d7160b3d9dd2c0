"""What the recurrent cells of this package share.

Variational dropout, zoneout, layer normalization, states, and products that
run in the compute dtype. A cell names its states by `state_widths` and writes
its equations into `call`.
"""

import keras
from keras import ops

from kerasrnn.layers._keras import DropoutRNNCell
from kerasrnn.layers.arguments import rate

# The clock of zoneout starts over after this many steps: it has to count
# exactly in bfloat16, too.
_CLOCK_PERIOD = 256


class RecurrentCell(DropoutRNNCell, keras.layers.Layer):
    """Base of the recurrent cells.

    Args:
        dropout: Float in `[0, 1)`, rate of the dropout of the input.
        recurrent_dropout: Float in `[0, 1)`, rate of the dropout of the
            state where it enters a product; the state that is carried along
            is never dropped. Both are variational (Gal & Ghahramani 2016):
            one mask for all steps of a batch.
        zoneout: Float in `[0, 1)`: in training each unit of the state keeps
            its old value with this probability, anew at each step; in
            inference it moves by the expectation (Krueger et al. 2017). It
            adds a state of width 1, the clock that its noise is drawn by.
        layer_norm: Whether the preactivation of each gate is normalized over
            its units, before its bias (Ba et al. 2016).
        seed: Optional integer, seed of dropout and zoneout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.
    """

    def __init__(
        self,
        dropout=0.0,
        recurrent_dropout=0.0,
        zoneout=0.0,
        layer_norm=False,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.dropout = rate("dropout", dropout)
        self.recurrent_dropout = rate("recurrent_dropout", recurrent_dropout)
        self.zoneout = rate("zoneout", zoneout)
        self.layer_norm = layer_norm
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self._zoneout_seed = None

    @property
    def state_size(self):
        widths = [*self.state_widths, *([1] if self.zoneout else [])]
        return widths if len(widths) > 1 else widths[0]

    @property
    def clocks(self):
        """Which of the states, as a flat list, only count steps."""
        return [False] * len(self.state_widths) + [True] * bool(self.zoneout)

    def get_initial_state(self, batch_size=None):
        """Returns the states to start from: zeros."""
        return [
            ops.zeros((batch_size, width), self.compute_dtype)
            for width in keras.tree.flatten(self.state_size)
        ]

    # Weights are not cast on access: a product casts what it needs, and the
    # layers that run a whole sequence keep their state and biases in float32.
    def add_kernel(self, name, shape, initializer):
        return self.add_weight(
            shape=shape, initializer=initializer, name=name, autocast=False
        )

    def add_kernels(self, name, depth, shape, initializer):
        """Adds a kernel for each layer, and returns the list of them.

        One variable with all of them would be cheap to look at but, in a
        loop that is differentiated automatically, as dear as `depth` times
        its size at every micro-step.
        """
        return [
            self.add_kernel(
                f"{name}_{layer}",
                shape,
                initializer_of_layer(initializer, layer),
            )
            for layer in range(depth)
        ]

    def add_gains(self, name, *shape):
        """Adds gains of shape `(..., gates, units)`, if they are needed."""
        if not self.layer_norm:
            return None
        return self.add_kernel(name, shape, "ones")

    def product(self, inputs, kernel):
        """Returns the matrix product, in the compute dtype."""
        return ops.matmul(
            ops.cast(inputs, self.compute_dtype),
            ops.cast(kernel, self.compute_dtype),
        )

    def preactivation(self, products, bias, gains=None):
        """Adds the biases of one or several gates to their products.

        Args:
            products: Tensor of shape `(batch, gates * units)`.
            bias: Tensor of shape `(gates * units,)`.
            gains: Tensor of shape `(gates, units)`, what `add_gains` gave.
        """
        if gains is not None:
            shape = (-1, *gains.shape)
            gates = ops.cast(ops.reshape(products, shape), gains.dtype)
            mean, variance = ops.moments(gates, axes=-1, keepdims=True)
            gates = (gates - mean) * ops.rsqrt(variance + 1e-3) * gains
            gates = ops.reshape(gates, (-1, products.shape[-1]))
            products = ops.cast(gates, self.compute_dtype)
        return products + ops.cast(bias, products.dtype)

    def drop_input(self, inputs, training=False):
        """Applies the dropout of the input, for which the mask is kept."""
        mask = self.get_dropout_mask(inputs) if training else None
        return inputs if mask is None else inputs * mask

    def drop_state(self, state, training=False):
        """Applies the dropout of the state, for which the mask is kept."""
        mask = self.get_recurrent_dropout_mask(state) if training else None
        return state if mask is None else state * mask

    def loop_state_mask(self, states, training=False):
        """The mask of the state in its dtype, or `None`, for a whole loop."""
        mask = None
        if training:
            mask = self.get_recurrent_dropout_mask(states[0])
        return None if mask is None else ops.cast(mask, states[0].dtype)

    # `keras.layers.RNN` calls this once before its loop, and what resets it
    # once after it: here is the one place to draw noise.
    def get_recurrent_dropout_mask(self, step_input):
        if self.zoneout and self._zoneout_seed is None:
            self._zoneout_seed = self.seed_generator.next()
        return super().get_recurrent_dropout_mask(step_input)

    def reset_recurrent_dropout_mask(self):
        super().reset_recurrent_dropout_mask()
        self._zoneout_seed = None

    def zone_out(self, state, previous, clock, training=False):
        """Keeps some of the state of the step before.

        Args:
            state: Tensor of shape `(batch, units)`, the new state.
            previous: The state of the step before.
            clock: `[steps]` of shape `(batch, 1)`, or `[]` without zoneout.
            training: Whether to draw which units are kept.

        Returns:
            The state and the clock of this step.
        """
        if not self.zoneout:
            return state, clock
        (steps,) = clock
        if not training:
            return state + self.zoneout * (previous - state), clock
        self.get_recurrent_dropout_mask(previous)
        # A row that is masked stands still, but some row goes on.
        step = ops.sum(ops.cast(steps, "int32"))
        noise = keras.random.uniform(
            ops.shape(state), seed=_StepSeed(self._zoneout_seed, step)
        )
        state = ops.where(noise < self.zoneout, previous, state)
        return state, [(steps + 1) % _CLOCK_PERIOD]

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            "zoneout": self.zoneout,
            "layer_norm": self.layer_norm,
            "seed": self.seed,
        }


class _StepSeed(keras.random.SeedGenerator):
    """The seed of one step, from that of the sequence and its clock.

    A seed generator counts in a variable, which a loop may not assign on
    every backend.
    """

    def __init__(self, seed, step):
        self._seed = seed + ops.cast(step, seed.dtype)

    def next(self, ordered=True):
        return self._seed


def initializer_of_layer(initializer, layer):
    """Returns the initializer of one of several layers of a cell.

    An initializer draws the same values each time it is called, and so would
    one with a fixed seed after it was cloned.
    """
    config = initializer.get_config()
    if isinstance(config.get("seed"), int):
        config["seed"] += layer
    return type(initializer).from_config(config)
