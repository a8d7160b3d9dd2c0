"""What the attention mechanisms share: scores, weights, context."""

import keras
from keras import ops


def masked_softmax(scores, mask=None):
    """Softmax over the last axis that never looks at a masked place.

    Args:
        scores: Tensor of shape `(..., places)`.
        mask: Optional boolean tensor that broadcasts against `scores`,
            `True` where a place may be attended to.

    Returns:
        Weights of the shape of `scores`, in float32 or wider: exactly 0
        wherever `mask` is `False`, and all 0 (never NaN) where nothing is
        left to attend to.
    """
    scores = ops.cast(
        scores, keras.backend.result_type(scores.dtype, "float32")
    )
    if mask is not None:
        scores = ops.where(mask, scores, -1e9)
    # Written out: `keras.ops.softmax` warns of a memory of one place.
    greatest = ops.stop_gradient(ops.max(scores, axis=-1, keepdims=True))
    weights = ops.exp(scores - greatest)
    if mask is not None:
        weights *= ops.cast(mask, weights.dtype)
    total = ops.sum(weights, axis=-1, keepdims=True)
    # The greatest is 1, so a smaller total means that nothing was left.
    return weights / ops.maximum(total, 0.5)


def over_last(project, x):
    """Projects the last axis, as one product of two matrices.

    On tensors of more axes it would go through TensorFlow's `tensordot`: a
    decoding step has hardly more to do than that, and XLA refuses it in a
    loop.

    Args:
        project: Function of a tensor of shape `(rows, dim)`, or a matrix to
            multiply by.
        x: Tensor of shape `(..., dim)`.

    Returns:
        Tensor of shape `(..., width)`.
    """
    flat = ops.reshape(x, (-1, x.shape[-1]))
    flat = project(flat) if callable(project) else ops.matmul(flat, project)
    return ops.reshape(flat, (*ops.shape(x)[:-1], flat.shape[-1]))


class AttentionMechanism(keras.layers.Layer):
    """Base of the attention mechanisms: scores, weights, context.

    For a query `q` and a memory whose places have keys `k_i` and values `v_i`:

        alpha = softmax_i(score(q, k_i))       over the unmasked places
        context = sum_i alpha_i v_i

    A mechanism overrides `score`, and `project` where keys or values are not
    the memory itself. `project` depends on the memory alone: call it once for
    a memory and pass its result to `attend` at every step. Calling the layer
    does both.

    Args:
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`.
        memory: Tensor of shape `(batch, places, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`,
            `True` at the places that may be attended to.

    Returns:
        A tuple `(context, weights)` of shapes `(batch, queries, context_dim)`
        and `(batch, queries, places)`.

    Masking: a masked place has weight exactly 0, and a memory that is wholly
    masked gives a context of 0.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    # Without one Keras writes plain arguments only, and a dtype policy is none.
    def get_config(self):
        return super().get_config()

    def project(self, memory):
        """Returns `(keys, values)` of a memory `(batch, places, dim)`."""
        return memory, memory

    def score(self, query, keys):
        """Returns the scores, of shape `(batch, queries, places)`."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `score(query, keys)`."
        )

    def attend(self, query, projected, memory_mask=None):
        """Attends to a memory that went through `project` before.

        Args:
            query: Tensor of shape `(batch, queries, query_dim)`.
            projected: What `project` returned.
            memory_mask: Boolean tensor of shape `(batch, places)`, or `None`.

        Returns:
            `(context, weights)`, as the layer itself does.
        """
        keys, values = projected
        if memory_mask is not None:
            memory_mask = ops.expand_dims(memory_mask, 1)
        weights = masked_softmax(self.score(query, keys), memory_mask)
        return ops.matmul(ops.cast(weights, values.dtype), values), weights

    def call(self, query, memory, memory_mask=None):
        return self.attend(query, self.project(memory), memory_mask)

    def projected_shapes(self, query_dim, memory_dim):
        """Shapes of one place of the keys and of the values.

        What stands before the last axis stands before the places as well:
        `(heads, dim)` for keys of shape `(batch, heads, places, dim)`.
        """
        return (memory_dim,), (memory_dim,)

    def context_dim(self, memory_dim):
        """Width of the context that a memory of width `memory_dim` gives."""
        return memory_dim
