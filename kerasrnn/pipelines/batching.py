"""Concurrent calls of a function, computed together."""

import tensorflow as tf

from kerasrnn.pipelines.served_ids import graph_function


def batched(function, max_batch_size, threads=2):
    """Lets concurrent calls share one computation, inside the graph.

    While a batch is computed, the calls that arrive wait for the next one, so
    a call that is alone does not wait.

    Args:
        function: A `tf.function` of one tensor of shape `(batch,)` that
            returns a dictionary of tensors of shape `(batch, ...)`.
        max_batch_size: Positive integer, the maximum number of rows that are
            computed at once; a call with more is computed by itself.
        threads: Positive integer, the maximum number of batches that are
            computed at the same time.

    Returns:
        A `tf.function` with the same argument and results.
    """
    concrete = function.get_concrete_function()
    outputs = concrete.structured_outputs
    [spec] = tf.nest.flatten(concrete.structured_input_signature)

    @tf.nondifferentiable_batch_function(
        num_batch_threads=threads,
        max_batch_size=max_batch_size,
        batch_timeout_micros=0,
        max_enqueued_batches=1000,
    )
    def compute_together(rows):
        return compute(rows)

    def compute(rows):
        found = function(rows)
        return [found[name] for name in outputs]

    def call(rows):
        size = tf.shape(rows)[0]
        found = tf.cond(
            (size > 0) & (size <= max_batch_size),
            lambda: compute_together(rows),
            lambda: compute(rows),
        )
        return {
            name: tf.ensure_shape(x, outputs[name].shape)
            for name, x in zip(outputs, found, strict=True)
        }

    return graph_function(call, spec)
