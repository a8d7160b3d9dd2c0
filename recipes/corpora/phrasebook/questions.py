"""Patterns of questions about actions."""

from corpora.phrasebook import verbs
from corpora.phrasebook.clauses import NOWHEN
from corpora.phrasebook.clauses import Predicate
from corpora.phrasebook.clauses import ask
from corpora.phrasebook.clauses import clause
from corpora.phrasebook.clauses import finish
from corpora.phrasebook.clauses import hindi_parts
from corpora.phrasebook.clauses import join
from corpora.phrasebook.clauses import question
from corpora.phrasebook.english import finite
from corpora.phrasebook.hindi import agree
from corpora.phrasebook.lexicon import NOUNS
from corpora.phrasebook.people import RELATIVES
from corpora.phrasebook.people import asked_about
from corpora.phrasebook.people import subject
from corpora.phrasebook.phrases import BARE
from corpora.phrasebook.phrases import WHO
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.predicates import directed
from corpora.phrasebook.predicates import motion
from corpora.phrasebook.predicates import predicate
from corpora.phrasebook.predicates import social
from corpora.phrasebook.predicates import transitive
from corpora.phrasebook.statements import draw_time
from corpora.phrasebook.statements import verb_among
from corpora.phrasebook.things import sometimes

_WHAT = ("eat", "drink", "read", "write", "buy", "sell", "cook", "bring")


def yes_no(pick, tense):
    """Any clause as a question: "Did Ram read the book?"."""
    who = subject(pick) if tense == "can" else asked_about(pick)
    what = predicate(pick, who, tense, affirmative=False)
    when = draw_time(pick, what.verb, tense) if sometimes(pick) else NOWHEN
    return finish(*question(who, what, tense, when), "?")


def where_done(pick, tense):
    """Place of an action with an object: "Where did you buy this book?"."""
    who = asked_about(pick)
    what = transitive(pick, who, tense, affirmative=False)
    if what.verb.english not in ("buy", "sell", "read", "see"):
        return None
    if not what.verb.fits(tense):
        return None
    return finish(*ask(("where", "कहाँ"), who, what, tense), "?")


def where(pick, tense):
    """Place: "Where does Ram live?", "Where are you going?"."""
    verb = pick((*verbs.MOTION[:1], *verbs.ACTIVITY))
    if not verb.fits(tense):
        return None
    what = Predicate(verb, conjunct=verb.conjunct)
    return finish(*ask(("where", "कहाँ"), asked_about(pick), what, tense), "?")


def when(pick, tense):
    """Time: "When will you come home?"."""
    who = asked_about(pick)
    kind = pick((motion, transitive, social))
    what = kind(pick, who, tense, affirmative=False)
    if not what.verb.fits(tense):
        return None
    return finish(*ask(("when", "कब"), who, what, tense), "?")


def why(pick, tense, negative=False):
    """Reason: "Why is the boy crying?"."""
    who = asked_about(pick)
    what = predicate(pick, who, tense, affirmative=False)
    pair = ask(("why", "क्यों"), who, what, tense, negative=negative)
    return finish(*pair, "?")


def what(pick, tense):
    """Object: "What did you buy yesterday?"."""
    who = asked_about(pick)
    verb = pick((verbs.DO, verb_among(pick, verbs.TRANSITIVE, *_WHAT)))
    time = draw_time(pick, verb, tense) if sometimes(pick) else NOWHEN
    asked = Predicate(verb)
    return finish(*ask(("what", "क्या"), who, asked, tense, time), "?")


def who(pick, tense):
    """Subject: "Who is drinking tea?"; in Hindi the object comes first."""
    what = predicate(pick, WHO, tense, affirmative=False)
    # In "Who opened his door", the door may be anybody's.
    if "his" in what.english.split():
        return None
    plain = finite(what.verb, tense, "he")[-1]
    case, verb = hindi_parts(WHO, what, tense)
    return finish(
        join("who", plain, what.english),
        join(what.hindi, case, what.conjunct, verb),
        "?",
    )


def whom(pick, tense):
    """Person: "Whom did you meet?"."""
    who = asked_about(pick)
    verb = pick(verbs.SOCIAL)
    if not verb.fits(tense):
        return None
    auxiliary, rest, _ = finite(verb, tense, who.pronoun)
    _, hindi = clause(who, directed(verb, WHO), tense)
    english = join("whom", auxiliary, who.english, rest, verb.particle)
    return finish(english, hindi, "?")


def how_many(pick, tense):
    """Number: "How many books did Ram buy?"."""
    verb = verb_among(pick, verbs.TRANSITIVE, "buy", "sell", "read", "eat")
    noun = NOUNS[pick(verb.nouns.split())]
    if noun.number != "count":
        return None
    things = noun_phrase(noun, BARE, plural=True)
    count = agree("कितना", noun.feminine, marked=True)
    what = Predicate(verb, "", f"{count} {things.direct}", things.agreement)
    word = f"how many {things.english}", ""
    return finish(*ask(word, asked_about(pick), what, tense), "?")


def how_many_kin(pick):
    """Number of relatives: "How many sons do you have?"."""
    who = asked_about(pick)
    noun = pick(RELATIVES)
    things = noun_phrase(noun, BARE, plural=True)
    does = finite(verbs.HAVE, "habitual", who.pronoun)[0]
    count = agree("कितना", noun.feminine, marked=True)
    whose = who.genitive(noun.feminine, marked=True)
    return finish(
        f"how many {things.english} {does} {who.english} have",
        f"{whose} {count} {things.direct} हैं",
        "?",
    )


PATTERNS = (
    (yes_no, {"tense": "habitual"}, 50),
    (yes_no, {"tense": "continuous"}, 50),
    (yes_no, {"tense": "past"}, 65),
    (yes_no, {"tense": "perfect"}, 35),
    (yes_no, {"tense": "future"}, 50),
    (yes_no, {"tense": "can"}, 40),
    (yes_no, {"tense": "want"}, 30),
    (where, {"tense": "habitual"}, 25),
    (where, {"tense": "continuous"}, 20),
    (where, {"tense": "future"}, 20),
    (where_done, {"tense": "past"}, 30),
    (when, {"tense": "past"}, 30),
    (when, {"tense": "future"}, 40),
    (why, {"tense": "continuous"}, 30),
    (why, {"tense": "past"}, 30),
    (why, {"tense": "past", "negative": True}, 25),
    (what, {"tense": "continuous"}, 25),
    (what, {"tense": "past"}, 25),
    (what, {"tense": "future"}, 25),
    (what, {"tense": "want"}, 20),
    (who, {"tense": "continuous"}, 30),
    (who, {"tense": "past"}, 40),
    (who, {"tense": "future"}, 20),
    (whom, {"tense": "past"}, 20),
    (whom, {"tense": "future"}, 20),
    (how_many, {"tense": "past"}, 30),
    (how_many, {"tense": "future"}, 20),
    (how_many_kin, {}, 20),
)
