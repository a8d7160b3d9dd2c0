"""When two texts count as the same, for splits that share none."""

import unicodedata

from kerasrnn.tokenizers.invisible import appearance


class _Punctuation(dict):
    """What `str.translate` removes, looked up once for each character."""

    def __missing__(self, code):
        is_mark = unicodedata.category(chr(code)).startswith("P")
        return self.setdefault(code, None if is_mark else code)


_PUNCTUATION = _Punctuation()


def source_key(text: str) -> str:
    """Reduces a sentence to a key that is equal for near-identical sentences.

    The key ignores case, punctuation (Unicode category P), the form of
    Unicode composition, the amount of white space and invisible characters,
    also joiners. A sentence that is only punctuation keeps it.

    Args:
        text: String, a sentence.

    Returns:
        A string, equal for two sentences that count as the same.

    Example:

    >>> source_key("Hello!") == source_key("hello")
    True
    >>> source_key("  I don't   know.")
    'i dont know'
    """
    text = unicodedata.normalize("NFC", appearance(text).casefold())
    kept = text.translate(_PUNCTUATION)
    return " ".join((kept.strip() or text).split())
