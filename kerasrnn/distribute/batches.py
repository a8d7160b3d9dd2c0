"""The share of every batch that a replica trains on."""

from typing import Any

import keras

from kerasrnn.distribute.replicas import reduce_before_clipping
from kerasrnn.distribute.replicas import strategy_of
from kerasrnn.typing import Batches
from kerasrnn.typing import Nest


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
