"""The English sentences of the phrasebook, as a text for language models."""

import random
import re

from corpora.hindi_phrasebook import phrasebook


def english_sentences(seed):
    """Returns the sentences in random order, each once.

    As in the Penn Treebank, a punctuation mark is a word.

    Args:
        seed: Integer, the seed of the order.
    """
    lines = {re.sub(r"([.,?!])", r" \1", line) for line, _ in phrasebook()}
    lines = sorted(lines)
    random.Random(seed).shuffle(lines)
    return lines
