"""The replicas of a model: the sums over them, and the share of each."""

from typing import Any

import keras

from kerasrnn.typing import Batches
from kerasrnn.typing import Nest
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

    A loss that is a mean over tokens calls it for the sum of the terms and for
    their number. The loss is then the mean over the whole batch. So is its
    gradient, because Keras divides the loss by the number of replicas and sums
    their gradients.

    Args:
        x: Float tensor. It must have the same shape in all replicas.

    Returns:
        A tensor of that shape: `x` itself on other backends, and with a single
        replica.

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


def shared_batches(batches: Batches, strategy: Any) -> Any:
    """Divides the rows of every batch among the replicas of a strategy.

    The first replica gets the first rows. The shares differ by one row at
    most; a batch with fewer rows than there are replicas leaves some of them
    without any. Every worker reads all batches, in the same order, and keeps
    its share.

    Args:
        batches: `tf.data.Dataset`, whose tensors have the rows of a batch
            along their first axis.
        strategy: A `tf.distribute.Strategy`.

    Returns:
        A distributed dataset, for `Model.fit` of a model that was created in
        the scope of the strategy; `batches` if it has a single replica.

    Raises:
        ValueError: when `batches` is something else, such as arrays.

    Example:

    >>> import tensorflow as tf
    >>> batches = tf.data.Dataset.range(6).batch(4)
    >>> strategy = tf.distribute.get_strategy()
    >>> [batch.shape[0] for batch in shared_batches(batches, strategy)]
    [4, 2]
    """
    count = strategy.num_replicas_in_sync
    if count == 1:
        return batches
    import tensorflow as tf

    _check_dataset(batches)

    def of_this_worker(context):
        local = count // context.num_input_pipelines
        first = local * context.input_pipeline_id
        indices = tf.data.Dataset.range(first, first + local)

        def shares(*batch):
            return indices.map(lambda index: share(batch, index, count))

        return batches.flat_map(shares).prefetch(2 * local)

    return strategy.distribute_datasets_from_function(of_this_worker)


def _check_dataset(batches):
    """Raises `ValueError` unless batches can be shared among replicas."""
    import tensorflow as tf

    if not isinstance(batches, tf.data.Dataset):
        raise ValueError(
            "Several devices train on a `tf.data.Dataset` only. "
            f"Received: batches of type {type(batches).__name__}"
        )


def fit_arguments(
    model: keras.Model, batches: Any, validation_data: Any
) -> dict[str, Any]:
    """Returns the arguments of `model.fit` for the data of all replicas.

    If the model has several, its optimizer is prepared for them, too.

    Args:
        model: A compiled `keras.Model`.
        batches: `tf.data.Dataset` without end, for several replicas;
            otherwise whatever `fit` takes.
        validation_data: `tf.data.Dataset` of known length, for several
            replicas; otherwise whatever `fit` takes.

    Raises:
        ValueError: when there are several replicas, and one of the two is
            something else.
    """
    strategy = strategy_of(model)
    if strategy is None:
        return {"x": batches, "validation_data": validation_data}
    _check_dataset(batches)
    if validation_data is not None:
        _check_dataset(validation_data)
    reduce_before_clipping(model.optimizer)
    build_for_shares(model, batches, strategy)
    arguments = {"x": shared_batches(batches, strategy)}
    if validation_data is not None:
        # At the end of a dataset, Keras would count one more batch.
        arguments["validation_steps"] = len(validation_data)
        arguments["validation_data"] = shared_batches(
            validation_data.repeat(), strategy
        )
    return arguments


def build_for_shares(
    model: keras.Model, batches: Batches, strategy: Any
) -> None:
    """Builds metrics and loss of a model without drawing a batch.

    Under a strategy, `fit` would draw one to learn its shapes, and then start
    anew: the batches of a dataset that is shuffled each time would come in
    another order than on one device.

    Args:
        model: A compiled `keras.Model`.
        batches: `tf.data.Dataset`.
        strategy: A `tf.distribute.Strategy`.
    """
    count = strategy.num_replicas_in_sync
    shares = batches.map(lambda *batch: share(batch, 0, count))
    with strategy.scope():
        model._symbolic_build(data_batch=shares.element_spec)
    model._maybe_symbolic_build = lambda **_: None


def share(batch: Nest, index: int | Any, count: int) -> Nest:
    """Returns the rows of a batch that one replica trains on.

    Args:
        batch: Nest of tensors of shape `(rows, ...)`.
        index: Integer, the number of the replica, from 0 on.
        count: Positive integer, how many replicas there are.
    """
    import tensorflow as tf

    index = tf.cast(index, tf.int32)

    def rows(x):
        whole, size = x.shape[0], tf.shape(x)[0]
        # Rounded up, so that the first replicas have rows if any has.
        start, end = (-(-i * size // count) for i in (index, index + 1))
        x = x[start:end]
        if whole is not None and whole % count == 0:
            x = tf.ensure_shape(x, (whole // count, *x.shape[1:]))
        return x

    return tf.nest.map_structure(rows, batch)
