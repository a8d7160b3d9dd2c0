"""Labels that leave a picture its room."""

MAX_CHARACTERS = 32


def shortened(text):
    """Returns a text, cut to 32 characters where it is longer.

    Args:
        text: String.

    Example:

    >>> shortened("incomprehensible" * 9)
    'incomprehensibleincomprehensibl…'
    """
    if len(text) <= MAX_CHARACTERS:
        return text
    return text[: MAX_CHARACTERS - 1] + "…"
