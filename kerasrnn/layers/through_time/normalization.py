"""From the products of a step to the preactivations of its gates, and back.

`Bias` adds biases; `GateNorm` normalizes first. A loop uses one of them.
"""

from keras import ops

from kerasrnn.layers.through_time.products import bias_gradient
from kerasrnn.layers.through_time.products import normalized
from kerasrnn.layers.through_time.products import normalized_back


def bias_or_norm(bias=None, gains=None):
    """Returns a `GateNorm` where there are gains, and otherwise a `Bias`."""
    return Bias(bias) if gains is None else GateNorm(gains, bias)


class Bias:
    """Makes preactivations from products, by adding biases.

    Args:
        bias: Tensor of shape `(gates * units,)`, or `None` if the products
            include it already.
    """

    def __init__(self, bias=None):
        self.bias = bias

    def forward(self, products):
        """Returns the preactivations, and what `back` needs."""
        return products if self.bias is None else products + self.bias, ()

    def back(self, grad, saved):
        """Computes the gradient of the products from the preactivations'.

        Returns:
            That gradient, and what `of_gates` needs of this step.
        """
        return grad, ()

    def of_gates(self, products, kept):
        """Returns the preactivations' gradients, from what `back` returned."""
        return products

    def gradients(self, saved, gates):
        """Returns the weights' gradients by name, from those of `of_gates`."""
        return {} if self.bias is None else {"bias": bias_gradient(gates)}


class GateNorm:
    """Makes preactivations from products: normalized, with gains and biases.

    Args:
        gains: Tensor of shape `(gates, units)`.
        bias: Tensor of shape `(gates * units,)`.
    """

    def __init__(self, gains, bias):
        self.gains = gains
        self.bias = bias
        self.gates, self.units = gains.shape

    def forward(self, products):
        """As `Bias.forward`."""
        normal, inverse = normalized(products, self.gates, self.units)
        gates = ops.reshape(normal * self.gains, ops.shape(products))
        return gates + self.bias, (normal, inverse)

    def back(self, grad, saved):
        """As `Bias.back`."""
        by_gate = ops.reshape(grad, (-1, self.gates, self.units))
        return normalized_back(by_gate * self.gains, *saved), grad

    def of_gates(self, products, kept):
        """As `Bias.of_gates`."""
        return kept

    def gradients(self, saved, gates):
        """As `Bias.gradients`."""
        normal, _ = saved
        gains = ops.reshape(gates, ops.shape(normal)) * normal
        return {
            "gains": ops.sum(gains, axis=(0, 1)),
            "bias": bias_gradient(gates),
        }
