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


def distinct_labels(texts):
    """Returns shortened texts that differ where the texts differ, if possible.

    Those that begin alike are cut in the middle.

    Args:
        texts: List of strings.

    Example:

    >>> begin = "customer service department "
    >>> distinct_labels([begin + "number 1", begin + "number 2"])
    ['customer servic…artment number 1', 'customer servic…artment number 2']
    """
    short = list(map(shortened, texts))
    if len(set(short)) == len(set(texts)):
        return short
    half = MAX_CHARACTERS // 2
    return [
        text if text == cut else f"{text[: half - 1]}…{text[-half:]}"
        for text, cut in zip(texts, short, strict=True)
    ]
