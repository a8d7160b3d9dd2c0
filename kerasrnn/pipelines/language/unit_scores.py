"""Scores of a text by its words and bytes, whatever its tokens are."""

import math
from collections.abc import Iterable

from kerasrnn.tokenizers.invisible import words_between_spaces


def unit_scores(total: float, texts: Iterable[str | bytes]) -> dict[str, float]:
    """Returns how well texts are predicted, by word and by byte.

    Args:
        total: Float, the log-probability of the texts, in nats.
        texts: List of strings without invisible characters. The lines of each
            that are not blank count, with the spaces between their words and
            the line break after them.

    Returns:
        A dictionary of `"word_perplexity"`, where the end of a line is a word,
        too, and `"bits_per_byte"`, of UTF-8; both are NaN without any word.

    Example:

    >>> unit_scores(-4 * math.log(2), ["a b"])
    {'word_perplexity': 2.519..., 'bits_per_byte': 1.0}
    """
    words = size = 0
    for text in texts:
        if isinstance(text, bytes):
            text = text.decode(errors="replace")
        for line in text.split("\n"):
            if found := words_between_spaces(line):
                words += len(found) + 1
                size += len(" ".join(found).encode()) + 1
    if not words:
        return {"word_perplexity": math.nan, "bits_per_byte": math.nan}
    mean = -float(total) / words
    return {
        # Beyond, it has no number in float64.
        "word_perplexity": math.exp(mean) if mean < 700 else math.inf,
        "bits_per_byte": -float(total) / size / math.log(2),
    }
