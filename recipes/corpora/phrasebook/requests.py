"""Patterns of requests, proposals and greetings."""

from corpora.phrasebook.clauses import NOWHEN
from corpora.phrasebook.clauses import finish
from corpora.phrasebook.clauses import join
from corpora.phrasebook.hindi import Agreement
from corpora.phrasebook.hindi import polite
from corpora.phrasebook.hindi import subjunctive
from corpora.phrasebook.lexicon import DAYS
from corpora.phrasebook.lexicon import HOURS
from corpora.phrasebook.lexicon import NOUNS
from corpora.phrasebook.lexicon import NUMBERS
from corpora.phrasebook.lexicon import SOON
from corpora.phrasebook.people import person_name
from corpora.phrasebook.people import somebody
from corpora.phrasebook.phrases import PRONOUNS
from corpora.phrasebook.phrases import THE
from corpora.phrasebook.phrases import THIS
from corpora.phrasebook.phrases import WE
from corpora.phrasebook.phrases import YOU
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.predicates import predicate
from corpora.phrasebook.things import item
from corpora.phrasebook.things import sometimes

_TUM = Agreement(plural=True, person=2)
_HUM = Agreement(plural=True, person=1)
_HANDED = {
    "give": ("दे", "book pen bag apple mango key water tea milk flower"),
    "show": ("दिखा", "book shirt sari picture shoes phone letter"),
    "send": ("भेज", "book letter picture flower ticket newspaper"),
    "bring": ("ला", "water tea coffee milk bread rice newspaper book chair"),
}
_MEASURES = {
    "cup": ("cups", "कप", "tea coffee"),
    "glass": ("glasses", "गिलास", "milk water"),
}
_GREETINGS = {
    "hello": ("नमस्ते", "!"),
    "good morning": ("सुप्रभात", "!"),
    "good night": ("शुभ रात्रि", "."),
    "thank you": ("धन्यवाद", "."),
    "welcome": ("स्वागत है", "!"),
    "congratulations": ("बधाई हो", "!"),
    "happy birthday": ("जन्मदिन मुबारक", "!"),
    "goodbye": ("अलविदा", "!"),
    "excuse me": ("माफ़ कीजिए", "."),
}
_FIXED = (
    ("yes", "हाँ", "."),
    ("no", "नहीं", "."),
    ("hello", "नमस्ते", "!"),
    ("thank you", "धन्यवाद", "."),
    ("good morning", "सुप्रभात", "!"),
    ("good night", "शुभ रात्रि", "."),
    ("how are you", "तुम कैसे हो", "?"),
    ("I am fine", "मैं ठीक हूँ", "."),
    ("what time is it", "कितने बजे हैं", "?"),
    ("what is this", "यह क्या है", "?"),
    ("what is that", "वह क्या है", "?"),
    ("who are you", "तुम कौन हो", "?"),
    ("where are you from", "तुम कहाँ से हो", "?"),
    ("I do not know", "मुझे नहीं मालूम", "."),
    ("excuse me", "माफ़ कीजिए", "."),
)


def request(please):
    """Returns "please" in both languages, or nothing."""
    return ("please", "कृपया") if please else ("", "")


def imperative(stem, please):
    """Returns the imperative of आप or of तुम."""
    return polite(stem) if please else subjunctive(stem, _TUM)


def command(pick, please=False, negative=False, addressed=False):
    """Commands: "Please open the door.", "Ram, do not cry."."""
    mood = "prohibition" if negative else "imperative"
    what = predicate(pick, YOU, mood, affirmative=not negative)
    timed = sometimes(pick, 4) and not negative
    when = pick(tuple(SOON.items())) if timed else NOWHEN
    denial, no = ("do not", "मत") if negative else ("", "")
    polite_english, polite_hindi = request(please)
    verb = imperative(what.verb.stem, please)
    english = join(
        polite_english, denial, what.verb.english, what.english, when[0]
    )
    hindi = join(polite_hindi, when[1], what.complement, no, verb)
    if addressed:
        called = person_name(pick)
        if called.english in english:
            return None
        english = f"{called.english}, {english}"
        hindi = f"{called.direct}, {hindi}"
    return finish(english, hindi)


def handing(pick, please=False):
    """Asking for things: "Please give me two apples."."""
    who = somebody(pick, YOU)
    english, (stem, nouns) = pick(tuple(_HANDED.items()))
    noun = NOUNS[pick(nouns.split())]
    thing = item(pick, noun)
    if english == "show":
        thing = noun_phrase(noun, pick((THE, THIS)), plural=sometimes(pick))
    case = who.case("को")
    if english == "bring":
        case = who.with_postposition("लिए")
    polite_english, polite_hindi = request(please)
    return finish(
        join(polite_english, english, who.english_object, thing.english),
        join(polite_hindi, case, thing.direct, imperative(stem, please)),
    )


def measured(pick, please=False):
    """Measures: "Please give us two cups of tea."."""
    who = pick([phrase for phrase in PRONOUNS if phrase is not YOU])
    singular, (plural, measure, nouns) = pick(tuple(_MEASURES.items()))
    noun = NOUNS[pick(nouns.split())]
    number = pick(("a", *tuple(NUMBERS)[:5]))
    english = f"a {singular}" if number == "a" else f"{number} {plural}"
    hindi = f"{NUMBERS.get(number, 'एक')} {measure} {noun.hindi}"
    polite_english, polite_hindi = request(please)
    return finish(
        join(
            polite_english,
            f"give {who.english_object} {english} of {noun.english}",
        ),
        join(polite_hindi, who.case("को"), hindi, imperative("दे", please)),
    )


def proposal(pick):
    """Proposals: "Let us drink tea."."""
    what = predicate(pick, WE, "imperative")
    verb = what.verb
    if verb.english == "come" or "you" in what.english:
        return None
    # In a proposal, "go" is चलना, to move, rather than जाना.
    stem = "चल" if verb.english == "go" else verb.stem
    when = pick(tuple(SOON.items())) if sometimes(pick) else NOWHEN
    return finish(
        join("let us", verb.english, what.english, when[0]),
        join("आओ,", when[1], what.complement, subjunctive(stem, _HUM)),
    )


def greeting(pick):
    """Greetings to somebody: "Good morning, Sita!"."""
    english, (hindi, mark) = pick(tuple(_GREETINGS.items()))
    who = person_name(pick)
    return finish(f"{english}, {who.english}", f"{hindi}, {who.direct}", mark)


def see_you(pick):
    """Parting: "See you on Monday!"."""
    english, hindi = pick((*DAYS.items(), ("tomorrow", "कल")))
    return finish(f"see you {english}", f"{hindi} मिलेंगे", "!")


def fixed(pick):
    """Phrases that follow no pattern."""
    return finish(*pick(_FIXED))


def oclock(pick):
    """The time: "It is five o'clock."."""
    hour = pick(HOURS)
    return finish(f"it is {hour} o'clock", f"{NUMBERS[hour]} बजे हैं")


PATTERNS = (
    (command, {}, 65),
    (command, {"please": True}, 65),
    (command, {"negative": True}, 50),
    (command, {"please": True, "negative": True}, 30),
    (command, {"addressed": True}, 30),
    (handing, {}, 50),
    (handing, {"please": True}, 50),
    (measured, {}, 20),
    (measured, {"please": True}, 20),
    (proposal, {}, 50),
    (greeting, {}, 30),
    (see_you, {}, 5),
    (fixed, {}, len(_FIXED)),
    (oclock, {}, len(HOURS)),
)
