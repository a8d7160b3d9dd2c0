"""How long the lines of a corpus are."""

from kerasrnn.data.text.text_corpus import TextCorpus


def length_table(corpus: TextCorpus) -> dict[str, dict[str, float]]:
    """Counts the lines of a corpus and the words in them.

    Args:
        corpus: A `TextCorpus`.

    Returns:
        A dict from the name of each part of the corpus to a dict of numbers:
        `lines`; `tokens`, separated by white space; and `average`, `minimum`
        and `maximum`, the number of tokens in a line. A part without lines is
        left out.

    Example:

    >>> corpus = TextCorpus(["the red book", "hello"], ["a book"], None)
    >>> length_table(corpus)["train"]
    {'lines': 2, 'tokens': 4, 'average': 2.0, 'minimum': 1, 'maximum': 3}
    """
    table = {}
    for name, lines in corpus._asdict().items():
        if not lines:
            continue
        lengths = [len(line.split()) for line in lines]
        table[name] = {
            "lines": len(lengths),
            "tokens": sum(lengths),
            "average": sum(lengths) / len(lengths),
            "minimum": min(lengths),
            "maximum": max(lengths),
        }
    return table
