"""Patterns with a possessor or an experiencer.

The English subject of "have", "want", "like", "need", "know" and of sensations
is in Hindi a possessor (मेरे पास) or a recipient (मुझे), and the verb agrees with
the thing.
"""

from corpora.phrasebook import verbs
from corpora.phrasebook.being import THINGS
from corpora.phrasebook.being import draw_time
from corpora.phrasebook.clauses import finish
from corpora.phrasebook.clauses import join
from corpora.phrasebook.clauses import say
from corpora.phrasebook.clauses import to_be
from corpora.phrasebook.english import be
from corpora.phrasebook.english import finite
from corpora.phrasebook.hindi import Agreement
from corpora.phrasebook.lexicon import FEW
from corpora.phrasebook.lexicon import NOUNS
from corpora.phrasebook.people import RELATIVES
from corpora.phrasebook.people import asked_about
from corpora.phrasebook.people import owner
from corpora.phrasebook.people import somebody
from corpora.phrasebook.people import subject
from corpora.phrasebook.phrases import BARE
from corpora.phrasebook.phrases import ONE
from corpora.phrasebook.phrases import THAT
from corpora.phrasebook.phrases import THIS
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.phrases import number
from corpora.phrasebook.predicates import predicate
from corpora.phrasebook.things import adjective_for
from corpora.phrasebook.things import item
from corpora.phrasebook.things import sometimes

_HELD = ("thing", "tool", "clothing", "text", "paper", "animal", "money")
_SENSATIONS = {
    "hungry": ("भूख", "लगी", True),
    "thirsty": ("प्यास", "लगी", True),
    "sleepy": ("नींद", "आ रही", True),
    "cold": ("ठंड", "लग रही", True),
    "hot": ("गर्मी", "लग रही", True),
    "afraid": ("डर", "लग रहा", False),
}
_AILMENTS = {
    "fever": ("बुखार", False),
    "cold": ("ज़ुकाम", False),
    "headache": ("सिरदर्द", False),
    "cough": ("खाँसी", True),
}
_PLEASANT = (
    "tea coffee milk apple banana mango vegetables bread rice fish book story "
    "song film picture flower bird dog cat horse"
)
_SKILLS = {
    "swim": "तैरना",
    "sing": "गाना",
    "read": "पढ़ना",
    "write": "लिखना",
    "cook": "खाना पकाना",
    "ride a bicycle": "साइकिल चलाना",
    "drive a car": "गाड़ी चलाना",
}


def new_thing(pick, nouns, affirmative=True):
    """Draws "a new car", "two books", "money"."""
    noun = pick(nouns)
    adjective = adjective_for(pick, noun) if sometimes(pick) else None
    return item(pick, noun, adjective, affirmative)


def has(pick, time, negative=False):
    """Possession: "Ram has two red shirts."."""
    who = subject(pick)
    held = [noun for noun in NOUNS.values() if noun.kind in _HELD]
    held += [NOUNS["money"]] * 2
    thing = new_thing(pick, held, not negative)
    tense = "past" if time == "past" else "habitual"
    verb = to_be(thing.agreement, time, negative)
    return finish(
        say(who, verbs.HAVE, tense, thing.english, negative),
        join(who.with_postposition("पास"), thing.direct, verb),
    )


def has_kin(pick):
    """Kinship takes the genitive: "Ram has two sons."."""
    who = subject(pick)
    noun = pick(RELATIVES)
    thing = noun_phrase(noun, ONE)
    if sometimes(pick, 2):
        thing = noun_phrase(noun, number(pick(FEW[:4])), plural=True)
    feminine, plural, _ = thing.agreement
    whose = who.genitive(feminine, plural)
    return finish(
        say(who, verbs.HAVE, "habitual", thing.english),
        join(whose, thing.direct, to_be(thing.agreement)),
    )


def ails(pick, time):
    """Illness: "My son has a fever."."""
    who = subject(pick)
    english, (hindi, feminine) = pick(tuple(_AILMENTS.items()))
    tense = "past" if time == "past" else "habitual"
    return finish(
        say(who, verbs.HAVE, tense, f"a {english}"),
        join(who.case("को"), hindi, to_be(Agreement(feminine), time)),
    )


def sensation(pick, time, negative=False):
    """Sensations: "I am hungry."."""
    who, when = subject(pick), draw_time(pick, time)
    english, (noun, verb, feminine) = pick(tuple(_SENSATIONS.items()))
    denial, no = ("not", "नहीं") if negative else ("", "")
    is_ = be(who.pronoun, past=time == "past")
    felt = join(noun, no, verb, to_be(Agreement(feminine), time))
    return finish(
        join(who.english, is_, denial, english, when[0]),
        join(who.case("को"), when[1], felt),
    )


def liked(pick, who):
    """Draws something to like: "mangoes", "this song"."""
    noun = NOUNS[pick(_PLEASANT.split())]
    if noun.kind in ("text", "art", "animal") and sometimes(pick, 2):
        return noun_phrase(noun, pick((THIS, THAT, owner(pick, who))))
    return noun_phrase(noun, BARE, plural=True)


def likes(pick, negative=False):
    """Liking: "Sita likes mangoes."."""
    who = subject(pick)
    thing = liked(pick, who)
    verb = to_be(thing.agreement, negative=negative)
    return finish(
        say(who, verbs.LIKE, "habitual", thing.english, negative),
        join(who.case("को"), thing.direct, "पसंद", verb),
    )


def likes_to(pick):
    """Liking to do: "We like to drink tea."."""
    who = subject(pick)
    what = predicate(pick, who, "habitual")
    if what.verb.english in ("understand", "cry"):
        return None
    action = join("to", what.verb.english, what.english)
    doing = join(what.complement, what.verb.stem + "ना")
    return finish(
        say(who, verbs.LIKE, "habitual", action),
        f"{who.case('को')} {doing} पसंद है",
    )


def wants(pick, negative=False):
    """Wanting a thing: "I want two mangoes."."""
    who = subject(pick)
    kinds = ("place", "town", "ware", "art")
    wanted = [noun for noun in THINGS if noun.kind not in kinds]
    thing = new_thing(pick, (*wanted, NOUNS["money"]), not negative)
    no = "नहीं" if negative else ""
    return finish(
        say(who, verbs.WANT, "habitual", thing.english, negative),
        join(who.case("को"), thing.direct, no, "चाहिए"),
    )


def needs(pick):
    """Need: "They need a new car.", "She needs you."."""
    who = subject(pick)
    if sometimes(pick):
        thing = somebody(pick, who, ("pronoun", "name", "relative"))
    else:
        kinds = ("place", "town", "ware", "art")
        needed = [noun for noun in THINGS if noun.kind not in kinds]
        thing = new_thing(pick, (*needed, NOUNS["money"]))
    return finish(
        say(who, verbs.NEED, "habitual", thing.english_object),
        f"{who.case('को')} {thing.genitive(feminine=True)} ज़रूरत है",
    )


def knows_how(pick, negative=False):
    """Skills: "I know how to swim."."""
    who = subject(pick)
    english, hindi = pick(tuple(_SKILLS.items()))
    verb = "नहीं आता" if negative else "आता है"
    return finish(
        say(who, verbs.KNOW, "habitual", f"how to {english}", negative),
        f"{who.case('को')} {hindi} {verb}",
    )


def asked(pick, verb):
    """These as questions: "Do you have a car?", "Does Ram like mangoes?"."""
    who = asked_about(pick)
    if verb is verbs.LIKE:
        thing, hindi = liked(pick, who), "पसंद"
    else:
        kinds = _HELD if verb is verbs.HAVE else ("food", "fruit", "drink")
        nouns = [noun for noun in NOUNS.values() if noun.kind in kinds]
        thing, hindi = new_thing(pick, nouns, affirmative=False), ""
    case = who.case("को")
    if verb is verbs.HAVE:
        case = who.with_postposition("पास")
    is_ = "चाहिए" if verb is verbs.WANT else to_be(thing.agreement)
    auxiliary, rest, _ = finite(verb, "habitual", who.pronoun)
    return finish(
        f"{auxiliary} {who.english} {rest} {thing.english}",
        join("क्या", case, thing.direct, hindi, is_),
        "?",
    )


PATTERNS = (
    (has, {"time": "present"}, 75),
    (has, {"time": "present", "negative": True}, 30),
    (has, {"time": "past"}, 30),
    (has_kin, {}, 35),
    (ails, {"time": "present"}, 30),
    (ails, {"time": "past"}, 20),
    (sensation, {"time": "present"}, 40),
    (sensation, {"time": "present", "negative": True}, 20),
    (sensation, {"time": "past"}, 20),
    (likes, {}, 75),
    (likes, {"negative": True}, 30),
    (likes_to, {}, 40),
    (wants, {}, 75),
    (wants, {"negative": True}, 25),
    (needs, {}, 60),
    (knows_how, {}, 30),
    (knows_how, {"negative": True}, 20),
    (asked, {"verb": verbs.HAVE}, 30),
    (asked, {"verb": verbs.WANT}, 30),
    (asked, {"verb": verbs.LIKE}, 30),
)
