"""Subwords as words."""

_SPACE = "▁"  # how SentencePiece marks the beginning of a word


def subword_words(tokens: list[str]) -> list[tuple[int, str]]:
    """Returns the index of the first token of each word, and the word.

    Tokens are whole words if none of them has the mark of SentencePiece.

    Args:
        tokens: List of strings.

    Example:

    >>> subword_words(["▁wh", "ere", "</s>"])
    [(0, 'where'), (2, '</s>')]
    """
    marked = any(token.startswith(_SPACE) for token in tokens)
    starts = [
        position
        for position, token in enumerate(tokens)
        if position == 0
        or token.startswith(_SPACE)
        or token == "</s>"
        or not marked
    ]
    return [
        (begin, "".join(x.removeprefix(_SPACE) for x in tokens[begin:end]))
        for begin, end in zip(starts, [*starts[1:], None], strict=True)
    ]
