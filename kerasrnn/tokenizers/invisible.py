"""Scripts without spaces, and invisible characters."""

import re

import tensorflow as tf
import tensorflow_text as tf_text

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
    "\u3005-\u3007\u3021-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""These characters, for a class of `re` and RE2: Thai, Lao, Burmese,
Khmer, Tai, the kana, bopomofo, and the Chinese characters."""
SPACED_LETTER = rf"[^\PL{SPACELESS}]"
"""A letter of any other script, as a class of RE2."""


def is_spaceless(text):
    """Whether most letters of a text are of scripts without spaces."""
    # Tibetan has no spaces, either, but a mark after each syllable.
    spaceless = re.compile(f"[{SPACELESS}\u0f00-\u0fff]")
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(map(bool, map(spaceless.match, letters))) > len(letters)


# The Unicode property Default_Ignorable_Code_Point in three parts, plus marks
# of annotations. First: marks of direction, possible line breaks, fillers, and
# code points without a character.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e00ff"
    "\U000e01f0-\U000e0fff"
)
# Second: selectors of the form of the preceding character.
_FORMS = "\u180b-\u180d\u180f"
_SELECTORS = (
    f"{_FORMS}\u180e\ufe00-\ufe0f\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
_JOINERS = "\u200c\u200d"
INVISIBLE = _UNSEEN + _SELECTORS + _JOINERS
"""All three parts, for a class of `re` and RE2."""
INNER = f"{_JOINERS}\u180e"
"""Those that may occur between two letters of a word, as such a class."""
SPACE = (
    r"\x00-\x20\x7f-\xa0"
    "\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000"
)
"""White space, the Braille blank and control characters, as such a class."""

_PICTURES = "\u2190-\u27ff\u2900-\u2bff\U0001f000-\U0001faff"
_MONGOLIAN = f"[\u1820-\u18aa][{_FORMS}]?"
# A selector is kept after an emoji, in a keycap, after a Chinese or Mongolian
# character, and in the flag of a region.
_SELECTED = (
    f"[©®‼⁉™ℹ〰〽㊗㊙{_PICTURES}][\ufe00-\ufe0f]|[0-9#*]\ufe0f\u20e3"
    f"|[{SPACELESS}][\ufe00-\ufe0d\U000e0100-\U000e01ef]"
    f"|{_MONGOLIAN}\u180e{_MONGOLIAN}|[\u1820-\u18aa][{_FORMS}]"
    "|\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f"
)
# Joiners are kept between letters, after a virama of Indic scripts, where they
# select a half letter, and between emoji.
_LETTER = rf"(?:[\pL\pN]|[^\PM{_SELECTORS}])"
_HALF = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]\u200d"
_PICTURE = f"[{_PICTURES}][\ufe0f\U0001f3fb-\U0001f3ff]*"
_JOINED = (
    f"(?:{_LETTER}[{_JOINERS}]+)*(?:{_LETTER}[{_JOINERS}]+{_LETTER}|{_HALF})"
    f"|{_PICTURE}(?:\u200d{_PICTURE})+"
)
# Pairs of what is removed and what protects it. The rules are applied in order,
# so that removed characters no longer separate others in later rules.
_RULES = (
    (f"[{_UNSEEN}]+", r"[^\x00-\x{10ffff}]"),  # nothing
    (f"[{_SELECTORS}]+", _SELECTED),
    (f"[{_JOINERS}]+", _JOINED),
)


_SEEN = re.compile(f"[^{SPACE}{INVISIBLE}]")
_REMOVED = re.compile(f"[{INVISIBLE}]+")
_SPACES = re.compile(f"[{SPACE}]+")


def is_blank(text):
    """Whether a Python string has no visible character."""
    return not _SEEN.search(text)


def words_between_spaces(text):
    """Splits a Python string at white space, as tokenizers do."""
    return _SPACES.sub(" ", text).split()


def appearance(text):
    """Returns a string without invisible characters, with single spaces."""
    return " ".join(words_between_spaces(_REMOVED.sub("", text)))


def visible(texts):
    """Removes invisible characters without effect, as a graph operation.

    Args:
        texts: String tensor of any shape.

    Returns:
        String tensor of that shape.
    """
    for removed, kept in _RULES:
        texts = tf.strings.regex_replace(texts, f"({kept})|{removed}", r"\1")
    return texts


def visible_with_places(texts):
    """Like `visible`, and also returns the original position of each byte.

    Args:
        texts: String tensor of shape `(batch,)`, without the character U+0000,
            which would end a text.

    Returns:
        A tuple of the texts and a function of two int64 tensors (indices of
        texts, positions of bytes) to positions in the original texts.
    """
    steps = []
    for removed, kept in _RULES:
        parts, starts, _ = tf_text.regex_split_with_offsets(
            texts, f"{kept}|{removed}", kept
        )
        texts = tf.strings.reduce_join(parts, axis=-1)
        steps.append((texts, parts.flat_values, starts.flat_values))

    def places(rows, positions):
        for texts, parts, starts in reversed(steps):
            # Positions among the bytes of all texts.
            positions += tf.gather(_begins(texts), rows)
            begins = _begins(parts)
            number = tf.searchsorted(begins, positions, "right") - 1
            positions += tf.gather(starts - begins, number)
        return positions

    return texts, places


def _begins(strings):
    sizes = tf.cast(tf.strings.length(strings), tf.int64)
    return tf.cumsum(sizes, exclusive=True)
