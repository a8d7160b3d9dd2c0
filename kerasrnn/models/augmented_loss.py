"""A loss that asks for words similar to the true one, too."""

from keras import ops

from kerasrnn.distribute import sum_over_replicas


def augmented_loss(embeddings, words, logits, temperature):
    """The augmented loss of Inan et al. 2017.

    With `E` the embeddings, `y` the true word, `z` the logits and `T` the
    temperature:

        q = softmax(E e_y / T)      loss = - T sum_v q_v log softmax(z / T)_v

    Similar words have similar embeddings, so each word also teaches the model
    about those that could stand in its place. `q` is taken as given: the loss
    does not change the embeddings through it.

    Args:
        embeddings: Tensor of shape `(vocabulary_size, dim)`, in the type of
            its products.
        words: Integer tensor of shape `(batch, time)`; negative is padding.
        logits: Tensor of shape `(batch, time, vocabulary_size)`.
        temperature: Positive float.

    Returns:
        A float32 scalar, the mean over the words that are no padding. Under
        `tf.distribute`, it is this replica's part of the mean over all.
    """
    words = ops.reshape(words, (-1,))
    real = ops.cast(words >= 0, "float32")
    embeddings = ops.stop_gradient(embeddings)
    true = ops.take(embeddings, ops.maximum(words, 0), axis=0)
    similarities = ops.matmul(true, ops.transpose(embeddings))
    logits = ops.reshape(logits, (-1, logits.shape[-1]))
    similarities, logits = (
        ops.cast(x, "float32") / temperature for x in (similarities, logits)
    )
    losses = temperature * ops.categorical_crossentropy(
        ops.softmax(similarities), logits, from_logits=True
    )
    count = sum_over_replicas(ops.sum(real))
    return ops.sum(losses * real) / ops.maximum(count, 1.0)
