"""Splits texts into sentences, as graph operations.

`tensorflow_text.StateBasedSentenceBreaker` is not used: it splits numbers such
as 3.5, and does not split at line breaks.
"""

import tensorflow as tf

from kerasrnn.tokenizers.invisible import visible
from kerasrnn.tokenizers.normalization import TITLES

# Abbreviations that a capital letter may follow. Not included: those before
# numbers, and those that may also end a sentence, such as "etc" and "No".
_ABBREVIATIONS = (
    # English, French, Spanish, Italian and Portuguese
    rf"{TITLES}|vs|Capt|Col|Gov|Hon|Lt|Maj|Messrs|Rep|Rev|Sen|Sgt|Mt|Ft"
    r"|[Ff]ig|approx|cf|[Vv]iz|Ph\.D|MM|Mme|Mlle|Mgr|Sra|Srta|Dra|Ud|Uds|EE|Sig"
    r"|Dott"
    # German and Dutch
    r"|Hr|Frl|Dipl|Ing|Mio|Mrd|Tsd|bzw|ca|evtl|geb|gest|ggf|inkl|exkl|sog|vgl"
    r"|zzgl|bijv|dhr|mevr|mln|mld"
    # Russian, Vietnamese and Hindi
    r"|ул|тыс|млн|млрд|TP|Tp|TS|ThS|GS|PGS|BS|डॉ|प्रो|श्री|पं|मो|स्व"
)
_BEFORE = r"(^|[\s(\[\"'“‘„«])"
_CLOSING, _OPENING = r"[\"'”’»)\]]*", r"[\"'“‘„«(\[¿¡]*"
_MONTHS = (
    "Jan(?:uar)?|Jänner|Feb(?:ruar)?|März?|Apr(?:il)?|Mai|Juni?|Juli?"
    "|Aug(?:ust)?|Sept?(?:ember)?|Okt(?:ober)?|Nov(?:ember)?|Dez(?:ember)?"
)
# Two private-use characters.
_KEPT, _CUT = "\ue000", "\ue001"
_RULES = (
    # A full stop does not end a sentence after: initials with a space between
    # them, as in "z. B.";
    (rf"{_BEFORE}(\pL)\.([ \t]+\pL\.)", rf"\1\2.{_KEPT}\3"),
    # letters with full stops between them, and abbreviations;
    (
        rf"{_BEFORE}((?:\pL\.-?)+\pL|\p{{Lu}}|{_ABBREVIATIONS})\.",
        rf"\1\2.{_KEPT}",
    ),
    # the number of an item at the start of a line or after a sentence, whose
    # last word must be longer than an abbreviation as in "vol. 2.";
    (
        rf"((?:^|\pL{{4,}}[.!?…]{_CLOSING}[ \t])[ \t]*[(\[]?\pN{{1,2}})\.",
        rf"\1.{_KEPT}",
    ),
    # a German ordinal before a month, which other languages write with a small
    # letter after a day;
    (
        rf"{_BEFORE}(\pN{{1,2}})\.([ \t]+(?:{_MONTHS}|Jahrhunderts?|Jh)\b)",
        rf"\1\2.{_KEPT}\3",
    ),
    # a German ordinal after these words. Others, such as "am", are words of
    # other languages: "I am 25."
    (
        rf"{_BEFORE}((?:[Ii]m|[Vv]om|[Zz]u[mr]|[Bb]eim|[Dd]e[rmn])"
        r"[ \t]+\pN{1,2})\.",
        rf"\1\2.{_KEPT}",
    ),
    # In "(by J. R.)" it ends the sentence.
    (rf"{_KEPT}([\"'”’»)\]])", r"\1"),
    # An end mark, white space, and a letter that can begin a sentence.
    (
        rf"([.!?…।॥؟]{_CLOSING})[ \t]+({_OPENING}[\p{{Lu}}\p{{Lo}}])",
        rf"\1{_CUT}\2",
    ),
    # Chinese and Japanese have no white space between sentences.
    (r"([。！？][”’」』）]*)", rf"\1{_CUT}"),
    (_KEPT, ""),
)


def split_sentences(texts):
    """Splits texts at line breaks and after sentences, as graph operations.

    Args:
        texts: String tensor of shape `(batch,)`.

    Returns:
        Ragged string tensor of shape `(batch, lines, sentences)`, without white
        space between sentences and without invisible characters. A blank line
        has no sentences.
    """
    lines = tf.strings.split(
        tf.strings.regex_replace(visible(texts), r"\r\n?", "\n"), "\n"
    )
    marked = lines.flat_values
    for pattern, replacement in _RULES:
        marked = tf.strings.regex_replace(marked, pattern, replacement)
    sentences = tf.strings.strip(tf.strings.split(marked, _CUT))
    sentences = tf.ragged.boolean_mask(sentences, sentences != "")
    return lines.with_flat_values(sentences)


def join_sentences(sentences):
    """Undoes `split_sentences`, joining the sentences of a line by spaces."""
    lines = tf.strings.reduce_join(sentences, axis=-1, separator=" ")
    return tf.strings.reduce_join(lines, axis=-1, separator="\n")
