"""Patterns of statements with "be": qualities, states and places."""

from corpora.phrasebook.clauses import NOWHEN
from corpora.phrasebook.clauses import copula
from corpora.phrasebook.clauses import finish
from corpora.phrasebook.clauses import join
from corpora.phrasebook.clauses import to_be
from corpora.phrasebook.english import add_s
from corpora.phrasebook.english import article
from corpora.phrasebook.english import be
from corpora.phrasebook.hindi import Agreement
from corpora.phrasebook.hindi import agree
from corpora.phrasebook.hindi import decline
from corpora.phrasebook.lexicon import COLOURS
from corpora.phrasebook.lexicon import JOBS
from corpora.phrasebook.lexicon import NOUNS
from corpora.phrasebook.lexicon import PLACES
from corpora.phrasebook.lexicon import STATES
from corpora.phrasebook.lexicon import TIMES_OF_BEING
from corpora.phrasebook.people import KIN
from corpora.phrasebook.people import PEOPLE
from corpora.phrasebook.people import owner
from corpora.phrasebook.people import person_name
from corpora.phrasebook.people import somebody
from corpora.phrasebook.people import subject
from corpora.phrasebook.phrases import BARE
from corpora.phrasebook.phrases import THAT
from corpora.phrasebook.phrases import THE
from corpora.phrasebook.phrases import THIS
from corpora.phrasebook.phrases import Possessor
from corpora.phrasebook.phrases import agree_all
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.things import adjective_for
from corpora.phrasebook.things import item
from corpora.phrasebook.things import sometimes

THINGS = tuple(
    noun
    for noun in NOUNS.values()
    if noun.kind not in ("child", "person", "kin", "money", "animal", "opening")
)
LASTING = ("clever", "tall")
POINTING = {"this": "यह", "these": "ये", "that": "वह", "those": "वे"}
_PORTABLE = "book letter newspaper pen key ticket phone toy picture"
_SPOTS = "the table|the chair|the bag|the box|the room|the kitchen|the car"
_BUILDINGS = "the house|the station|the temple|the hospital|the shop"
_RELATIONS = {
    "near": "के पास",
    "behind": "के पीछे",
    "in front of": "के सामने",
}
_CONTENTS = {
    "the table": "book letter pen phone picture newspaper flower apple",
    "the room": "chair table window door child boy girl man",
    "the garden": "flower bird cat dog child horse girl",
    "the kitchen": "table chair egg banana cat milk rice water",
    "the village": "shop garden house",
    "the bag": "book pen key ticket shirt apple phone",
    "the house": "room kitchen window door guest cat",
}
_WEATHER = {"hot": "गर्मी", "cold": "ठंड"}
_RAIN = {
    "present": ("is raining", "हो रही है"),
    "past": ("rained", "हुई"),
    "future": ("will rain", "होगी"),
}


def owned_thing(pick, plural=False):
    """Draws a thing and its phrase: "my house", "Ram's book", "the tea"."""
    noun = pick(THINGS)
    whose = (owner(pick), Possessor(person_name(pick)))
    if noun.kind in ("drink", "food", "fruit", "flower", "town"):
        whose = ()
    determiner = pick((THE, THIS, THAT, *whose))
    return noun, noun_phrase(noun, determiner, plural=plural)


def quality(pick, noun, thing):
    """Draws an adjective that agrees with the phrase of a thing, or `None`."""
    adjective = adjective_for(pick, noun)
    if adjective is None:
        return None
    english, hindi = pick((("", ""), ("", ""), ("very", "बहुत")))
    if adjective.english in COLOURS:
        english = hindi = ""
    form = agree(adjective.hindi, noun.feminine, thing.agreement.plural)
    return join(english, adjective.english), join(hindi, form)


def state(pick, who):
    """Draws a state of a person, such as "tired", in agreement."""
    english, hindi = pick(tuple(STATES.items()))
    feminine, plural, _ = who.agreement
    return english, agree_all(hindi, feminine, plural)


def location(pick):
    """Draws a place where a person may be."""
    place = PLACES[pick(tuple(PLACES)[:17])]
    return place.at, place.located


def draw_time(pick, time):
    """Draws a time for "is", "was" or "will be", or none."""
    if sometimes(pick, 2):
        return NOWHEN
    return pick(tuple(TIMES_OF_BEING[time].items()))


def thing_is(pick, time, negative=False):
    """A quality of a thing: "Ram's house is very big."."""
    noun, thing = owned_thing(pick, plural=sometimes(pick))
    what = quality(pick, noun, thing)
    return what and finish(*copula(thing, what, time, negative))


def person_is(pick, time, negative=False):
    """The state of a person: "My sister was tired yesterday."."""
    who = subject(pick)
    what = state(pick, who)
    if what[0] not in LASTING:
        when = draw_time(pick, time)
        return finish(*copula(who, what, time, negative, when))
    if time == "present":
        return finish(*copula(who, what, time, negative))
    return None


def person_at(pick, time, negative=False):
    """Where a person is: "Ram was at school yesterday."."""
    when = draw_time(pick, time)
    who, what = subject(pick), location(pick)
    return finish(*copula(who, what, time, negative, when))


def thing_at(pick, time):
    """Where a thing is: "The key is under the chair."."""
    noun = NOUNS[pick(_PORTABLE.split())]
    determiner = pick((THE, owner(pick), Possessor(person_name(pick))))
    thing = noun_phrase(noun, determiner, plural=sometimes(pick, 4))
    place = PLACES[pick(_SPOTS.split("|"))]
    what = place.at, place.located
    if place.preposition == "on" and sometimes(pick):
        what = f"under {place.english}", f"{place.oblique} के नीचे"
    return finish(*copula(thing, what, time))


def beside(pick, time):
    """Relations: "The dog is behind the house."."""
    place = PLACES[pick(_BUILDINGS.split("|"))]
    noun = NOUNS[pick("shop garden car man woman boy girl dog horse".split())]
    english, hindi = pick(tuple(_RELATIONS.items()))
    if noun.english in place.english:
        return None
    thing = noun_phrase(noun, THE, plural=sometimes(pick, 4))
    what = f"{english} {place.english}", f"{place.oblique} {hindi}"
    return finish(*copula(thing, what, time))


def there_is(pick, time):
    """Existence: "There are two books on the table."."""
    place = PLACES[pick(tuple(_CONTENTS))]
    thing = item(pick, NOUNS[pick(_CONTENTS[place.english].split())])
    verb = be(thing.pronoun, past=time == "past")
    hindi = to_be(thing.agreement, time)
    return finish(
        f"there {verb} {thing.english} {place.at}",
        join(place.located, thing.direct, hindi),
    )


def lacking(pick):
    """Absence: "There is no milk in the kitchen."."""
    noun = NOUNS[pick("tea coffee milk water bread rice fish".split())]
    place = PLACES[pick(("the kitchen", "home", "the house", "the shop"))]
    hindi = f"{place.located} {noun.hindi} नहीं है"
    return finish(f"there is no {noun.english} {place.at}", hindi)


def this_is(pick, negative=False):
    """Pointing: "These are Ram's books.", "That is a red car."."""
    noun = pick((*THINGS, *KIN, *KIN, *PEOPLE))
    plural = sometimes(pick)
    if noun.kind == "kin":
        thing = noun_phrase(noun, owner(pick), plural=plural)
    elif noun.number == "mass" or noun.number == "respect":
        return None
    elif sometimes(pick, 2) and noun.kind in ("thing", "clothing", "text"):
        whose = pick((owner(pick), Possessor(person_name(pick))))
        thing = noun_phrase(noun, whose, plural=plural)
    else:
        adjective = adjective_for(pick, noun)
        thing = item(pick, noun, adjective, not negative, several=False)
        if plural:
            thing = noun_phrase(noun, BARE, adjective, plural=True)
    many = thing.pronoun == "they"
    english = pick((("this", "these"), ("that", "those")))
    verb = join(be(thing.pronoun), "not" if negative else "")
    # The plural of respect is only in Hindi: ये मेरे पिताजी हैं.
    pointing = POINTING[english[thing.agreement.plural]]
    hindi = to_be(thing.agreement, negative=negative)
    return finish(
        f"{english[many]} {verb} {thing.english}",
        join(pointing, thing.direct, hindi),
    )


def works_as(pick, time, negative=False):
    """Professions: "His sister is a doctor."."""
    who = subject(pick)
    english, forms = pick(tuple(JOBS.items()))
    if english in who.english:
        return None
    hindi = forms[who.agreement.feminine]
    if who.pronoun in ("we", "they"):
        own_form = hindi != forms[0]
        english, hindi = add_s(english), decline(hindi, own_form, plural=True)
    else:
        english = article(english)
    return finish(*copula(who, (english, hindi), time, negative))


def gift(pick):
    """Benefit: "This letter is for you."."""
    noun = NOUNS[pick("book letter flower bag toy pen shirt picture".split())]
    thing = noun_phrase(noun, pick((THIS, THAT)), plural=sometimes(pick))
    other = somebody(pick)
    what = f"for {other.english_object}", other.with_postposition("लिए")
    return finish(*copula(thing, what))


def weather(pick, time, rain=False):
    """Weather: "It was very cold in Delhi yesterday.", "It will rain."."""
    place = PLACES[pick(("Delhi", "Mumbai", "the village", "the city"))]
    where = pick(((place.at, place.located), ("", "")))
    when = draw_time(pick, time)
    if rain:
        english, verb = _RAIN[time]
        hindi = f"बारिश {verb}"
    else:
        very = pick((("", ""), ("very", "बहुत")))
        weather, noun = pick(tuple(_WEATHER.items()))
        verb = "will be" if time == "future" else be("it", time == "past")
        english = join(verb, very[0], weather)
        hindi = join(very[1], noun, to_be(Agreement(True), time))
    return finish(
        join("it", english, where[0], when[0]), join(when[1], where[1], hindi)
    )


PATTERNS = (
    (thing_is, {"time": "present"}, 85),
    (thing_is, {"time": "present", "negative": True}, 25),
    (thing_is, {"time": "past"}, 40),
    (person_is, {"time": "present"}, 60),
    (person_is, {"time": "present", "negative": True}, 30),
    (person_is, {"time": "past"}, 40),
    (person_at, {"time": "present"}, 40),
    (person_at, {"time": "present", "negative": True}, 20),
    (person_at, {"time": "past"}, 30),
    (person_at, {"time": "future"}, 30),
    (thing_at, {"time": "present"}, 50),
    (thing_at, {"time": "past"}, 25),
    (beside, {"time": "present"}, 35),
    (beside, {"time": "past"}, 20),
    (there_is, {"time": "present"}, 50),
    (there_is, {"time": "past"}, 25),
    (lacking, {}, 15),
    (this_is, {}, 85),
    (this_is, {"negative": True}, 25),
    (works_as, {"time": "present"}, 40),
    (works_as, {"time": "present", "negative": True}, 20),
    (works_as, {"time": "past"}, 20),
    (gift, {}, 30),
    (weather, {"time": "present"}, 20),
    (weather, {"time": "past"}, 20),
    (weather, {"time": "future"}, 20),
    (weather, {"time": "present", "rain": True}, 6),
    (weather, {"time": "past", "rain": True}, 10),
    (weather, {"time": "future", "rain": True}, 10),
)
