"""Words, split at white space."""

import keras
import tensorflow as tf

from kerasrnn.tokenizers.table_tokenizer import TableTokenizer
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class WordTokenizer(TableTokenizer):
    """Splits at white space and looks words up.

    Words outside the vocabulary become `<unk>`; if the vocabulary has no
    `<unk>`, they are dropped.

    Args:
        vocabulary: List of tokens, in the order of their ids; `None` for a
            tokenizer that is given them later.
        lowercase, strip_punctuation, separate_punctuation: How texts are
            normalized; see `Tokenizer`.
        name: String, the name of the layer.

    Example:

    >>> tokenizer = WordTokenizer.train(["the red book", "the book"])
    >>> tokenizer.tokenize(["the blue book"]).to_list()
    [[4, 3, 5]]
    >>> tokenizer.detokenize([[1, 4, 5, 2, 0]]).numpy().tolist()
    [b'the book']
    """

    separator = " "

    @staticmethod
    def divide(texts: Tensor) -> tf.RaggedTensor:
        return tf.strings.split(texts)
