"""The score of dot-product attention."""

from keras import ops


def dot_score(query, keys):
    """Returns `q . k` for each query and position.

    Args:
        query: Tensor of shape `(..., queries, dim)`.
        keys: Tensor of shape `(..., positions, dim)`.

    Returns:
        Tensor of shape `(..., queries, positions)`.
    """
    return ops.matmul(query, ops.swapaxes(keys, -1, -2))
