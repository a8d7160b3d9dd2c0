"""The output layer of the models that predict tokens."""

import contextlib
import contextvars
import math
from collections.abc import Iterator
from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.saving import Configured
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

# Transposed kernels of tied outputs that many calls share, by layer.
_KERNELS: contextvars.ContextVar[dict[int, Tensor] | None] = (
    contextvars.ContextVar("kernels", default=None)
)


@keras.saving.register_keras_serializable("kerasrnn")
class TokenOutput(Configured, KeepsQuantization):
    """Computes logits over a vocabulary or a part of it.

        logits = W o + b        or tied to an embedding, E o + b

    Inputs whose width differs from `units` first pass a dense layer; if it
    differs from that of the tied embedding, they pass a linear projection. A
    tied output also has a bias, because an embedding does not tell how rare a
    word is. Set the bias with `assign_frequencies` before training.

    Args:
        vocabulary_size: Positive integer.
        units: Positive integer, width of the projection before the output;
            `None` for no projection, or for the width of `tied_to`.
        tied_to: A `TokenEmbedding` to share the weights of (Press & Wolf 2017);
            `None` for separate weights.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        outputs: Tensor of shape `(batch, time, dim)`.
        selected: The result of `select`, for the logits of these words only.

    Returns:
        Logits of shape `(batch, time, vocabulary_size)`, or
        `(batch, time, words)`.

    Example:

    >>> output = TokenOutput(30)
    >>> output(np.ones((2, 5, 8))).shape
    (2, 5, 30)
    >>> output(np.ones((2, 5, 8)), output.select([[3, 4], [3, 9]])).shape
    (2, 5, 2)

    Reference:
        [Press & Wolf, 2017](https://arxiv.org/abs/1608.05859).
    """

    def __init__(
        self,
        vocabulary_size: int,
        units: int | None = None,
        tied_to: TokenEmbedding | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.units = units
        self.tied_to = tied_to
        self.projection: keras.layers.Layer | None = None

    def build(self, outputs_shape: Shape) -> None:
        width, units = outputs_shape[-1], self.units
        if units is None and self.tied_to is not None:
            units = self.tied_to.output_dim
        if units not in (None, width):
            self.projection = keras.layers.Dense(
                units,
                use_bias=self.units is not None,
                dtype=self.dtype_policy,
                name="projection",
            )
            self.projection.build((None, width))
            width = units
        if self.tied_to is None:
            self.dense = keras.layers.Dense(
                self.vocabulary_size,
                use_bias=False,
                dtype=self.dtype_policy,
                name="dense",
            )
            self.dense.build((None, width))
        self.bias = self.add_weight(
            shape=(self.vocabulary_size,), initializer="zeros", name="bias"
        )

    def call(
        self, outputs: Tensor, selected: tuple[Tensor, ...] = ()
    ) -> Tensor:
        outputs = self.projected(outputs)
        if selected:
            kernel, bias = selected
            return ops.matmul(outputs, kernel) + ops.expand_dims(bias, 1)
        return ops.add(over_last(self._score, outputs), self.bias)

    def projected(self, outputs: Tensor) -> Tensor:
        """Projects outputs to the width of the word vectors."""
        return outputs if self.projection is None else self.projection(outputs)

    def _score(self, outputs):
        if self.tied_to is None:
            return self.dense(outputs)
        kernel = (_KERNELS.get() or {}).get(id(self))
        if kernel is not None:
            return ops.matmul(ops.cast(outputs, kernel.dtype), kernel)
        return self.tied_to(outputs, reverse=True)

    @contextlib.contextmanager
    def many_calls(self) -> Iterator[None]:
        """A scope in which a tied kernel is transposed once for all calls.

        A loop of steps in a graph must begin and end within it. For few rows,
        TensorFlow takes several times as long to transpose as to multiply.
        """
        kernels = {**(_KERNELS.get() or {})}
        if self.tied_to is not None and not self.tied_to.quantization_mode:
            kernel = ops.cast(self.tied_to.embeddings, self.compute_dtype)
            kernels[id(self)] = ops.transpose(kernel)
        token = _KERNELS.set(kernels)
        try:
            yield
        finally:
            _KERNELS.reset(token)

    def assign_frequencies(self, counts: Tensor) -> None:
        """Sets the bias to the logarithms of the tokens' relative frequencies.

        The untrained model then predicts each token with its frequency. With a
        bias of 0, a language model spends hundreds of steps on learning the
        frequencies, by large outputs. These saturate the states of the
        recurrent cell, which may stay saturated for an epoch.

        Args:
            counts: Array-like of shape `(vocabulary_size,)`: how often each
                token occurs in the training text. 1 is added to each count.

        Raises:
            ValueError: when the shape differs, or a count is negative.
        """
        smoothed = checked_counts(counts, self.vocabulary_size) + 1
        self.bias.assign(ops.log(smoothed / ops.sum(smoothed)))

    def scores_of(self, projected: Tensor, words: Tensor) -> Tensor:
        """Returns the logit of one word at each step.

        Args:
            projected: Tensor of shape `(batch, time, units)`, the result of
                `projected`.
            words: Integer tensor of shape `(batch, time)`.

        Returns:
            Tensor of shape `(batch, time)`.

        Raises:
            ValueError: when the weights are quantized.
        """
        kernel, bias = self.select(words)
        # In half precision, a sum of many products would lose digits.
        vectors = ops.cast(ops.swapaxes(kernel, 1, 2), "float32")
        products = vectors * ops.cast(projected, "float32")
        return ops.sum(products, axis=-1) + ops.cast(bias, "float32")

    def select(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the output weights of some words for each sentence.

        Args:
            words: Integer tensor of shape `(batch, words)`, their ids.

        Returns:
            A kernel of shape `(batch, units, words)` and a bias of shape
            `(batch, words)`.

        Raises:
            ValueError: when the weights are quantized.
        """
        layer = self.dense if self.tied_to is None else self.tied_to
        if layer.quantization_mode is not None:
            raise ValueError(
                "A shortlist needs output weights that are not quantized. "
                "Expected: `model.quantize` with `filters` that exclude them. "
                f"Received: output weights in {layer.quantization_mode!r}"
            )
        if self.tied_to is None:
            # Transposing would copy the kernel, which takes far longer than
            # reading a few words.
            kernel = ops.take(self.dense.kernel, words, axis=1)
            kernel = ops.swapaxes(kernel, 0, 1)
        else:
            kernel = ops.take(self.tied_to.embeddings, words, axis=0)
            kernel = ops.swapaxes(kernel, 1, 2)
        bias = ops.take(self.bias, words, axis=0)
        dtype = self.compute_dtype
        return ops.cast(kernel, dtype), ops.cast(bias, dtype)


def checked_counts(counts, size, most=math.inf):
    """Returns counts as a tensor; raises `ValueError` if they are invalid.

    Args:
        counts: Array-like of shape `(size,)`.
        size: Integer.
        most: Number that no count may exceed.
    """
    counts = ops.convert_to_tensor(counts, "float32")
    right = ops.logical_and(counts >= 0, counts <= most)
    wrong = int(ops.sum(ops.cast(ops.logical_not(right), "int32")))
    if tuple(counts.shape) != (size,) or wrong:
        raise ValueError(
            f"`counts` must be {size} numbers from 0 to {most}. Received: an "
            f"array of shape {tuple(counts.shape)}, {wrong} numbers out of "
            "range"
        )
    return counts
