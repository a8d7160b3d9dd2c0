"""Splits raw text into words with their positions."""

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
# The Braille blank is a symbol in Unicode.
_EMOJI = r"(?:[^\P{So}\x{2800}]|\x{2194})[\p{Sk}\pM\x{E0020}-\x{E007F}]*"
# The first alternative that matches is a word.
_WORDS = [
    ADDRESSES,
    # A keycap emoji.
    r"[0-9#*]\x{FE0F}?\x{20E3}",
    rf"[@#](?:{_LETTER}|[{INNER}])+",
    rf"(?:{SPACED_LETTER}\.){{2,}}",
    r"(?i:['’](?:s|re|ve|ll|d|m|t))\b",
    rf"\pN+(?:(?:[.,:/]|[{INNER}]+)\pN+)*",
    # No space separates words there.
    rf"[{SPACELESS}](?:[{INNER}]*\pM)*",
    # A joiner at the end belongs to a half letter.
    rf"{_LETTER}+(?:(?:-|[{INNER}]+){_LETTER}+)*\x{{200D}}?",
    # Two regional letters make a flag.
    r"[\x{1F1E6}-\x{1F1FF}]{2}",
    # An emoji may consist of several joined ones with variants.
    rf"{_EMOJI}(?:\x{{200D}}{_EMOJI})*",
    r"\.{2,}|-{2,}",
    r"(?:\pP|[^\PS\x{2800}])[\x{FE00}-\x{FE0F}]?",
]
_WORD = "|".join(_WORDS)
# Characters between words, even in malformed text.
_BETWEEN = rf"{_WORD}|[{SPACE}\pC]+"


class Words(NamedTuple):
    """The words of texts with their positions.

    Args:
        words: String `RaggedTensor` of shape `(batch, words)`.
        starts: Int32 `RaggedTensor`, the position of the first character of
            each word.
        ends: Int32 `RaggedTensor`, the position after the last character of
            each word.
    """

    words: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor


def split_into_words(texts: Tensor) -> Words:
    """Splits texts into words, numbers, punctuation and emoji.

    Words are runs of letters with their marks, joiners and inner hyphens.
    Numbers keep their points, commas and colons. Addresses, emoji, `@names`,
    `#tags` and abbreviations such as `U.S.` are single words; an English `'s`
    is a separate word. Every other sign is a word, and so is each character
    (with its marks) of scripts without spaces: Chinese, Japanese, Thai, Lao,
    Khmer, Burmese. Invisible characters do not change this: they are kept
    inside words and left out around them (see `normalize_text`).

    Args:
        texts: String tensor of shape `(batch,)`.

    Returns:
        `Words`. Positions count characters (code points, as in Python) of the
        texts. Control characters, and bytes that are not UTF-8, are between
        words and count as one character each.

    Example:

    >>> words, starts, ends = split_into_words(["Anna's 2,5 kg (U.S.)."])
    >>> [word.decode() for word in words[0].numpy()]
    ['Anna', "'s", '2,5', 'kg', '(', 'U.S.', ')', '.']
    >>> starts[0].numpy().tolist()
    [0, 4, 7, 11, 14, 15, 19, 20]
    """
    # The character U+0000 would end a text.
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
