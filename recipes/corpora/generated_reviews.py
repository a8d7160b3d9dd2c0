"""Film reviews, generated at random from templates."""

import random
import re

from corpora.drawing import drawn
from kerasrnn.data import LabelledTexts

# A review expresses the opinion of its label, but often in words of the other:
# the plot was not weak, or was weak before a "but". Word order matters.
_GOOD = {
    "adjective": (
        "good great wonderful funny clever moving gripping fresh charming "
        "brilliant convincing elegant exciting lovely strong memorable"
    ).split(),
    "verb": "loved enjoyed admired adored liked".split(),
}
_BAD = {
    "adjective": (
        "bad awful boring dull weak silly clumsy tedious stale predictable "
        "lifeless painful shallow annoying messy forgettable"
    ).split(),
    "verb": "hated disliked despised regretted loathed".split(),
}
# Words in `same` have the opinion of the review, words in `other` the opposite.
_SENTENCES = {
    "plain": [
        "The {a} was {very}{same}.",
        "What a {same} {a}!",
        "Both the {a} and the {b} were {very}{same}.",
        "I {same_verb} the {a}.",
    ],
    "negated": [
        "The {a} was not {other}.",
        "The {a} was never {other}, nor was the {b}.",
        "The {a} wasn't {other} at all.",
        "There is nothing {other} about the {a}.",
        "Nobody would say that the {a} is {other}.",
        "I did not think that the {a} was {other}.",
        "No one can say that they {other_verb} the {a}.",
    ],
    "mixed": [
        "The {a} was {other}, but the {b} was {very}{same}.",
        "Although the {a} seemed {other}, I {same_verb} the {b}.",
        "Some call it {other}; they are wrong, it is {same}.",
        "I expected a {other} {a} and got a {same} one.",
        "My friends {other_verb} it, yet the {a} was not {other}.",
    ],
    "neutral": [
        "I saw it {time} with {person}.",
        "{person} chose it.",
        "Trust me on the {a}, u will see.",
    ],
}
_SHARES = [15, 40, 30, 15]  # percentages of these
_WORDS = _SENTENCES | {
    # A sentence has one of each, so that they differ.
    "a": (
        "plot story acting cast music soundtrack ending beginning dialogue film"
    ).split(),
    "b": (
        "script camera lighting pacing humour editing villain hero movie sequel"
    ).split(),
    "very": ["", "", "really ", "very ", "quite ", "truly "],
    "person": [
        *("my sister", "my brother", "a friend", "my parents"),
        "two colleagues",
    ],
    "time": [
        *("last night", "on Sunday", "on a long flight", "at a festival"),
    ],
}


def generated_reviews(count=2000, seed=0):
    """Generates short English film reviews, to try a classifier without data.

    Each has one to six sentences. Many contain a negation ("The plot was never
    dull") or a contrast ("The cast was weak, but the music was lovely"), so
    that counting words is often misleading. Half of the reviews are positive,
    and one more if their number is odd. No two are the same. Scores on them
    say nothing about reviews that people write.

    Args:
        count: Positive integer, the number of reviews.
        seed: Integer. The same count and seed give the same reviews.

    Returns:
        `LabelledTexts`, in random order.

    Example:

    ```python
    texts, labels = generated_reviews(100)
    len(texts), sum(labels)  # (100, 50)
    ```
    """
    rng = random.Random(seed)
    labels = [(place + 1) % 2 for place in range(count)]
    rng.shuffle(labels)
    reviews = {}
    for label in labels:
        while (review := _review(rng, label)) in reviews:
            pass
        reviews[review] = label
    return LabelledTexts(list(reviews), list(reviews.values()))


def _review(rng, label):
    same, other = (_GOOD, _BAD) if label else (_BAD, _GOOD)
    words = _WORDS | {"same": same["adjective"], "same_verb": same["verb"]}
    words |= {"other": other["adjective"], "other_verb": other["verb"]}
    kinds = rng.choices([*_SENTENCES], _SHARES, k=rng.randint(1, 6))
    if set(kinds) == {"neutral"}:
        kinds[-1] = "plain"  # at least one opinion
    found = [drawn(f"{{{kind}}}", words, rng) for kind in kinds]
    found = [sentence[0].upper() + sentence[1:] for sentence in found]
    text = rng.choice([" ", " ", " ", "<br /><br />"]).join(found)
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
