"""Generated English sentences with the names of people, places and firms."""

import random

_FIRST = "Anna Boris Carla David Elena Farid Grace Henry Irene Jonas Karin Luis"
_MORE_FIRST = "Maria Nadia Oscar Petra Rahul Sofia Tomas Vera Walter Yusuf Zoe"
_LAST_STARTS = "Ander Berg Carl Dahl Fischer Hart Lind Mor Nor Ols Pet Stan"
_LAST_ENDS = "son sen man berg ova elli ez ski ton field"
_PLACE_STARTS = "Green Spring River Ash Brook Clear East North South Stone"
_PLACE_ENDS = "ville field town port bridge haven ford stad burg mouth"
_PLACES = "Rome Oslo Delhi Hanoi Cairo Lima Paris Quebec Vienna Warsaw"
_BRANCHES = "Motors Foods Airlines Energy Software Textiles Steel Media"
_FORMS = "Ltd Inc Group Holdings"
_MONTHS = "January March April May June August October December"
_GOODS = "bread tea cars phones shoes lamps books coffee rice bicycles"
_TEMPLATES = """\
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
    templates = _TEMPLATES.splitlines()
    found: dict[str, list[tuple[str, str]]] = {}
    while len(found) < count:
        words = _filled(rng.choice(templates), rng)
        found.setdefault(" ".join(word for word, _ in words), words)
    return list(found.values())


def _filled(template, rng):
    """The words of a template with their tags."""
    sentence = []
    for word in template.split():
        kind = word.strip("{}")
        if word == kind:
            sentence.append((word, "O"))
        elif kind == "goods":
            sentence.append((_one_of(_GOODS, rng), "O"))
        else:
            name = _NAMES[kind](rng)
            prefixes = "B" + "I" * (len(name) - 1)
            sentence += [
                (part, f"{prefix}-{kind}")
                for part, prefix in zip(name, prefixes, strict=True)
            ]
    return sentence


def _one_of(words, rng):
    return rng.choice(words.split())


def _last_name(rng):
    return _one_of(_LAST_STARTS, rng) + _one_of(_LAST_ENDS, rng)


def _person(rng):
    first = _one_of(f"{_FIRST} {_MORE_FIRST}", rng)
    return rng.choice([[first], [first, _last_name(rng)], [_last_name(rng)]])


def _place(rng):
    made = _one_of(_PLACE_STARTS, rng) + _one_of(_PLACE_ENDS, rng)
    return rng.choice([[_one_of(_PLACES, rng)], [made], ["New", made]])


def _firm(rng):
    name = rng.choice([_last_name(rng), *_place(rng)[-1:]])
    branch, form = _one_of(_BRANCHES, rng), _one_of(_FORMS, rng)
    return rng.choice(
        [[name], [name, branch], [name, form], [name, branch, form]]
    )


def _date(rng):
    day, month = str(rng.randint(1, 28)), _one_of(_MONTHS, rng)
    year = str(rng.randint(1990, 2030))
    return rng.choice([[day, month], [month, year], [day, month, year]])


_NAMES = {"PER": _person, "LOC": _place, "ORG": _firm, "DATE": _date}
