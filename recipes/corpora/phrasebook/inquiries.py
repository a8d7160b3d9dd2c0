"""Patterns of questions with "be": qualities, states and places."""

from corpora.phrasebook.being import LASTING
from corpora.phrasebook.being import POINTING
from corpora.phrasebook.being import THINGS
from corpora.phrasebook.being import draw_time
from corpora.phrasebook.being import location
from corpora.phrasebook.being import owned_thing
from corpora.phrasebook.being import quality
from corpora.phrasebook.being import state
from corpora.phrasebook.clauses import NOWHEN
from corpora.phrasebook.clauses import copula_question
from corpora.phrasebook.clauses import finish
from corpora.phrasebook.clauses import join
from corpora.phrasebook.clauses import to_be
from corpora.phrasebook.english import be
from corpora.phrasebook.hindi import agree
from corpora.phrasebook.people import PEOPLE
from corpora.phrasebook.people import RELATIVES
from corpora.phrasebook.people import asked_about
from corpora.phrasebook.people import owner
from corpora.phrasebook.people import person_name
from corpora.phrasebook.people import relative
from corpora.phrasebook.phrases import BARE
from corpora.phrasebook.phrases import PRONOUNS
from corpora.phrasebook.phrases import THAT
from corpora.phrasebook.phrases import THIS
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.things import adjective_for
from corpora.phrasebook.things import sometimes

_PRICED = ("thing", "clothing", "fruit", "tool", "text")


def is_thing(pick):
    """Quality: "Is the tea hot?"."""
    noun, thing = owned_thing(pick, plural=sometimes(pick))
    what = quality(pick, noun, thing)
    return what and finish(*copula_question(thing, what), "?")


def is_person(pick, time):
    """State or place: "Are you tired?", "Was Ram at home yesterday?"."""
    who = asked_about(pick)
    what = pick((location(pick), state(pick, who)))
    when = draw_time(pick, time)
    if what[0] in LASTING:
        if time != "present":
            return None
        when = NOWHEN
    return finish(*copula_question(who, what, time, when), "?")


def where_is(pick, time):
    """Place: "Where is my book?", "Where were you yesterday?"."""
    who, when = asked_about(pick), draw_time(pick, time)
    if sometimes(pick, 2):
        _, who = owned_thing(pick, plural=sometimes(pick))
        when = NOWHEN
    verb = be(who.pronoun, past=time == "past")
    return finish(
        join("where", verb, who.english, when[0]),
        join(who.direct, when[1], "कहाँ", to_be(who.agreement, time)),
        "?",
    )


def how_is(pick, time):
    """Manner: "How is your mother?", "How was the film?"."""
    _, thing = owned_thing(pick)
    thing = pick((thing, relative(pick)))
    feminine, plural, _ = thing.agreement
    form = agree("कैसा", feminine, plural)
    return finish(
        f"how {be(thing.pronoun, past=time == 'past')} {thing.english}",
        join(thing.direct, form, to_be(thing.agreement, time)),
        "?",
    )


def how_much(pick):
    """Prices: "How much is this shirt?"."""
    noun = pick([noun for noun in THINGS if noun.kind in _PRICED])
    adjective = adjective_for(pick, noun) if sometimes(pick) else None
    plural = sometimes(pick, 2)
    thing = noun_phrase(noun, pick((THIS, THAT)), adjective, plural)
    price = agree("का", noun.feminine, thing.agreement.plural)
    return finish(
        f"how much {be(thing.pronoun)} {thing.english}",
        join(thing.direct, "कितने", price, to_be(thing.agreement)),
        "?",
    )


def whose(pick):
    """Owners: "Whose shoes are these?"."""
    noun = pick(
        [one for one in THINGS if one.number != "mass" and one.kind != "town"]
    )
    thing = noun_phrase(noun, BARE, plural=sometimes(pick, 2))
    many = thing.agreement.plural
    english = pick((("this", "these"), ("that", "those")))[many]
    form = agree("किसका", noun.feminine, many)
    return finish(
        f"whose {thing.english} {be(thing.pronoun)} {english}",
        join(POINTING[english], form, thing.direct, to_be(thing.agreement)),
        "?",
    )


def who_is(pick):
    """Persons: "Who is that man?"."""
    noun = pick([noun for noun in PEOPLE if noun.number == "count"])
    adjective = adjective_for(pick, noun) if sometimes(pick, 2) else None
    thing = noun_phrase(noun, pick((THIS, THAT)), adjective, sometimes(pick, 2))
    return finish(
        f"who {be(thing.pronoun)} {thing.english}",
        f"{thing.direct} कौन {to_be(thing.agreement)}",
        "?",
    )


def what_name(pick):
    """Names: "What is your brother's name?"."""
    thing = noun_phrase(pick(RELATIVES), owner(pick))
    thing = pick((*PRONOUNS[1:4], thing, thing, thing))
    return finish(
        f"what is {thing.possessive} name",
        f"{thing.genitive()} नाम क्या है",
        "?",
    )


def how_old(pick):
    """Ages: "How old is your daughter?"."""
    kin = noun_phrase(pick(RELATIVES), owner(pick))
    thing = pick((*PRONOUNS[1:4], person_name(pick), kin, kin))
    feminine, plural, _ = thing.agreement
    form = agree("का", feminine, plural)
    return finish(
        f"how old {be(thing.pronoun)} {thing.english}",
        join(thing.direct, "कितने साल", form, to_be(thing.agreement)),
        "?",
    )


PATTERNS = (
    (is_thing, {}, 40),
    (is_person, {"time": "present"}, 40),
    (is_person, {"time": "past"}, 25),
    (where_is, {"time": "present"}, 40),
    (where_is, {"time": "past"}, 25),
    (how_is, {"time": "present"}, 30),
    (how_is, {"time": "past"}, 20),
    (how_much, {}, 35),
    (whose, {}, 30),
    (who_is, {}, 20),
    (what_name, {}, 20),
    (how_old, {}, 20),
)
