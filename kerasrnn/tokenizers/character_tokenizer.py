"""Characters, one token each."""

import keras
import tensorflow as tf

from kerasrnn.tokenizers.table_tokenizer import TableTokenizer
from kerasrnn.tokenizers.tokenizer import SPECIALS


@keras.saving.register_keras_serializable("kerasrnn")
class CharacterTokenizer(TableTokenizer):
    """Splits into Unicode characters and looks them up.

    A character is a code point of the text in Unicode form C: a vowel sign of
    Devanagari is one of its own. The space is a character like any other, but
    for the normalising: one between two words, none at either end.

    Characters outside the vocabulary become `<unk>`; where the vocabulary has
    no `<unk>`, they fall away.

    Args:
        vocabulary: List of tokens, in the order of their ids; `None` for a
            tokenizer that gets them later.
        lowercase, strip_punctuation, separate_punctuation: How texts are
            normalised; see `Tokenizer`.
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
    def divide(texts):
        return tf.strings.unicode_split(texts, "UTF-8")

    def piece(self, token):
        # A word begins at the space before it.
        return token in SPECIALS or token == " ", token.strip(" ")
