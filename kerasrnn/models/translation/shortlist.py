"""A shortlist of target words for each sentence."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.models.model import ReadsIds
from kerasrnn.models.translation.lexicon import Lexicon
from kerasrnn.saving import Configured
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class Shortlist(ReadsIds, Configured, keras.layers.Layer):
    """Chooses the target words of each sentence: a lexical shortlist.

    They are the first `frequent` words of the target vocabulary, and those that
    a lexicon expects most often in the translation,

        sum_i P(y | x_i)

    In decoding, the output layer scores only these, since most of a step is the
    product with the vocabulary. Probabilities are normalized over the
    shortlist, so scores rise a little. The shortlist of a sentence does not
    depend on the others in its batch.

    Args:
        lexicon: A `Lexicon`, that of the decoder or a separate one.
        size: Positive integer, the number of words in a shortlist.
        frequent: Positive integer, how many of them are the first words of the
            vocabulary, where tokenizers put the special tokens, such as the end
            of a sentence, and the most frequent words. `None` for a quarter of
            `size`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        source: Integer tensor of shape `(batch, positions)`, in which padding
            is negative or has no translations.

    Returns:
        Ids of shape `(batch, size)`, all different within a row: the
        `vocabulary` of `Translator.encode` and of the searches.

    Raises:
        ValueError: when `size` is not greater than `frequent`, or is greater
            than the target vocabulary.

    Example:

    >>> shortlist = Shortlist(Lexicon(200, 300), size=40, frequent=10)
    >>> shortlist(np.ones((2, 5), "int32")).shape
    (2, 40)

    References:
        [Jean et al., 2015](https://arxiv.org/abs/1412.2007), section 3.2,
        [Junczys-Dowmunt et al., 2018](https://arxiv.org/abs/1804.00344).
    """

    def __init__(
        self,
        lexicon: Lexicon,
        size: int = 800,
        frequent: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.lexicon = lexicon
        self.size = positive_integer("size", size)
        if frequent is None:
            frequent = max(1, self.size // 4)
        self.frequent = positive_integer("frequent", frequent)
        if not self.frequent < self.size <= lexicon.target_size:
            raise ValueError(
                "`size` must be greater than `frequent`, and at most "
                f"{lexicon.target_size}, the size of the target vocabulary. "
                f"Received: size={size}, frequent={frequent}"
            )

    def build(self, source_shape: Shape) -> None:
        if not self.lexicon.built:
            self.lexicon.build(source_shape)

    def call(self, source: Tensor) -> Tensor:
        expected = self.lexicon.expect(source)
        words = ops.arange(self.lexicon.target_size, dtype="int32")
        always = words < self.frequent
        _, ids = ops.top_k(ops.where(always, float("inf"), expected), self.size)
        return ids
