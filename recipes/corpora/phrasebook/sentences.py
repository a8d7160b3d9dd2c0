"""Generates the sentences of the phrasebook from its patterns."""

import hashlib
import random

from corpora.phrasebook import being
from corpora.phrasebook import comparing
from corpora.phrasebook import having
from corpora.phrasebook import inquiries
from corpora.phrasebook import questions
from corpora.phrasebook import requests
from corpora.phrasebook import statements

PATTERNS = (
    *statements.PATTERNS,
    *being.PATTERNS,
    *comparing.PATTERNS,
    *having.PATTERNS,
    *questions.PATTERNS,
    *inquiries.PATTERNS,
    *requests.PATTERNS,
)


def phrasebook():
    """Returns the English-Hindi phrasebook.

    Returns:
        A list of `(english, hindi)` pairs of strings, always the same. No
        English sentence occurs twice. The sentences are shuffled, so that any
        slice is a fair sample of the patterns.

    Example:

    >>> pairs = phrasebook()
    >>> dict(pairs)["I am hungry."]
    'मुझे भूख लगी है।'
    """
    pairs = {}
    for pattern, options, quota in PATTERNS:
        for english, hindi in draw(pattern, options, quota):
            if pairs.setdefault(english, hindi) != hindi:
                raise ValueError(
                    "An English sentence must have one translation. Received: "
                    f"{english!r} as {pairs[english]!r} and {hindi!r}"
                )
    return sorted(pairs.items(), key=_shuffled)


def draw(pattern, options, quota):
    """Returns up to `quota` distinct sentences of a pattern.

    A pattern is a function that returns one sentence, or `None` if the words
    drawn do not fit together. Small patterns have fewer sentences.
    """
    pick = _picker(f"{pattern.__name__} {sorted(options.items())}")
    drawn = {}
    for _ in range(30 * quota):
        pair = pattern(pick, **options)
        if pair:
            drawn[pair] = None
        if len(drawn) == quota:
            break
    return list(drawn)


def _picker(seed):
    """Returns a function that draws from a sequence, reproducibly.

    `random.Random.random` gives the same numbers in every version of Python;
    `choice` does not guarantee it.
    """
    generator = random.Random(seed)

    def pick(options):
        return options[int(generator.random() * len(options))]

    return pick


def _shuffled(pair):
    return hashlib.sha256(pair[0].encode()).digest()
