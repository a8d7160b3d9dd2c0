"""Sums over the replicas of a model: of a tensor, and of gradients."""

from typing import Any

import keras

from kerasrnn.typing import Tensor


def strategy_of(model: keras.Model) -> Any:
    """Returns the strategy that a model is trained by.

    Args:
        model: A `keras.Model`.

    Returns:
        A `tf.distribute.Strategy` of several replicas, or `None`.
    """
    strategy = getattr(model, "distribute_strategy", None)
    several = strategy is not None and strategy.num_replicas_in_sync > 1
    return strategy if several else None


def replica_count(model: keras.Model) -> int:
    """Returns by how many replicas a model is trained, 1 without a strategy.

    Args:
        model: A `keras.Model`.
    """
    strategy = strategy_of(model)
    return 1 if strategy is None else strategy.num_replicas_in_sync


def sum_over_replicas(x: Tensor) -> Tensor:
    """Sums a tensor over the replicas of `tf.distribute`, on all workers.

    A loss that is a mean over tokens calls it on the sum of its terms and on
    their number. As Keras divides the loss by the number of replicas and then
    sums their gradients, it is then the mean over the whole batch, and so are
    the gradients.

    Args:
        x: Float tensor. Replicas must have the same shape.

    Returns:
        A tensor of that shape: `x` itself on other backends, and where there
        is one replica only.

    Example:

    >>> float(sum_over_replicas(ops.ones(())))
    1.0
    """
    context = _replica_context()
    return x if context is None else context.all_reduce("sum", x)


def share_of_added_loss(loss: Tensor) -> Tensor:
    """Prepares a loss that a model adds to its own by `add_loss`.

    The replicas of a process keep what they add in one list, and each of them
    takes the sum of it. So each adds its part of the value, but the gradient
    of all: a replica has no gradient of what another one has added.

    Args:
        loss: Float tensor of shape `()`, equal in all replicas, as
            `sum_over_replicas` makes it.
    """
    context = _replica_context()
    if context is None:
        return loss
    count = len(context.strategy.extended.worker_devices)
    return loss - (1 - 1 / count) * keras.ops.stop_gradient(loss)


def reduce_before_clipping(optimizer: keras.optimizers.Optimizer) -> None:
    """Lets an optimizer sum the gradients of all replicas before it clips.

    Keras clips the gradients of each replica, and then sums them: the norm of
    a sum is not the sum of the norms. Calling it again changes nothing.

    Args:
        optimizer: A Keras optimizer, whose gradients are then clipped as by
            a single device.
    """
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    if "_all_reduce_sum_gradients" in vars(optimizer):
        return
    clip = optimizer._clip_gradients

    def reduce_and_clip(gradients):
        context = _replica_context()
        if context is not None:
            gradients = context.all_reduce("sum", list(gradients))
        return clip(gradients)

    optimizer._clip_gradients = reduce_and_clip
    # What Keras would call after it has clipped.
    optimizer._all_reduce_sum_gradients = list


def _replica_context():
    """The context of one replica among several; otherwise `None`."""
    if keras.backend.backend() != "tensorflow":
        return None
    import tensorflow as tf

    context = tf.distribute.get_replica_context()
    several = context is not None and context.num_replicas_in_sync > 1
    return context if several else None
