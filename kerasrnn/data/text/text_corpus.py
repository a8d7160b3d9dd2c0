"""A corpus of sentences in three parts."""

from typing import NamedTuple

from kerasrnn.data.errors import CorpusError
from kerasrnn.tokenizers.invisible import is_blank


class TextCorpus(NamedTuple):
    """The sentences of a corpus.

    Args:
        train: List of strings, the training set.
        validation: List of strings, the validation set.
        test: List of strings, the test set; `None` if there is none.
    """

    train: list[str]
    validation: list[str]
    test: list[str] | None


def split_text_corpus(lines: list[str]) -> TextCorpus:
    """Holds out the last tenth of the lines, at least one, for validation.

    Args:
        lines: List of at least two strings.

    Returns:
        A `TextCorpus` without a test set.

    Raises:
        CorpusError: If there are fewer than two lines.

    Example:

    >>> split_text_corpus(["one", "two", "three"])
    TextCorpus(train=['one', 'two'], validation=['three'], test=None)
    """
    if len(lines) < 2:
        found = "no line"
        if lines:
            found = f"1 line of {len(lines[0].split())} words"
        raise CorpusError(
            "The text is too short to hold out a line for validation. "
            f"Expected: at least 2 lines with text. Received: {found}"
        )
    held_out = max(1, len(lines) // 10)
    return TextCorpus(lines[:-held_out], lines[-held_out:], None)


def sentences_of(lines, place):
    """Returns the lines that are not blank, at least one.

    Args:
        lines: List of strings.
        place: String or path, the name of their source in messages.

    Raises:
        CorpusError: If all are blank.
    """
    sentences = [line.strip() for line in lines if not is_blank(line)]
    if not sentences:
        raise CorpusError(
            f"The corpus {place} is empty. Expected: lines of text. "
            "Received: no line with text"
        )
    return sentences
