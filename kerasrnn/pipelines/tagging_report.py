"""What a tagger gets wrong, in words and pictures."""

import numpy as np

from kerasrnn.data.tag_schemes import parsed_tag
from kerasrnn.plots import matrix_figure

_SHOWN = 5  # sentences


def print_worst(words, true, found):
    """Prints and returns the sentences with the most wrong tags.

    Args:
        words, true, found: Lists of lists of strings.
    """
    wrong = [
        sum(a != b for a, b in zip(*tags, strict=True))
        for tags in zip(true, found, strict=True)
    ]
    worst = sorted(range(len(words)), key=lambda n: -wrong[n])[:_SHOWN]
    worst = [n for n in worst if wrong[n]]
    if worst:
        print("\nSentences with the most wrong tags (word/true/predicted):")
    for n in worst:
        triples = zip(words[n], true[n], found[n], strict=True)
        shown = (w if a == b else f"{w}/{a}/{b}" for w, a, b in triples)
        print("\n  " + " ".join(shown))
    return [
        {"words": words[n], "true": true[n], "found": found[n]} for n in worst
    ]


def confusion_figure(tagger, true, found):
    """Draws how often each tag was taken for each other, without prefixes."""
    kinds = [_kind(tag, tagger.scheme) for tag in tagger.tags]
    names = list(dict.fromkeys(kinds))
    number = {
        tag: names.index(kind)
        for tag, kind in zip(tagger.tags, kinds, strict=True)
    }
    counts = np.zeros((len(names), len(names)), int)
    for expected, given in zip(true, found, strict=True):
        for a, b in zip(expected, given, strict=True):
            counts[number[a], number[b]] += 1
    return matrix_figure(
        counts, names, names, "true tag", "predicted tag", "Tags of words"
    )


def _kind(tag, scheme):
    """The type of a tag, or a tag that is no part of a phrase."""
    return (scheme and parsed_tag(tag)[1]) or tag


def transition_figure(tagger):
    """Draws the weights of the transitions of a `CRF`; grey is forbidden."""
    crf = tagger.model.crf
    weights = crf.transitions.numpy()
    if crf.allowed is not None:
        transitions, *_ = crf.allowed
        weights = np.where(transitions, weights, np.nan)
    return matrix_figure(
        weights,
        tagger.tags,
        tagger.tags,
        "tag",
        "next tag",
        "Weights of a tag after another",
    )
