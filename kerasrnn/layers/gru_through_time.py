"""The loop of a gated recurrent unit, with its gradient by hand."""

from keras import ops

from kerasrnn.layers.through_time import bias_gradient
from kerasrnn.layers.through_time import join
from kerasrnn.layers.through_time import kernel_gradient
from kerasrnn.layers.through_time import product
from kerasrnn.layers.through_time import split_at
from kerasrnn.layers.through_time import times_transposed
from kerasrnn.layers.through_time import wide


class GRULoop:
    """The steps of `keras.layers.GRUCell`, forward and back; see `run_loop`.

    A step is given the input's share in the preactivations of `z, r, g`, with
    their biases, `(batch, 3 * units)`. The state is `h`.

    Args:
        weights: "kernel", the recurrent kernel, of shape
            `(units, 3 * units)` and in the dtype of the products, and
            perhaps "bias", of shape `(3 * units,)`, added to its products.
    """

    def __init__(self, weights):
        self.kernel = weights["kernel"]
        self.bias = weights.get("bias")

    def step(self, states, given):
        (h,) = states
        products = product(h, self.kernel)
        if self.bias is not None:
            products = products + self.bias
        z, r, recalled = ops.split(products, 3, axis=-1)
        given_z, given_r, given_g = ops.split(given, 3, axis=-1)
        z, r = ops.sigmoid(given_z + z), ops.sigmoid(given_r + r)
        g = ops.tanh(given_g + r * recalled)
        return (g + z * (h - g),), (h, z, r, recalled, g)

    def transpose(self):
        self.back = times_transposed(self.kernel)

    def for_back(self, saved):
        """What takes the gradient of h to the products, and to h before."""
        h, z, r, recalled, g = saved
        slope_of_g = (1 - z) * (1 - g * g)
        slopes = join(
            (h - g) * z * (1 - z),
            slope_of_g * recalled * r * (1 - r),
            slope_of_g * r,
            slope_of_g,
        )
        return slopes, z

    def step_back(self, grads, slopes):
        (grad_h,) = grads
        slopes, z = slopes
        emitted = ops.cast(ops.tile(grad_h, (1, 4)) * slopes, self.kernel.dtype)
        recurrent, _ = split_at(emitted, 3 * z.shape[-1])
        return (grad_h * z + wide(self.back(recurrent)),), emitted

    def gradients(self, saved, emitted):
        h, *_ = saved
        units = h.shape[-1]
        recurrent, of_g = split_at(emitted, 3 * units)
        gates, _ = split_at(recurrent, 2 * units)
        return wide(join(gates, of_g)), {
            "kernel": kernel_gradient(h, recurrent),
            "bias": bias_gradient(recurrent),
        }
