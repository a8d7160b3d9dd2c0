"""Random predicates that make sense."""

from corpora.phrasebook import verbs
from corpora.phrasebook.clauses import OBLIGATION
from corpora.phrasebook.clauses import Predicate
from corpora.phrasebook.clauses import join
from corpora.phrasebook.hindi import Agreement
from corpora.phrasebook.lexicon import DESTINATIONS
from corpora.phrasebook.lexicon import NOUNS
from corpora.phrasebook.lexicon import PLACES
from corpora.phrasebook.people import owner
from corpora.phrasebook.people import somebody
from corpora.phrasebook.phrases import BARE
from corpora.phrasebook.phrases import THE
from corpora.phrasebook.phrases import THIS
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.things import item
from corpora.phrasebook.things import sometimes
from corpora.phrasebook.things import trait

_GENERIC_TENSES = ("habitual", "used to", "since")
_COUNTED = "eat buy sell bring read write see give send".split()
_COUNTING_TENSES = ("past", "perfect", "future", "want", "have to")
_AIMING = ("can|want|should|have to|had to|imperative|prohibition").split("|")
_OWNED = ("clothing", "thing", "tool", "text", "paper", "place", "ware")


def _object(pick, verb, noun, subject, tense, affirmative):
    """Draws the object of a verb, with a determiner that suits both."""
    adjective = trait(pick, noun)
    if tense in _GENERIC_TENSES:
        known = verb.english in ("open", "close", "clean")
        kept = noun.kind in ("thing", "tool")
        if known or (kept and verb.english not in ("buy", "sell")):
            return noun_phrase(noun, THE)
        return noun_phrase(noun, BARE, adjective, plural=True)
    if noun.kind == "animal":
        return item(pick, noun, adjective, affirmative, several=False)
    sort = pick(("new", "new", "known", "this", "owned"))
    if sort == "new" and verb.english in _COUNTED:
        several = affirmative and tense in _COUNTING_TENSES
        return item(pick, noun, adjective, affirmative, several)
    if sort == "owned" and noun.kind in _OWNED and verb.english != "buy":
        return noun_phrase(noun, owner(pick, subject))
    plural = sometimes(pick, 4)
    determiner = THIS if sort == "this" else THE
    return noun_phrase(noun, determiner, adjective, plural)


def transitive(pick, subject, tense, affirmative=True):
    """Draws a verb and a fitting object: "read the red book"."""
    verb = pick(verbs.TRANSITIVE)
    noun = NOUNS[pick(verb.nouns.split())]
    thing = _object(pick, verb, noun, subject, tense, affirmative)
    return Predicate(
        verb, thing.english, thing.direct, thing.agreement, verb.conjunct
    )


def language(pick, subject, tense, affirmative=True):
    """Draws "speak Hindi" and the like."""
    english = pick(tuple(verbs.LANGUAGES))
    hindi = verbs.LANGUAGES[english]
    return Predicate(
        pick(verbs.LANGUAGE), english, hindi, Agreement(feminine=True)
    )


def motion(pick, subject, tense, affirmative=True):
    """Draws a motion: "go to the market", "come from school"."""
    verb = pick(verbs.MOTION)
    place = PLACES[pick(DESTINATIONS)]
    away = verb.english == "come" and tense not in _AIMING
    if away and sometimes(pick, 2):
        return Predicate(verb, f"from {place.english}", f"{place.oblique} से")
    to = "" if place.english == "home" else "to"
    return Predicate(verb, join(to, place.english), place.oblique)


def activity(pick, subject, tense, affirmative=True):
    """Draws "work in the office", "sit on the chair", "laugh"."""
    verb = pick(verbs.ACTIVITY + verbs.ALONE)
    agreement = Agreement(feminine=verb.conjunct_gender == "f")
    if not verb.places:
        return Predicate(verb)
    place = PLACES[pick(verb.places.split("|"))]
    return Predicate(verb, place.at, place.located, agreement, verb.conjunct)


def social(pick, subject, tense, affirmative=True):
    """Draws an action directed at a person: "help my brother"."""
    return directed(pick(verbs.SOCIAL), somebody(pick, subject))


def feeling(pick, subject):
    """Draws "love" or "know" and a person."""
    return directed(pick(verbs.FEELING), somebody(pick, subject))


def directed(verb, person):
    """Builds the predicate of a verb directed at a person."""
    feminine = verb.conjunct_gender == "f"
    hindi, conjunct = person.case(verb.marker), verb.conjunct
    if verb.marker == "का":
        # The conjunct is what the person possesses: राम की मदद.
        hindi, conjunct = f"{person.genitive(feminine)} {conjunct}", ""
    english = join(verb.particle, person.english_object)
    return Predicate(verb, english, hindi, Agreement(feminine), conjunct)


def giving(pick, subject, tense, affirmative=True):
    """Draws "give a book to Ram", with को after the person alone."""
    verb = pick(verbs.GIVING)
    noun = NOUNS[pick(verb.nouns.split())]
    thing = _object(pick, verb, noun, subject, tense, affirmative)
    person = somebody(pick, subject)
    return Predicate(
        verb,
        f"{thing.english} to {person.english_object}",
        f"{person.case('को')} {thing.direct}",
        thing.agreement,
    )


KINDS = (
    transitive,
    transitive,
    transitive,
    motion,
    activity,
    activity,
    social,
    giving,
    language,
)


def predicate(pick, subject, tense, affirmative=True):
    """Draws any predicate whose verb can be used in the tense."""
    while True:
        kind = pick(KINDS)
        drawn = kind(pick, subject, tense, affirmative)
        # Avoid two people with को: राम को मीरा को किताब देनी है.
        recipient = subject.case("को").endswith(" को")
        crowded = kind is giving and tense in OBLIGATION and recipient
        if drawn.verb.fits(tense) and not crowded:
            return drawn
