"""Text normalization as graph operations."""

from typing import Literal

import tensorflow as tf
import tensorflow_text as tf_text

from kerasrnn.tokenizers.invisible import INVISIBLE
from kerasrnn.tokenizers.invisible import SPACE
from kerasrnn.tokenizers.invisible import SPACED_LETTER
from kerasrnn.tokenizers.invisible import SPACELESS
from kerasrnn.tokenizers.invisible import visible
from kerasrnn.typing import Tensor

# Escapes of the Moses tokenizer for characters that its other tools reserve.
# The ampersand is escaped first and unescaped last.
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
# Placeholders for an address and an opening quote; no text contains them.
_ADDRESS, _QUOTE = "\ufdd0", "\ufdd1"
# Full-width punctuation has no space around it.
_WIDE = r"\x{3001}-\x{3003}\x{3008}-\x{3011}\x{3014}-\x{301b}！（），．：；？～"
# A web or e-mail address, without the punctuation or words that follow it.
_HOST = rf"(?:{SPACED_LETTER}|[\pM\pN-])+"
ADDRESSES = (
    rf"(?i:(?:[a-z][a-z0-9+.-]*://|www\.)[^{SPACE}<>\"“”«»{_WIDE}{SPACELESS}]*"
    rf"(?:{SPACED_LETTER}|[\pM\pN/=&#_~%+-])"
    rf"|(?:{SPACED_LETTER}|[\pN_])(?:{SPACED_LETTER}|[\pM\pN._%+-])*"
    rf"@{_HOST}(?:\.{_HOST})+)"
)
# Any other character with its marks, skin tone or letters of a flag. Joiners
# combine several, as in family emoji.
_WITH = r"[\pM\x{1f3fb}-\x{1f3ff}\x{e0020}-\x{e007f}]*"
_ANY = (
    rf"[^\pL\pM\pN\p{{Cf}}\s.,:'_&/\x{{1f3fb}}-\x{{1f3ff}}{_ADDRESS}-]{_WITH}"
)
# A full stop is separated at the end of a text, and between a lower-case letter
# or digit and a capital, but not after these titles.
TITLES = "Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr"
_INSIDE = (r"([\pL\pM\pN])'(\pL)", r"\1 '\2")
_APART = [
    (r"[‘’]", "'"),
    (r"[“”]", '"'),
    (
        rf"([\x{{1f1e6}}-\x{{1f1ff}}]{{2}}|{_ANY}(?:\x{{200d}}{_ANY})*)",
        r" \1 ",
    ),
    (r"([^0-9])([,:])", r"\1 \2 "),
    (r"([,:])([^0-9]|$)", r" \1 \2"),
    (r"(\.\.+)", r" \1 "),
    (r"([^.\s])\.(['\")\]\s]*)$", r"\1 . \2"),
    (
        rf"([\pN\p{{Ll}}\pM{_ADDRESS}])\.(['\")\]\s]*\s['\"(\s]*\p{{Lu}})",
        r"\1 .\2",
    ),
    (rf"\b({TITLES}) \. ", r"\1. "),
    _INSIDE,
    _INSIDE,
]
# Other closing punctuation follows a word: ASCII, Arabic, Devanagari, Khmer,
# Burmese, Tibetan, Ethiopic and Armenian.
_CLOSE = (
    r".,!?;:%…‰\p{Pe}\x{60c}\x{61b}\x{61f}\x{66a}\x{6d4}\x{964}\x{965}"
    r"\x{17d4}\x{17d5}\x{104a}\x{104b}\x{f0d}\x{1361}-\x{1367}\x{589}"
)
_CLOSED = (rf" ([{_CLOSE}]+)( |$)", r"\1\2")
_ENDINGS = r"(?i:s|m|d|t|ll|re|ve)"
_ELIDED = (rf"([\pL\pM\pN]) '({_ENDINGS})([^\pL\pN']|$)", r"\1'\2\3")
_TOGETHER = [
    (rf" ?([{_WIDE}]) ?", r"\1"),
    _CLOSED,
    _CLOSED,
    # Quotes open and close alternately; some languages reverse them.
    (r'(["„]) ([^"„]*) "', r'\1\2"'),
    (r"(?:(«) ([^«»]*) (»)|(») ([^«»]*) («))", r"\1\4\2\5\3\6"),
    (r"([\p{Ps}¿¡$]) ", r"\1"),
    (r"(^|[^\pN] )([£€¥₩₹₽]) (\pN)", r"\1\2\3"),
    (r"(\pN) – (\pN)", r"\1–\2"),
    # Quoted words keep the space before them. Other apostrophes are inside
    # words.
    _ELIDED,
    _ELIDED,
    (
        r"(^|[ (])'((?:[^']|[\pL\pN]'\pL)*?[^ '])'([^\pL\pN]|$)",
        rf"\1{_QUOTE}\2'\3",
    ),
    (r"([\pL\pM\pN]) '(\pL)", r"\1'\2"),
    (_QUOTE, "'"),
]


def normalize_text(
    texts: Tensor,
    lowercase: bool | Literal["tr"] = True,
    strip_punctuation: bool = False,
    separate_punctuation: bool = False,
) -> tf.Tensor:
    """Normalizes strings: Unicode form C, white space, case, punctuation.

    Bytes that are not UTF-8 become U+FFFD. Invisible characters, such as soft
    hyphens, zero-width spaces, byte order marks and marks of direction (the
    Unicode property Default_Ignorable_Code_Point), are removed. Those with a
    visible effect are kept: zero-width joiners inside a word or an emoji, or
    after a virama, and variation selectors after the character that they vary.

    Args:
        texts: String tensor of any shape.
        lowercase: Whether to lower-case. `"tr"` uses the rules of Turkish and
            Azerbaijani, where "I" becomes "ı". Otherwise both "I" and "İ"
            become "i".
        strip_punctuation: Whether to remove all characters of the Unicode
            category P.
        separate_punctuation: Whether to separate punctuation from words,
            similarly to the Moses tokenizer. Text tokenized by Moses is not
            changed. E-mail addresses, addresses with `://` or `www.`, and emoji
            of several characters are not split.

    Returns:
        String tensor of the same shape, with single spaces between words and
        none at either end.

    Raises:
        ValueError: when `lowercase` has another value.

    Example:

    >>> texts = ["  Who's\\u00a0there? "]
    >>> normalize_text(texts, strip_punctuation=True).numpy().tolist()
    [b'whos there']
    """
    check_lowercase(lowercase)
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
    texts = visible(texts)
    if strip_punctuation:
        texts = tf.strings.regex_replace(texts, rf"\p{{P}}[{INVISIBLE}]*", "")
    texts = tf_text.normalize_utf8(texts, "NFC")
    texts = _single_spaces(texts)
    if separate_punctuation:
        texts = _around_addresses(_unescape(texts))
        for character, escape in _ESCAPES:
            texts = _replace(texts, character, escape)
        texts = _single_spaces(texts)
    if lowercase == "tr":
        texts = _replace(texts, "I", "ı")
    if lowercase:
        # Its lower case would be an "i" with an additional combining dot.
        texts = _replace(texts, "İ", "i")
        # Last, because it cuts texts at the character U+0000.
        texts = tf.strings.lower(texts, encoding="utf-8")
        # Some letters are composed with their accent only in lower case.
        texts = tf_text.normalize_utf8(texts, "NFC")
    return texts


def check_lowercase(lowercase):
    """Raises `ValueError` unless it is a boolean or the name of a rule."""
    if lowercase not in (True, False, "tr"):
        raise ValueError(
            "`lowercase` must be True, False or 'tr'. "
            f"Received: lowercase={lowercase!r}"
        )


def join_punctuation(texts: Tensor) -> tf.Tensor:
    """Rejoins punctuation that `normalize_text` separated from words.

    The original text cannot always be restored: "word—word" and "word — word"
    are the same after separation, and stay separated. Curved quotes stay
    straight.

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


def _around_addresses(texts):
    """Separates punctuation, except in addresses."""
    shape = tf.shape(texts)
    texts = _replace(tf.reshape(texts, [-1]), _ADDRESS, "\ufffd")
    texts = tf.strings.regex_replace(
        texts, ADDRESSES, rf"{_ADDRESS}\0{_ADDRESS}"
    )
    # Every second part is an address.
    parts = tf.strings.split(texts, _ADDRESS)
    found = tf.ragged.range(parts.row_lengths()) % 2 == 1
    addresses = tf.ragged.boolean_mask(parts, found)
    texts = tf.strings.reduce_join(tf.where(found, _ADDRESS, parts), axis=-1)
    between = tf.strings.split(_rewrite(texts, _APART), _ADDRESS)
    last = tf.fill((addresses.nrows(), 1), "")
    addresses = tf.concat([addresses, last], axis=1)
    texts = between.with_flat_values(
        tf.strings.join([between.flat_values, addresses.flat_values])
    )
    return tf.reshape(tf.strings.reduce_join(texts, axis=-1), shape)


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
    old = "".join(f"\\x{{{ord(c):x}}}" for c in old)
    return tf.strings.regex_replace(texts, old, new)


def _single_spaces(texts):
    return tf.strings.strip(tf.strings.regex_replace(texts, f"[{SPACE}]+", " "))
