"""Tells whether raw text is split into words as the training set is."""

import collections

import tensorflow as tf

from kerasrnn.data.report import CorpusWarning
from kerasrnn.tokenizers.scripts import is_spaceless
from kerasrnn.tokenizers.word_spans import split_into_words
from kerasrnn.warning import warn

_COMPARED = 2000  # sentences
_TOLERATED = 0.1  # of them, with other words
_SHOWN = 5  # words


def warn_of_other_words(sentences):
    """Warns if many sentences, as text, would be split into other words.

    Args:
        sentences: Lists of words. They are joined by blanks, or by nothing in
            scripts without spaces.
    """
    sentences = sentences[:_COMPARED]
    texts = [
        ("" if is_spaceless("".join(words)) else " ").join(words)
        for words in sentences
    ]
    words, *_ = split_into_words(tf.constant(texts))
    other, count = collections.Counter(), 0
    for given, row in zip(sentences, words.to_list(), strict=True):
        found = [word.decode() for word in row]
        if found != given:
            count += 1
            other.update(set(given) - set(found))
    if count > _TOLERATED * len(sentences):
        examples = [repr(word) for word, _ in other.most_common(_SHOWN)]
        warn(
            "Raw text, as `tag` takes it, is split into other words than those "
            "of the training set, and what was learnt may not be found in it. "
            "Expected: the words of `kerasrnn.tokenizers.split_into_words`; or "
            "give words that are split as these are to `tag_tokens`. Received: "
            f"other words in {count} of {len(sentences)} sentences, such as "
            f"{', '.join(examples)}",
            CorpusWarning,
        )
