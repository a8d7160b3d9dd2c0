"""Tokens that are looked up in a table; words, as white space divides them."""

import collections
import warnings

import tensorflow as tf

from kerasrnn.tokenizers.tokenizer import SPECIALS
from kerasrnn.tokenizers.tokenizer import UNKNOWN
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.tokenizers.tokenizer import check_vocabulary_size

# As many texts are counted in one go: the tokens of all of a corpus would not
# always fit into memory.
_AT_ONCE = 4096


class TableTokenizer(Tokenizer):
    """Base of the tokenizers that divide a text and look its parts up.

    A subclass says how texts are divided, and what stands between two tokens
    of a text.

    Args:
        vocabulary: List of tokens, in the order of their ids.
        **options: How texts are normalised; see `Tokenizer`.
    """

    separator = ""

    def __init__(self, vocabulary, **options):
        super().__init__(vocabulary, **options)
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                tf.constant(self.vocabulary),
                tf.range(self.vocabulary_size, dtype=tf.int32),
            ),
            default_value=self.unknown_id,
        )

    @classmethod
    def train(
        cls,
        texts,
        vocabulary_size=None,
        min_count=1,
        specials=SPECIALS,
        **options,
    ):
        """Takes the most frequent tokens of a corpus as the vocabulary.

        Args:
            texts: List of strings.
            vocabulary_size: The most tokens, the special ones counted;
                `None` for no limit.
            min_count: How often a token must occur.
            specials: The special tokens to have, at the first ids.
            **options: How texts are normalised: the arguments of the
                tokenizer other than `vocabulary`.

        Raises:
            ValueError: when `vocabulary_size` leaves no room for a token.
        """
        if vocabulary_size is not None:
            check_vocabulary_size(vocabulary_size, len(specials))
            vocabulary_size -= len(specials)
        with warnings.catch_warnings():
            # Whatever is to be said of the options, the result says.
            warnings.simplefilter("ignore")
            untrained = cls([*specials] or [UNKNOWN], **options)
        texts, counts = list(texts), collections.Counter()
        for start in range(0, len(texts), _AT_ONCE):
            split = untrained.split(texts[start : start + _AT_ONCE])
            counts.update(split.flat_values.numpy())
        tokens = [
            token.decode()
            for token, count in counts.most_common()
            if count >= min_count and token.decode() not in specials
        ]
        return cls([*specials, *tokens[:vocabulary_size]], **options)

    @staticmethod
    def divide(texts):
        """Divides normalised texts, as `split` divides any."""
        raise NotImplementedError(
            "A TableTokenizer must override `divide(texts)`."
        )

    def split(self, texts):
        """Returns tokens as a string `RaggedTensor`, `(batch, time)`.

        They are those of the texts, in the vocabulary or not.

        Args:
            texts: String tensor of shape `(batch,)`.
        """
        return self.divide(self.normalize(texts))

    def tokenize(self, texts):
        ids = tf.ragged.map_flat_values(self.table.lookup, self.split(texts))
        ids = tf.ragged.map_flat_values(self.as_text, ids)
        return tf.ragged.boolean_mask(ids, ids >= 0)

    def detokenize(self, ids):
        tokens = tf.ragged.map_flat_values(
            self.tokens, self.without_specials(ids)
        )
        return self.finish(
            tf.strings.reduce_join(tokens, axis=-1, separator=self.separator)
        )


class WordTokenizer(TableTokenizer):
    """Splits at white space and looks words up.

    Words outside the vocabulary become `<unk>`; where the vocabulary has no
    `<unk>`, they fall away.

    Args:
        vocabulary: List of tokens, in the order of their ids.
        **options: How texts are normalised; see `Tokenizer`.

    Example:

    >>> tokenizer = WordTokenizer.train(["the red book", "the book"])
    >>> tokenizer.tokenize(["the blue book"])
    [[4, 3, 5]]
    >>> tokenizer.detokenize([[1, 4, 5, 2, 0]])
    [b'the book']
    """

    separator = " "

    @staticmethod
    def divide(texts):
        return tf.strings.split(texts)
