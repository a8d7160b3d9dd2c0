"""Words, as white space divides them."""

import collections

import tensorflow as tf

from kerasrnn.data.text import normalize_text
from kerasrnn.data.tokenizer import SPECIALS
from kerasrnn.data.tokenizer import Tokenizer
from kerasrnn.data.tokenizer import check_vocabulary_size


class WordTokenizer(Tokenizer):
    """Splits at white space and looks words up.

    Words outside the vocabulary become `<unk>`; where the vocabulary has no
    `<unk>`, they fall away.

    Args:
        vocabulary: List of tokens, in the order of their ids.
        lowercase: Whether texts are lower-cased first.
        strip_punctuation: Whether texts lose their punctuation first.

    Example:

    >>> tokenizer = WordTokenizer.train(["the red book", "the book"])
    >>> tokenizer.tokenize(["the blue book"])
    [[4, 3, 5]]
    >>> tokenizer.detokenize([[1, 4, 5, 2, 0]])
    [b'the book']
    """

    def __init__(self, vocabulary, lowercase=True, strip_punctuation=False):
        super().__init__(vocabulary, lowercase, strip_punctuation)
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
        lowercase=True,
        strip_punctuation=False,
    ):
        """Takes the most frequent words of a corpus as the vocabulary.

        Args:
            texts: List of strings.
            vocabulary_size: The most tokens, the special ones counted;
                `None` for no limit.
            min_count: How often a word must occur.
            specials: The special tokens to have, at the first ids.
            lowercase: Whether texts are lower-cased first.
            strip_punctuation: Whether texts lose their punctuation first.

        Raises:
            ValueError: when `vocabulary_size` leaves no room for a word.
        """
        if vocabulary_size is not None:
            check_vocabulary_size(vocabulary_size, len(specials))
            vocabulary_size -= len(specials)
        lines = normalize_text(list(texts), lowercase, strip_punctuation)
        counts = collections.Counter(
            word for line in lines.numpy() for word in line.decode().split()
        )
        words = [
            word
            for word, count in counts.most_common()
            if count >= min_count and word not in specials
        ]
        vocabulary = [*specials, *words[:vocabulary_size]]
        return cls(vocabulary, lowercase, strip_punctuation)

    def tokenize(self, texts):
        words = tf.strings.split(self.normalize(texts))
        ids = tf.ragged.map_flat_values(self.table.lookup, words)
        ids = tf.ragged.map_flat_values(self.as_text, ids)
        return tf.ragged.boolean_mask(ids, ids >= 0)

    def detokenize(self, ids):
        words = tf.ragged.map_flat_values(
            self.tokens, self.without_specials(ids)
        )
        return tf.strings.reduce_join(words, axis=-1, separator=" ")
