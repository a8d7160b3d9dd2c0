"""Sentences of words and their tags, checked."""

import itertools
from collections.abc import Sequence

from kerasrnn.data.tags.phrases import convert_tags
from kerasrnn.tag_schemes import check_phrase_tags

Sentences = Sequence[Sequence[tuple[str, str]]]
"""Sentences of words and their tags."""


def columns_of(sentences, scheme):
    """Returns the words and the tags of sentences, these in a scheme.

    Raises:
        ValueError: when there is no sentence, one is empty, or no scheme has
            one of the tags.
    """
    if isinstance(sentences, str):
        raise ValueError(
            "Sentences are lists of `(word, tag)`, as `read_tagged_words` of "
            f"`kerasrnn.data` returns them. Received: {sentences!r:.80}"
        )
    if not len(sentences) or not all(map(len, sentences)):
        raise ValueError(
            "Sentences must have words, and there must be at least one. "
            f"Received: {len(sentences)} sentences, "
            f"{sum(not len(x) for x in sentences)} of them empty"
        )
    words, tags = zip(
        *(zip(*sentence, strict=True) for sentence in sentences), strict=True
    )
    if scheme is not None:
        check_phrase_tags(sorted(set(itertools.chain(*tags))))
        tags = [convert_tags(sentence, scheme) for sentence in tags]
    return list(map(list, words)), list(map(list, tags))
