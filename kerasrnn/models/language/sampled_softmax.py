"""A softmax over the right word and a sample of others."""

import math

import keras
from keras import ops

from kerasrnn.models.token_output import TokenOutput
from kerasrnn.typing import Tensor

_NEVER = -1e9


def sampled_logits(
    output: TokenOutput,
    outputs: Tensor,
    words: Tensor,
    count: int,
    seed: keras.random.SeedGenerator,
) -> Tensor:
    """Scores the right word of each step, and words drawn for all steps.

    A word `v` of rank `r`, the most frequent one of rank 0, is drawn with the
    probability

        Q(v) = log((r + 2) / (r + 1)) / log(V + 1)

    by which natural vocabularies are distributed (Zipf). Its logit is lowered
    by `log(count Q(v))`, so that the sum of the exponentials of all draws is
    expected to be that of all words. With more and more draws, the
    cross-entropy becomes that of all words. A draw that is the right word of a
    step counts as nothing there.

    Args:
        output: A `TokenOutput` that is built. Its words are numbered by falling
            frequency, as those of the tokenizers of this package are.
        outputs: Tensor of shape `(batch, time, dim)`.
        words: Integer tensor of shape `(batch, time)`, the right words;
            negative ones are padding, scored as word 0.
        count: Positive integer, how many words are drawn.
        seed: A `SeedGenerator`.

    Returns:
        Float32 tensor of shape `(batch, time, 1 + count)`; the right word is
        the first.

    References:
        [Bengio & Senécal, 2008](https://doi.org/10.1109/TNN.2007.912312) and
        [Jean et al., 2015](https://aclanthology.org/P15-1001).
    """
    size = output.vocabulary_size
    words = ops.maximum(ops.cast(words, "int32"), 0)
    uniform = keras.random.uniform((count,), seed=seed, dtype="float32")
    drawn = ops.cast(ops.exp(uniform * math.log(size + 1)), "int32") - 1
    drawn = ops.clip(drawn, 0, size - 1)
    outputs = output.projected(outputs)
    kernel, bias = output.select(ops.expand_dims(drawn, 0))
    others = ops.matmul(outputs, kernel[0]) + bias[0]
    rank = ops.cast(drawn, "float32")
    share = ops.log1p(1 / (rank + 1)) / math.log(size + 1)
    others = ops.cast(others, "float32") - ops.log(count * share)
    is_right = ops.equal(ops.expand_dims(words, -1), drawn)
    others = ops.where(is_right, _NEVER, others)
    right = output.scores_of(outputs, words)
    return ops.concatenate([ops.expand_dims(right, -1), others], axis=-1)
