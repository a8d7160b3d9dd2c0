"""A loss that asks for words similar to the true one, too."""

import math

from keras import ops

from kerasrnn.arguments import number
from kerasrnn.distribute import sum_over_replicas


def check_augmented_loss(weight, temperature):
    """Checks the arguments of a model that uses an augmented loss.

    Raises:
        ValueError: when the weight is negative, the temperature is not
            positive, or one of them is infinite.
    """
    number("augmented_loss", weight, minimum=0)
    number("loss_temperature", temperature, above=0)


def check_labels(labels, embedding):
    """Checks that labels and embeddings suit an augmented loss.

    Raises:
        ValueError: when the labels are not ids, or the embeddings quantized.
    """
    if embedding.quantization_mode or len(labels.shape) != 2:
        raise ValueError(
            "The augmented loss needs labels of shape (batch, time) and "
            "embeddings that are not quantized. Received: labels of shape "
            f"{tuple(labels.shape)}, embeddings in "
            f"{embedding.quantization_mode or embedding.compute_dtype!r}"
        )


def augmented_loss(embeddings, words, logits, temperature, sample_weight=None):
    """The augmented loss of Inan et al. 2017.

    With `E` the embeddings of `V` words, `y` the true word, `z` the logits and
    `T` the temperature:

        q = softmax(E e_y / T)      p = softmax(z / T)
        loss = - T sum_v q_v log(V p_v)

    It is 0 for a uniform prediction. Similar words have similar embeddings, so
    each word also teaches the model about those that could stand in its place.
    `q` is taken as given: the loss does not change the embeddings through it.

    Args:
        embeddings: Tensor of shape `(vocabulary_size, dim)`, in the type of
            its products.
        words: Integer tensor of shape `(batch, time)`; negative is padding.
        logits: Tensor of shape `(batch, time, vocabulary_size)`.
        temperature: Positive float.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            by which the losses of the words are multiplied.

    Returns:
        A float32 scalar, the mean over the words that are not padding, with
        several replicas over those of all.
    """
    embeddings = ops.stop_gradient(ops.convert_to_tensor(embeddings))
    true = ops.take(embeddings, ops.maximum(words, 0), axis=0) / temperature
    true = ops.reshape(true, (-1, embeddings.shape[-1]))
    similarities = ops.matmul(true, ops.transpose(embeddings))
    size = logits.shape[-1]
    losses = ops.categorical_crossentropy(
        ops.softmax(ops.cast(similarities, "float32")),
        ops.cast(ops.reshape(logits, (-1, size)), "float32") / temperature,
        from_logits=True,
    )
    losses = temperature * (losses - math.log(size))
    losses = ops.reshape(losses, ops.shape(words))
    # `where`, not a product with 0: logits of padding may be infinite.
    losses = ops.where(words >= 0, losses, 0.0)
    if sample_weight is not None:
        weights = ops.cast(sample_weight, losses.dtype)
        losses = losses * ops.reshape(weights, (ops.shape(words)[0], -1))
    count = sum_over_replicas(ops.sum(ops.cast(words >= 0, losses.dtype)))
    return sum_over_replicas(ops.sum(losses)) / ops.maximum(count, 1.0)
