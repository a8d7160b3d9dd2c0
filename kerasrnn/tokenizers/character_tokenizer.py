"""Characters, one token each."""

import keras
import tensorflow as tf

from kerasrnn.tokenizers.table_tokenizer import TableTokenizer
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class CharacterTokenizer(TableTokenizer):
    """Splits into Unicode characters and looks them up.

    A character is a code point of the text in Unicode form C, so a vowel sign
    of Devanagari is a separate token. The space is a character, too;
    normalization leaves one between words and none at either end.

    Characters outside the vocabulary become `<unk>`; if the vocabulary has no
    `<unk>`, they are dropped.

    Args:
        vocabulary: List of tokens, in the order of their ids; `None` for a
            tokenizer that is given them later.
        lowercase, strip_punctuation, separate_punctuation: How texts are
            normalized; see `Tokenizer`.
        name: String, the name of the layer.

    Example:

    >>> tokenizer = CharacterTokenizer.train(["a red book", "a book"])
    >>> tokenizer.vocabulary[4:]
    ('o', ' ', 'a', 'b', 'k', 'r', 'e', 'd')
    >>> tokenizer.tokenize(["a box"]).to_list()
    [[6, 5, 7, 4, 3]]
    >>> tokenizer.detokenize([[1, 6, 5, 7, 4, 2, 0]]).numpy().tolist()
    [b'a bo']
    """

    @staticmethod
    def divide(texts: Tensor) -> tf.RaggedTensor:
        return tf.strings.unicode_split(texts, "UTF-8")

    def piece(self, token: str) -> tuple[bool, str]:
        # A word begins at the space before it.
        return token == " ", token.strip(" ")
