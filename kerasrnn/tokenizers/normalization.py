"""Text normalization as graph operations."""

import tensorflow as tf
import tensorflow_text as tf_text

from kerasrnn.typing import Tensor

# Escapes of Moses's tokenizer for characters that its other tools reserve. The
# ampersand is escaped first and unescaped last.
_ESCAPES = [
    ("&", "&amp;"),
    ("|", "&#124;"),
    ("<", "&lt;"),
    (">", "&gt;"),
    ("'", "&apos;"),
    ('"', "&quot;"),
    ("[", "&#91;"),
    ("]", "&#93;"),
]
# A full stop is separated at the end of a text, and inside one between a
# lower-case letter or digit and a capital, but not after these titles.
_TITLES = "Mr|Mrs|Ms|Dr|St|Jr|Prof"
_APART = [
    (r"[‘’]", "'"),
    (r"[“”]", '"'),
    (r"([^\pL\pM\pN\s.,:'_&/-])", r" \1 "),
    (r"([^0-9])([,:])", r"\1 \2 "),
    (r"([,:])([^0-9]|$)", r" \1 \2"),
    (r"(\.\.+)", r" \1 "),
    (r"([^.\s])\.(['\")\]\s]*)$", r"\1 . \2"),
    (r"([\pN\p{Ll}\pM])\.(['\")\]\s]*\s['\"(\s]*\p{Lu})", r"\1 .\2"),
    (rf"\b({_TITLES}) \. ", r"\1. "),
    (r"([\pL\pN])'(\pL)", r"\1 '\2"),
]
_TOGETHER = [
    (r" ([.,!?;:)\]}%]+)( |$)", r"\1\2"),
    (r" ([.,!?;:)\]}%]+)( |$)", r"\1\2"),
    (r"([(\[{$]) ", r"\1"),
    (r"(\pL) '(\pL)", r"\1'\2"),
]


def normalize_text(
    texts: Tensor,
    lowercase: bool = True,
    strip_punctuation: bool = False,
    separate_punctuation: bool = False,
) -> tf.Tensor:
    """Normalizes strings: Unicode form C, white space, case, punctuation.

    Bytes that are not UTF-8 become U+FFFD. Zero-width joiners, which
    Devanagari needs, stay.

    Args:
        texts: String tensor of any shape.
        lowercase: Whether to lower-case.
        strip_punctuation: Whether to remove every character of the Unicode
            category P.
        separate_punctuation: Whether to separate punctuation from words, much
            as the tokenizer of Moses does; text tokenized by Moses is not
            changed.

    Returns:
        String tensor of the same shape, with single spaces between words and
        none at either end.

    Example:

    >>> texts = ["  Who's\\u00a0there? "]
    >>> normalize_text(texts, strip_punctuation=True).numpy().tolist()
    [b'whos there']
    """
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
    if strip_punctuation:
        texts = tf.strings.regex_replace(texts, r"\p{P}", "")
    texts = tf_text.normalize_utf8(texts, "NFC")
    texts = _single_spaces(texts)
    if separate_punctuation:
        texts = _rewrite(_unescape(texts), _APART)
        for character, escape in _ESCAPES:
            texts = _replace(texts, character, escape)
        texts = _single_spaces(texts)
    # Last, because it cuts a text at the character U+0000.
    return tf.strings.lower(texts, encoding="utf-8") if lowercase else texts


def join_punctuation(texts: Tensor) -> tf.Tensor:
    """Joins punctuation that `normalize_text` separated from words.

    Args:
        texts: String tensor of any shape.

    Returns:
        String tensor of the same shape.

    Example:

    >>> texts = ["it &apos;s ( almost ) true , isn &apos;t it ?"]
    >>> join_punctuation(texts).numpy().tolist()
    [b"it's (almost) true, isn't it?"]
    """
    return _rewrite(_unescape(texts), _TOGETHER)


def _rewrite(texts, rules):
    for pattern, rewrite in rules:
        texts = tf.strings.regex_replace(texts, pattern, rewrite)
    return texts


def _unescape(texts):
    for character, escape in reversed(_ESCAPES):
        texts = _replace(texts, escape, character)
    return texts


def _replace(texts, old, new):
    """Replaces a literal string."""
    old = "".join(f"\\x{ord(c):02x}" for c in old)
    return tf.strings.regex_replace(texts, old, new)


def _single_spaces(texts):
    return tf.strings.strip(
        tf.strings.regex_replace(texts, r"[\s\p{Z}\p{Cc}]+", " ")
    )
