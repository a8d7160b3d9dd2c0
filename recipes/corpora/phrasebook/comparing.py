"""Patterns of comparisons, ages and names."""

from corpora.phrasebook.being import THINGS
from corpora.phrasebook.clauses import copula
from corpora.phrasebook.clauses import finish
from corpora.phrasebook.english import comparative
from corpora.phrasebook.english import superlative
from corpora.phrasebook.hindi import agree
from corpora.phrasebook.lexicon import COLOURS
from corpora.phrasebook.lexicon import MEN
from corpora.phrasebook.lexicon import NUMBERS
from corpora.phrasebook.lexicon import PLACES
from corpora.phrasebook.lexicon import WOMEN
from corpora.phrasebook.people import RELATIVES
from corpora.phrasebook.people import owner
from corpora.phrasebook.people import person_name
from corpora.phrasebook.people import somebody
from corpora.phrasebook.people import subject
from corpora.phrasebook.phrases import PRONOUNS
from corpora.phrasebook.phrases import THAT
from corpora.phrasebook.phrases import THIS
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.things import adjective_for
from corpora.phrasebook.things import sometimes

_MEASURES = {
    "taller": "लंबा",
    "older": "बड़ा",
    "younger": "छोटा",
    "better": "अच्छा",
}


def people(pick):
    """Comparison of people: "Ram is taller than me."."""
    who = subject(pick)
    other = somebody(pick, who)
    english, hindi = pick(tuple(_MEASURES.items()))
    feminine, plural, _ = who.agreement
    form = agree(hindi, feminine, plural)
    what = f"{english} than {other.english_object}", f"{other.case('से')} {form}"
    return finish(*copula(who, what))


def things(pick):
    """Comparison of things: "This house is bigger than that house."."""
    noun = pick([noun for noun in THINGS if noun.number == "count"])
    adjective = adjective_for(pick, noun)
    if not adjective or adjective.english in COLOURS:
        return None
    plural = sometimes(pick)
    one = noun_phrase(noun, THIS, plural=plural)
    other = noun_phrase(noun, THAT, plural=plural)
    form = agree(adjective.hindi, noun.feminine, plural)
    what = (
        f"{comparative(adjective.english)} than {other.english}",
        f"{other.case('से')} {form}",
    )
    return finish(*copula(one, what))


def best(pick):
    """Superlatives: "This is the biggest house in the village."."""
    outdoors = ("house", "shop", "garden")
    indoors = ("clothing", "thing", "fruit", "flower")
    nouns = [n for n in THINGS if n.kind in indoors or n.english in outdoors]
    noun = pick([noun for noun in nouns if noun.number == "count"])
    adjective = adjective_for(pick, noun)
    places = "the shop|the house"
    if noun.kind == "place":
        places = "Delhi|Mumbai|the village|the city"
    place = PLACES[pick(places.split("|"))]
    if not adjective or adjective.english in COLOURS:
        return None
    if noun.english == place.english.removeprefix("the "):
        return None
    what = f"{superlative(adjective.english)} {noun.english}"
    form = agree(adjective.hindi, noun.feminine)
    whose = f"{place.oblique} {agree('का', noun.feminine)}"
    return finish(
        f"this is the {what} {place.at}",
        f"यह {whose} सबसे {form} {noun.hindi} है",
    )


def age(pick):
    """Ages: "My daughter is ten years old."."""
    relative = noun_phrase(pick(RELATIVES), owner(pick))
    who = pick((*PRONOUNS[:4], person_name(pick), relative, relative))
    number = pick(tuple(NUMBERS))
    feminine, plural, _ = who.agreement
    what = (
        f"{number} years old",
        f"{NUMBERS[number]} साल {agree('का', feminine, plural)}",
    )
    return finish(*copula(who, what))


def called(pick):
    """Names: "My sister's name is Radha."."""
    relative = noun_phrase(pick(RELATIVES), owner(pick))
    who = pick((*PRONOUNS[:4], relative, relative))
    names = WOMEN if who.agreement.feminine else MEN
    english, hindi = pick(tuple(names.items()))
    return finish(
        f"{who.possessive} name is {english}",
        f"{who.genitive()} नाम {hindi} है",
    )


PATTERNS = (
    (people, {}, 60),
    (things, {}, 50),
    (best, {}, 30),
    (age, {}, 75),
    (called, {}, 30),
)
