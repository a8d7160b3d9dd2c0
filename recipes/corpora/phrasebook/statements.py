"""Patterns of statements about actions.

Here and in the other modules of patterns, a pattern is a function that
returns one sentence of words drawn with `pick`, or `None` if the words drawn
do not fit together. `PATTERNS` lists them with their options and the number of
sentences.
"""

from dataclasses import replace

from corpora.phrasebook import verbs
from corpora.phrasebook.clauses import NOWHEN
from corpora.phrasebook.clauses import Predicate
from corpora.phrasebook.clauses import clause
from corpora.phrasebook.clauses import finish
from corpora.phrasebook.clauses import join
from corpora.phrasebook.hindi import decline
from corpora.phrasebook.lexicon import MEN
from corpora.phrasebook.lexicon import NOUNS
from corpora.phrasebook.lexicon import NUMBERS
from corpora.phrasebook.lexicon import PLACES
from corpora.phrasebook.lexicon import TIMES
from corpora.phrasebook.lexicon import WOMEN
from corpora.phrasebook.people import person_name
from corpora.phrasebook.people import somebody
from corpora.phrasebook.people import subject
from corpora.phrasebook.phrases import BARE
from corpora.phrasebook.phrases import PRONOUNS
from corpora.phrasebook.phrases import name
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.predicates import activity
from corpora.phrasebook.predicates import feeling
from corpora.phrasebook.predicates import motion
from corpora.phrasebook.predicates import predicate
from corpora.phrasebook.predicates import social
from corpora.phrasebook.predicates import transitive
from corpora.phrasebook.things import item
from corpora.phrasebook.things import sometimes

_SIMPLE = (*PRONOUNS, *map(name, [*MEN, *WOMEN]))
_SPANS = {"days": "दिन", "months": "महीने", "years": "साल"}
_TASTES = ("eat", "drink", "cook", "read", "buy")
_NEARBY = (
    "home",
    "to school",
    "to the market",
    "to the office",
    "to the library",
    "to the temple",
)
_KNOWN = {
    "I know that": "मैं जानता हूँ कि",
    "I think that": "मुझे लगता है कि",
    "I hope that": "मुझे उम्मीद है कि",
}


def verb_among(pick, table, *english):
    """Draws one of a few verbs of a table."""
    return pick([verb for verb in table if verb.english in english])


def draw_time(pick, verb, tense, negative=False):
    """Draws a time that fits a verb in a tense, or none."""
    if not verb.fits("when"):
        return NOWHEN
    english, hindi = pick(tuple(TIMES[tense].items()))
    return NOWHEN if negative and "clock" in english else (english, hindi)


def statement(pick, tense, negative=False):
    """Any subject and predicate: "The boys will read two books tomorrow."."""
    who = subject(pick)
    what = predicate(pick, who, tense, not negative)
    # "I read" is also the present, so it would have two translations.
    unclear = what.verb.past == what.verb.english and tense == "past"
    when = NOWHEN
    if sometimes(pick, 2) or (unclear and not negative):
        when = draw_time(pick, what.verb, tense, negative)
    return finish(*clause(who, what, tense, negative, when))


def feels(pick, negative=False):
    """Love and acquaintance: "I love my mother."."""
    who = subject(pick)
    what = feeling(pick, who)
    return finish(*clause(who, what, "habitual", negative))


def together(pick, tense):
    """Company: "Ram is going to school with his sister."."""
    who = subject(pick)
    what = pick((motion, activity))(pick, who, tense)
    alone = what.verb.english in ("cry", "sleep")
    if alone or not what.verb.fits(tense):
        return None
    other = somebody(pick, who)
    what = replace(
        what,
        english=join(what.english, "with", other.english_object),
        hindi=join(other.with_postposition("साथ"), what.hindi),
    )
    return finish(*clause(who, what, tense))


def on_behalf(pick, tense):
    """Benefit: "I bought a sari for my mother."."""
    who = subject(pick)
    verb = verb_among(pick, verbs.TRANSITIVE, "buy", "bring", "make")
    thing = item(pick, NOUNS[pick(verb.nouns.split())])
    other = somebody(pick, who)
    what = Predicate(
        verb,
        f"{thing.english} for {other.english_object}",
        f"{other.with_postposition('लिए')} {thing.direct}",
        thing.agreement,
    )
    return finish(*clause(who, what, tense))


def since(pick):
    """Duration: "I have been living in Delhi for five years."."""
    if sometimes(pick):
        verb = verb_among(pick, verbs.LANGUAGE, "learn")
        english, hindi = pick(tuple(verbs.LANGUAGES.items()))
    else:
        verb = verb_among(pick, verbs.ACTIVITY, "live", "work")
        place = PLACES[pick(verb.places.split("|"))]
        english, hindi = place.at, join(place.located, verb.conjunct)
    number, (unit, span) = pick(tuple(NUMBERS)), pick(tuple(_SPANS.items()))
    when = f"for {number} {unit}", f"{NUMBERS[number]} {span} से"
    what = Predicate(verb, english, hindi)
    return finish(*clause(subject(pick), what, "since", when=when))


def afterwards(pick):
    """Two actions: "After drinking tea, I will go to school."."""
    who = subject(pick)
    tense = pick(("future", "past", "used to"))
    first = transitive(pick, who, "habitual")
    second = motion(pick, who, tense)
    tiring = first.verb.english in ("buy", "sell", "open", "close")
    tiring = tiring or not first.verb.fits("habitual")
    if tiring or second.english not in _NEARBY:
        return None
    english, hindi = clause(who, second, tense)
    # The infinitive is a noun in -ā and oblique before के बाद.
    infinitive = decline(first.verb.stem + "ना", oblique=True)
    return finish(
        f"after {first.verb.ing} {first.english}, {english}",
        f"{first.complement} {infinitive} के बाद {hindi}",
    )


def purpose(pick):
    """Purpose: "Ram went to the market to buy vegetables."."""
    tense = pick(("past", "future", "continuous", "want", "have to"))
    buy = verb_among(pick, verbs.TRANSITIVE, "buy")
    noun = NOUNS[pick(buy.nouns.split())]
    thing = noun_phrase(noun, BARE, plural=True)
    place = PLACES[pick(("the market", "the city", "the shop"))]
    if noun.kind == "place":
        return None
    what = Predicate(
        verb_among(pick, verbs.MOTION, "go"),
        f"to {place.english} to buy {thing.english}",
        f"{thing.direct} खरीदने {place.oblique}",
    )
    return finish(*clause(subject(pick), what, tense))


def condition(pick):
    """Condition: "If Ram comes home, I will make tea."."""
    other, who = pick(_SIMPLE), pick(_SIMPLE)
    if other.pronoun == who.pronoun:
        return None
    first = motion(pick, other, "future")
    second = pick((transitive, social))(pick, who, "future")
    plausible = ("make", "cook", "bring", "call", "help")
    if second.verb.english not in plausible or "from" in first.english:
        return None
    english, hindi = clause(who, second, "future")
    return finish(
        f"if {clause(other, first, 'habitual')[0]}, {english}",
        f"अगर {clause(other, first, 'future')[1]}, तो {hindi}",
    )


def contrast(pick):
    """Contrast: "Ram drinks tea but he does not drink coffee."."""
    who = pick(_SIMPLE)
    verb = verb_among(pick, verbs.TRANSITIVE, *_TASTES)
    nouns = [NOUNS[english] for english in verb.nouns.split()]
    first, other = pick(nouns), pick(nouns)
    if first is other or first.kind != other.kind or other.english == "water":
        return None
    tense = pick(("habitual", "want"))
    things = [noun_phrase(noun, BARE, plural=True) for noun in (first, other)]
    yes, no = (Predicate(verb, thing.english, thing.direct) for thing in things)
    again = {phrase.english: phrase for phrase in PRONOUNS}[who.pronoun]
    english, hindi = clause(who, yes, tense)
    denial = clause(again, no, tense, negative=True)
    # Hindi leaves out the subject of the second clause.
    dropped = denial[1].removeprefix(again.direct + " ")
    return finish(f"{english} but {denial[0]}", f"{hindi} लेकिन {dropped}")


def reported(pick):
    """A sentence inside another: "I know that Ram is going home."."""
    tense = pick(("continuous", "future", "past", "perfect"))
    who = pick((*PRONOUNS[1:], person_name(pick), person_name(pick)))
    what = predicate(pick, who, tense)
    if what.verb.past == what.verb.english:
        return None
    inner = clause(who, what, tense)
    english, hindi = pick(tuple(_KNOWN.items()))
    return finish(f"{english} {inner[0]}", f"{hindi} {inner[1]}")


def forgotten(pick):
    """Forgetting, which has no ने: "I forgot the key at home."."""
    noun = NOUNS[pick("key bag book pen phone ticket".split())]
    thing = noun_phrase(noun, plural=sometimes(pick, 4))
    places = "home|school|the office|the room|the car|the shop|the station"
    place = PLACES[pick(places.split("|"))]
    what = Predicate(
        verbs.FORGET,
        f"{thing.english} {place.at}",
        f"{thing.direct} {place.located} भूल",
    )
    return finish(*clause(subject(pick), what, "past"))


PATTERNS = (
    (statement, {"tense": "habitual"}, 220),
    (statement, {"tense": "continuous"}, 100),
    (statement, {"tense": "past"}, 165),
    (statement, {"tense": "perfect"}, 100),
    (statement, {"tense": "future"}, 125),
    (statement, {"tense": "used to"}, 50),
    (statement, {"tense": "past continuous"}, 65),
    (statement, {"tense": "can"}, 60),
    (statement, {"tense": "want"}, 75),
    (statement, {"tense": "should"}, 65),
    (statement, {"tense": "have to"}, 85),
    (statement, {"tense": "had to"}, 50),
    (statement, {"tense": "habitual", "negative": True}, 60),
    (statement, {"tense": "continuous", "negative": True}, 50),
    (statement, {"tense": "past", "negative": True}, 85),
    (statement, {"tense": "perfect", "negative": True}, 30),
    (statement, {"tense": "future", "negative": True}, 60),
    (statement, {"tense": "can", "negative": True}, 40),
    (statement, {"tense": "want", "negative": True}, 30),
    (statement, {"tense": "should", "negative": True}, 30),
    (feels, {}, 40),
    (feels, {"negative": True}, 20),
    (together, {"tense": "continuous"}, 25),
    (together, {"tense": "future"}, 25),
    (together, {"tense": "past"}, 25),
    (on_behalf, {"tense": "past"}, 30),
    (on_behalf, {"tense": "future"}, 25),
    (since, {}, 75),
    (afterwards, {}, 50),
    (purpose, {}, 50),
    (condition, {}, 50),
    (contrast, {}, 50),
    (reported, {}, 60),
    (forgotten, {}, 30),
)
