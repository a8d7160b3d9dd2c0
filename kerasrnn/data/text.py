"""Text normalising as graph operations."""

import tensorflow as tf
import tensorflow_text as tf_text


def normalize_text(texts, lowercase=True, strip_punctuation=False):
    """Normalises strings: Unicode form C, white space, case, punctuation.

    Bytes that are not UTF-8 become U+FFFD. Zero-width joiners, which
    Devanagari needs, stay.

    Args:
        texts: String tensor of any shape.
        lowercase: Whether to lower-case.
        strip_punctuation: Whether to remove every character of the Unicode
            category P.

    Returns:
        String tensor of the same shape, with single spaces between words and
        none at either end.

    Example:

    >>> normalize_text(["  Who's\\u00a0there? "], strip_punctuation=True)
    [b'whos there']
    """
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
    if strip_punctuation:
        texts = tf.strings.regex_replace(texts, r"\p{P}", "")
    texts = tf_text.normalize_utf8(texts, "NFC")
    texts = tf.strings.strip(
        tf.strings.regex_replace(texts, r"[\s\p{Z}\p{Cc}]+", " ")
    )
    # Last, because it cuts a text at the character U+0000.
    return tf.strings.lower(texts, encoding="utf-8") if lowercase else texts
