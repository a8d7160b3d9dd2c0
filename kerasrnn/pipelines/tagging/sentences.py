"""Sentences of words and their tags, checked."""

from collections.abc import Sequence

from kerasrnn.arguments import is_string
from kerasrnn.arguments import is_text
from kerasrnn.data.tagged_words import convert_tags
from kerasrnn.pipelines.texts import text_list

Sentences = Sequence[Sequence[tuple[str, str]]]
"""Sentences of words and their tags."""


def columns_of(sentences, scheme):
    """Returns the words and the tags of sentences, these in a scheme.

    Raises:
        ValueError: when there is no sentence, one is empty or not a list of
            words and tags, or no scheme has one of the tags.
    """
    # Strings, dictionaries and tables are iterable, too.
    whole = isinstance(sentences, str | dict) or hasattr(sentences, "columns")
    for sentence in [sentences] if whole else sentences:
        if not _is_sentence(sentence):
            raise ValueError(
                "A sentence is a list of its words, each with its tag, such as "
                '[("Anna", "B-PER"), ("sings", "O")]; `read_tagged_words` of '
                "`kerasrnn.data` returns a list of such sentences. "
                f"Received: {sentence!r:.80}"
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
        tags = [convert_tags(sentence, scheme) for sentence in tags]
    return list(map(text_list, words)), list(map(list, tags))


def _is_sentence(sentence):
    """Whether it is a list of `(word, tag)`; a pair of lists is not."""
    pairs = list | tuple if isinstance(sentence, list) else tuple
    return isinstance(sentence, list | tuple) and all(
        isinstance(pair, pairs)
        and len(pair) == 2
        and is_string(pair[0])
        and is_text(pair[1])
        for pair in sentence
    )
