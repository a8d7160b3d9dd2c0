"""Sentences of a text, as graph operations.

`tensorflow_text.StateBasedSentenceBreaker` is not used: it splits numbers such
as 3.5, and does not split at line breaks.
"""

import tensorflow as tf

from kerasrnn.tokenizers.normalization import TITLES

# A full stop behind these ends no sentence: initials, titles, abbreviations.
_NO_END = rf"(^|[\s(\"'])(\p{{Lu}}|{TITLES}|No|vs)\."
_CLOSING = r"[\"'”’»)\]]*"
_OPENING = r"[\"'“‘«(\[¿¡]*"
# An end mark, white space, and a letter that may begin a sentence.
_END = rf"([.!?…।॥؟]{_CLOSING})[ \t]+({_OPENING}[\p{{Lu}}\p{{Lo}}])"
# Chinese and Japanese have no white space there.
_WIDE_END = r"([。！？][”’」』）]*)"
# Two characters of private use.
_KEPT, _CUT = "\ue000", "\ue001"


def split_sentences(texts):
    """Splits texts at line breaks and after sentences, as graph operations.

    Args:
        texts: String tensor of shape `(batch,)`.

    Returns:
        Ragged string tensor of shape `(batch, lines, sentences)`, without the
        white space between them. A blank line has no sentence.
    """
    lines = tf.strings.split(
        tf.strings.regex_replace(texts, r"\r\n?", "\n"), "\n"
    )
    marked = lines.flat_values
    for pattern, replacement in (
        (_NO_END, rf"\1\2.{_KEPT}"),
        (_END, rf"\1{_CUT}\2"),
        (_WIDE_END, rf"\1{_CUT}"),
        (_KEPT, ""),
    ):
        marked = tf.strings.regex_replace(marked, pattern, replacement)
    sentences = tf.strings.strip(tf.strings.split(marked, _CUT))
    sentences = tf.ragged.boolean_mask(sentences, sentences != "")
    return lines.with_flat_values(sentences)


def join_sentences(sentences):
    """Joins what `split_sentences` has split: lines as lines, by spaces."""
    lines = tf.strings.reduce_join(sentences, axis=-1, separator=" ")
    return tf.strings.reduce_join(lines, axis=-1, separator="\n")
