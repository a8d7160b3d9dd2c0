"""Tokenizers of words and characters with a lookup table."""

import collections
import itertools
import warnings
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import Self

import keras
import tensorflow as tf

from kerasrnn.arguments import each_string
from kerasrnn.arguments import integer
from kerasrnn.arguments import is_string
from kerasrnn.tokenizers.tokenizer import SPECIALS
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import Tensor

# Texts counted at once, because the tokens of a corpus may not fit into memory.
_AT_ONCE = 4096
# Tokens that are counted. Of more, the rarer half is forgotten.
_TYPES = 2**21


class TableTokenizer(Tokenizer):
    """Base class of tokenizers that split texts and look up tokens.

    A subclass splits texts in `divide`, and sets the `separator` between two
    tokens of a text.

    Args:
        vocabulary: List of tokens, in the order of their ids; `None` to set
            them later.
        lowercase, strip_punctuation, separate_punctuation: Options of
            normalization; see `Tokenizer`.
        name: String, the name of the layer.
    """

    separator = ""

    def set_vocabulary(self, vocabulary: Iterable[str]) -> None:
        super().set_vocabulary(vocabulary)
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
        texts: Iterable[str],
        vocabulary_size: int | None = None,
        min_count: int = 1,
        specials: Sequence[str] = SPECIALS,
        **options: Any,
    ) -> Self:
        """Builds a vocabulary of the most frequent tokens of a corpus.

        Args:
            texts: Iterable of strings.
            vocabulary_size: The maximum number of tokens, including special
                ones; `None` for no limit.
            min_count: Minimum count of a token.
            specials: The special tokens, which get the first ids.
            **options: Other arguments of the tokenizer, such as those of
                normalization.

        Raises:
            ValueError: when `vocabulary_size` leaves no room for tokens, or
                `texts` is a string.
        """
        if vocabulary_size is not None:
            integer("vocabulary_size", vocabulary_size, len(specials) + 1)
            vocabulary_size -= len(specials)
        with warnings.catch_warnings():
            # The final tokenizer checks the options and warns.
            warnings.simplefilter("ignore")
            untrained = cls(**options)
        given = each_string("texts", texts, is_right=is_string)
        counts: collections.Counter[bytes] = collections.Counter()
        while part := list(itertools.islice(given, _AT_ONCE)):
            counts.update(untrained.split(part).flat_values.numpy())
            if len(counts) > _TYPES:
                counts = collections.Counter(
                    dict(counts.most_common(_TYPES // 2))
                )
        tokens = [
            token.decode()
            for token, count in counts.most_common()
            if count >= min_count and token.decode() not in specials
        ]
        return cls([*specials, *tokens[:vocabulary_size]], **options)

    @staticmethod
    def divide(texts: Tensor) -> tf.RaggedTensor:
        """Splits normalized texts into tokens."""
        raise NotImplementedError(
            "A TableTokenizer must override `divide(texts)`."
        )

    def split(self, texts: Tensor) -> tf.RaggedTensor:
        """Returns tokens as a string `RaggedTensor`, `(batch, time)`.

        Tokens may be outside the vocabulary.

        Args:
            texts: String tensor of shape `(batch,)`.
        """
        return self.divide(self.normalize(texts))

    def tokenize(
        self, texts: Tensor, max_tokens: int | None = None
    ) -> tf.RaggedTensor:
        self.check_vocabulary()
        ids = tf.ragged.map_flat_values(self.table.lookup, self.split(texts))
        ids = tf.ragged.map_flat_values(self.as_text, ids)
        return tf.ragged.boolean_mask(ids, ids >= 0)[:, :max_tokens]

    def detokenize(
        self, ids: Tensor, unknown: Tensor | None = None
    ) -> tf.Tensor:
        """Returns strings of shape `(batch,)`, without special tokens.

        Args:
            ids: Integer tensor of shape `(batch, time)`, dense or ragged.
            unknown: String tensor of that shape with replacements of unknown
                tokens; `None` for `<unk>`.
        """
        tokens = tf.ragged.map_flat_values(self.tokens, ids)
        if unknown is not None:
            tokens = tf.where(tf.equal(ids, self.unknown_id), unknown, tokens)
        tokens = self.without_specials(ids, tokens)
        return self.finish(
            tf.strings.reduce_join(tokens, axis=-1, separator=self.separator)
        )


@keras.saving.register_keras_serializable("kerasrnn")
class WordTokenizer(TableTokenizer):
    """Splits texts at white space and looks up words.

    Words outside the vocabulary become `<unk>`; if the vocabulary has no
    `<unk>`, they are dropped.

    Args:
        vocabulary: List of tokens, in the order of their ids; `None` to set
            them later.
        lowercase, strip_punctuation, separate_punctuation: Options of
            normalization; see `Tokenizer`.
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


@keras.saving.register_keras_serializable("kerasrnn")
class CharacterTokenizer(TableTokenizer):
    """Splits texts into Unicode characters and looks them up.

    A character is a code point of the text in Unicode form C, so a Devanagari
    vowel sign is a separate token. The space is a character, too. Normalization
    leaves single spaces between words and none at the ends.

    Characters outside the vocabulary become `<unk>`; if the vocabulary has no
    `<unk>`, they are dropped.

    Args:
        vocabulary: List of tokens, in the order of their ids; `None` to set
            them later.
        lowercase, strip_punctuation, separate_punctuation: Options of
            normalization; see `Tokenizer`.
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
        # A word begins with the space before it.
        return token == " ", token.strip(" ")
