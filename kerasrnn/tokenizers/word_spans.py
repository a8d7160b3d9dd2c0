"""Splits raw text into words that know where they are."""

from typing import NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from kerasrnn.tokenizers.invisible import INNER
from kerasrnn.tokenizers.invisible import SPACE
from kerasrnn.tokenizers.invisible import SPACED_LETTER
from kerasrnn.tokenizers.invisible import SPACELESS
from kerasrnn.tokenizers.invisible import visible_with_places
from kerasrnn.tokenizers.normalization import ADDRESSES
from kerasrnn.typing import Tensor

_LETTER = rf"(?:{SPACED_LETTER}|[\pM\pN_])"
# The blank of Braille is a symbol of Unicode.
_EMOJI = r"(?:[^\P{So}\x{2800}]|\x{2194})[\p{Sk}\pM\x{E0020}-\x{E007F}]*"
# The first that matches is a word.
_WORDS = [
    ADDRESSES,
    # An emoji, the key of a telephone.
    r"[0-9#*]\x{FE0F}?\x{20E3}",
    rf"[@#](?:{_LETTER}|[{INNER}])+",
    rf"(?:{SPACED_LETTER}\.){{2,}}",
    r"(?i:['’](?:s|re|ve|ll|d|m|t))\b",
    rf"\pN+(?:(?:[.,:/]|[{INNER}]+)\pN+)*",
    # No space separates words there.
    rf"[{SPACELESS}](?:[{INNER}]*\pM)*",
    # A joiner at its end is that of a half letter.
    rf"{_LETTER}+(?:(?:-|[{INNER}]+){_LETTER}+)*\x{{200D}}?",
    # Two letters make a flag.
    r"[\x{1F1E6}-\x{1F1FF}]{2}",
    # An emoji may be several that are joined, each with its variants.
    rf"{_EMOJI}(?:\x{{200D}}{_EMOJI})*",
    r"\.{2,}|-{2,}",
    r"(?:\pP|[^\PS\x{2800}])[\x{FE00}-\x{FE0F}]?",
]
_WORD = "|".join(_WORDS)
# What is between words, also of text that is not well formed.
_BETWEEN = rf"{_WORD}|[{SPACE}\pC]+"


class Words(NamedTuple):
    """The words of texts.

    Args:
        words: String `RaggedTensor` of shape `(batch, words)`.
        starts: Int32 `RaggedTensor`, the position of the first character of
            each.
        ends: Int32 `RaggedTensor`, the position after its last character.
    """

    words: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor


def split_into_words(texts: Tensor) -> Words:
    """Splits texts into words, numbers, punctuation and emoji.

    Words are runs of letters with their marks, joiners and inner hyphens;
    numbers keep their points, commas and colons. Addresses, emoji, `@names`,
    `#tags` and abbreviations such as `U.S.` are one word, an English `'s` is
    its own. Each other sign is a word. So is, with its marks, each character
    of scripts without spaces between words: Chinese, Japanese, Thai, Lao,
    Khmer, Burmese. Invisible characters change none of this: they stay inside
    of words and are left out around them (see `normalize_text`).

    Args:
        texts: String tensor of shape `(batch,)`.

    Returns:
        `Words`, whose positions count characters (code points, as in Python) of
        the texts. Control characters, and bytes that are not UTF-8, are between
        words and count as one character each.

    Example:

    >>> words, starts, ends = split_into_words(["Anna's 2,5 kg (U.S.)."])
    >>> [word.decode() for word in words[0].numpy()]
    ['Anna', "'s", '2,5', 'kg', '(', 'U.S.', ')', '.']
    >>> starts[0].numpy().tolist()
    [0, 4, 7, 11, 14, 15, 19, 20]
    """
    # A text would end at the character U+0000.
    texts = tf.strings.unicode_transcode(
        texts, "UTF-8", "UTF-8", "replace", 32, True
    )
    found, places = visible_with_places(texts)
    words, *bytes_ = tf_text.regex_split_with_offsets(found, _BETWEEN, _WORD)
    rows = words.value_rowids()
    texts = tf.gather(texts, rows)
    starts, ends = (x.flat_values for x in bytes_)
    starts, ends = places(rows, starts), places(rows, ends - 1) + 1
    before = tf.strings.substr(texts, tf.zeros_like(starts), starts)
    found = tf.strings.substr(texts, starts, ends - starts)
    first = tf.strings.length(before, "UTF8_CHAR")
    last = first + tf.strings.length(found, "UTF8_CHAR")
    return Words(*map(words.with_flat_values, (found, first, last)))
