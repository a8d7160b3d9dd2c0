"""Generated English sentences with the names of people, places and firms."""

import random

from corpora.drawing import drawn

_SENTENCES = """\
{PER} lives in {LOC} .
{PER} and {PER} met in {LOC} on {DATE} .
On {DATE} {PER} left {ORG} .
{ORG} sells {goods} in {LOC} and {LOC} .
The head of {ORG} , {PER} , was born in {LOC} .
Who told {PER} that {ORG} will close ?
{PER} has worked for {ORG} since {DATE} .
Shares of {ORG} rose after {PER} joined .
They drink {goods} in {LOC} every day .
" I like {goods} , " said {PER} of {LOC} .
Nobody at {ORG} answered on {DATE} .
The train from {LOC} to {LOC} was late again .
{ORG} , a maker of {goods} , moved to {LOC} .
Is {PER} the sister of {PER} ?
No one buys {goods} here .
The bridge in {LOC} was built by {ORG} .
{PER} said so on {DATE} .
{ORG} said so on {DATE} .
{LOC} said so on {DATE} .
We wrote to {PER} and to {ORG} ."""
# Names that are tagged, in all their forms, and the words of these.
_NAMES = {
    "PER": ["{first}", "{first} {last}", "{last}"],
    "LOC": ["{city}", "{town}", "New {town}"],
    "ORG": [
        *("{owner}", "{owner} {branch}"),
        *("{owner} {form}", "{owner} {branch} {form}"),
    ],
    "DATE": ["{day} {month}", "{month} {year}", "{day} {month} {year}"],
}
_WORDS = _NAMES | {
    "first": (
        "Anna Boris Carla David Elena Farid Grace Henry Irene Jonas Karin "
        "Luis Maria Nadia Oscar Petra Rahul Sofia Tomas Vera Walter Yusuf Zoe"
    ).split(),
    "last": [
        start + end
        for start in (
            "Ander Berg Carl Dahl Fischer Hart Lind Mor Nor Ols Pet Stan"
        ).split()
        for end in "son sen man berg ova elli ez ski ton field".split()
    ],
    "city": (
        "Rome Oslo Delhi Hanoi Cairo Lima Paris Quebec Vienna Warsaw"
    ).split(),
    "town": [
        start + end
        for start in (
            "Green Spring River Ash Brook Clear East North South Stone"
        ).split()
        for end in (
            "ville field town port bridge haven ford stad burg mouth"
        ).split()
    ],
    # A firm may be called after a person or a place.
    "owner": ["{last}", "{city}", "{town}"],
    "branch": (
        "Motors Foods Airlines Energy Software Textiles Steel Media"
    ).split(),
    "form": "Ltd Inc Group Holdings".split(),
    "day": [str(day) for day in range(1, 29)],
    "month": "January March April May June August October December".split(),
    "year": [str(year) for year in range(1990, 2031)],
    "goods": (
        "bread tea cars phones shoes lamps books coffee rice bicycles"
    ).split(),
}


def tagged_sentences(count: int, seed: int) -> list[list[tuple[str, str]]]:
    """Returns sentences of words and tags, which are different.

    Names are drawn from so many that a sentence often has some that no other
    has. Some look like each other: a firm may be called after a person or a
    town.

    Args:
        count: Integer, the number of sentences.
        seed: Integer, the seed of the draws.

    Returns:
        List of lists of `(word, tag)`, with tags of IOB2 for `PER`, `LOC`,
        `ORG` and `DATE`.
    """
    rng = random.Random(seed)
    found: dict[str, list[tuple[str, str]]] = {}
    while len(found) < count:
        sentence = []
        for word in rng.choice(_SENTENCES.splitlines()).split():
            kind, first = word.strip("{}"), len(sentence)
            for part in drawn(word, _WORDS, rng).split():
                prefix = "B" if len(sentence) == first else "I"
                tag = f"{prefix}-{kind}" if kind in _NAMES else "O"
                sentence.append((part, tag))
        found.setdefault(" ".join(word for word, _ in sentence), sentence)
    return list(found.values())
