"""Film reviews, generated at random from templates."""

import random
import re

from kerasrnn.data import LabelledTexts

# A review expresses the opinion of its label, but often in words of the other:
# the plot was not weak, or was weak before a "but". Word order matters.
_THINGS = (
    "plot story acting cast music soundtrack ending beginning dialogue script "
    "camera lighting pacing humour editing villain hero film movie sequel"
).split()
_GOOD = (
    "good great wonderful funny clever moving gripping fresh charming "
    "brilliant convincing elegant exciting lovely strong memorable"
).split()
_BAD = (
    "bad awful boring dull weak silly clumsy tedious stale predictable "
    "lifeless painful shallow annoying messy forgettable"
).split()
_LIKED = "loved enjoyed admired adored liked".split()
_HATED = "hated disliked despised regretted loathed".split()
_OPINIONS = [(_GOOD, _LIKED), (_BAD, _HATED)]
_PEOPLE = "my sister,my brother,a friend,my parents,two colleagues".split(",")
_TIMES = "last night,on Sunday,on a long flight,at a festival".split(",")
_VERY = ["", "", "really ", "very ", "quite ", "truly "]

# Words in `same` have the opinion of the review, words in `other` the opposite.
_PLAIN = [
    "The {a} was {very}{same}.",
    "What a {same} {a}!",
    "Both the {a} and the {b} were {very}{same}.",
    "I {same_verb} the {a}.",
]
_NEGATED = [
    "The {a} was not {other}.",
    "The {a} was never {other}, nor was the {b}.",
    "The {a} wasn't {other} at all.",
    "There is nothing {other} about the {a}.",
    "Nobody would say that the {a} is {other}.",
    "I did not think that the {a} was {other}.",
    "No one can say that they {other_verb} the {a}.",
]
_MIXED = [
    "The {a} was {other}, but the {b} was {very}{same}.",
    "Although the {a} seemed {other}, I {same_verb} the {b}.",
    "Some call it {other}; they are wrong, it is {same}.",
    "I expected a {other} {a} and got a {same} one.",
    "My friends {other_verb} it, yet the {a} was not {other}.",
]
_NEUTRAL = [
    "I saw it {time} with {person}.",
    "{person} chose it.",
    "Trust me on the {a}, u will see.",
]
_KINDS = [_PLAIN, _NEGATED, _MIXED, _NEUTRAL]
_WEIGHTS = [15, 40, 30, 15]


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

    Raises:
        ValueError: If `count` is not a positive integer.

    Example:

    ```python
    texts, labels = generated_reviews(100)
    len(texts), sum(labels)  # (100, 50)
    ```
    """
    if not (isinstance(count, int) and count > 0):
        raise ValueError(
            f"`count` must be a positive integer. Received: count={count!r}"
        )
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
    kinds = rng.choices(_KINDS, _WEIGHTS, k=rng.randint(1, 6))
    if all(kind is _NEUTRAL for kind in kinds):
        kinds[-1] = rng.choice(_KINDS[:-1])  # at least one opinion
    gap = rng.choice([" ", " ", " ", "<br /><br />"])
    return gap.join(_sentence(rng, rng.choice(kind), label) for kind in kinds)


def _sentence(rng, template, label):
    (same, same_verb), (other, other_verb) = (
        (rng.choice(words), rng.choice(verbs))
        for words, verbs in (_OPINIONS if label else _OPINIONS[::-1])
    )
    a, b = rng.sample(_THINGS, 2)
    sentence = template.format(
        a=a,
        b=b,
        same=same,
        same_verb=same_verb,
        other=other,
        other_verb=other_verb,
        very=rng.choice(_VERY),
        person=rng.choice(_PEOPLE),
        time=rng.choice(_TIMES),
    )
    sentence = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", sentence)
    return sentence[0].upper() + sentence[1:]
