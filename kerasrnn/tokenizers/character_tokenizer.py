"""Characters, one token each."""

import tensorflow as tf

from kerasrnn.tokenizers.tokenizer import SPECIALS
from kerasrnn.tokenizers.word_tokenizer import TableTokenizer


class CharacterTokenizer(TableTokenizer):
    """Splits into Unicode characters and looks them up.

    A character is a code point of the text in Unicode form C: a vowel sign of
    Devanagari is one of its own. The space is a character like any other, but
    for the normalising: one between two words, none at either end.

    Characters outside the vocabulary become `<unk>`; where the vocabulary has
    no `<unk>`, they fall away.

    Args:
        vocabulary: List of tokens, in the order of their ids.
        **options: How texts are normalised; see `Tokenizer`.

    Example:

    >>> tokenizer = CharacterTokenizer.train(["a red book", "a book"])
    >>> tokenizer.vocabulary[4:]
    ('o', ' ', 'a', 'b', 'k', 'r', 'e', 'd')
    >>> tokenizer.tokenize(["a box"])
    [[6, 5, 7, 4, 3]]
    >>> tokenizer.detokenize([[1, 6, 5, 7, 4, 2, 0]])
    [b'a bo']
    """

    @staticmethod
    def divide(texts):
        return tf.strings.unicode_split(texts, "UTF-8")

    def piece(self, token):
        # A word begins at the space before it.
        return token in SPECIALS or token == " ", token.strip(" ")
