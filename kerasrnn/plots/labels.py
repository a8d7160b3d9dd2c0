"""Labels of limited length."""

MAX_CHARACTERS = 32


def shortened(text):
    """Returns a text, shortened to at most 32 characters.

    Args:
        text: String.

    Example:

    >>> shortened("incomprehensible" * 9)
    'incomprehensibleincomprehensibl…'
    """
    if len(text) <= MAX_CHARACTERS:
        return text
    return text[: MAX_CHARACTERS - 1] + "…"
