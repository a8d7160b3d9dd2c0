"""Generates sentences by filling templates with words."""

import hashlib
import re
from collections import Counter

from corpora.phrasebook.english import add_ed
from corpora.phrasebook.english import add_ing
from corpora.phrasebook.english import add_s
from corpora.phrasebook.english import article
from corpora.phrasebook.english import be
from corpora.phrasebook.english import comparative
from corpora.phrasebook.english import superlative
from corpora.phrasebook.sentences import draw
from corpora.vietnamese_phrasebook.patterns import DEEDS_OF
from corpora.vietnamese_phrasebook.patterns import NOUNS_OF
from corpora.vietnamese_phrasebook.patterns import PATTERNS
from corpora.vietnamese_phrasebook.words import ADJECTIVES
from corpora.vietnamese_phrasebook.words import ALL_NOUNS
from corpora.vietnamese_phrasebook.words import COUNTED
from corpora.vietnamese_phrasebook.words import MASS
from corpora.vietnamese_phrasebook.words import NAMES
from corpora.vietnamese_phrasebook.words import NOUNS
from corpora.vietnamese_phrasebook.words import OWN
from corpora.vietnamese_phrasebook.words import PLURALS
from corpora.vietnamese_phrasebook.words import PRONOUNS
from corpora.vietnamese_phrasebook.words import SPOTS
from corpora.vietnamese_phrasebook.words import THE
from corpora.vietnamese_phrasebook.words import THESE
from corpora.vietnamese_phrasebook.words import TRAITS
from corpora.vietnamese_phrasebook.words import WORDS
from corpora.vietnamese_phrasebook.words import A
from corpora.vietnamese_phrasebook.words import table

_QUOTA = 31
# A person named twice in a sentence would help or meet himself.
_ONCE = {"you", *NAMES}.union(*map(NOUNS.get, "kin person child job".split()))
_WE = {"I", "me", "we", "us"}
# A subject such as "the doctor" or "the child" is not said to be a nurse.
_KNOWN_AS = tuple(
    called
    for kind in ("job", "child")
    for vietnamese in NOUNS[kind].values()
    for called in (vietnamese, f"các {vietnamese}", f"những {vietnamese}")
)


def vietnamese_phrasebook():
    """Returns the English-Vietnamese phrasebook.

    Returns:
        A list of `(english, vietnamese)` pairs of strings, always the same.
        No English sentence occurs twice. The sentences are shuffled, so that
        any slice is a fair sample of the patterns.

    Example:

    >>> pairs = vietnamese_phrasebook()
    >>> dict(pairs)["Where is the market?"]
    'Chợ ở đâu?'
    """
    pairs = {
        pair
        for scene, templates in PATTERNS.items()
        for template in templates.strip().splitlines()
        for pair in draw(
            sentence, {"scene": scene, "template": template}, _QUOTA
        )
    }
    return sorted(
        pairs, key=lambda pair: hashlib.sha256(pair[0].encode()).digest()
    )


def sentence(pick, scene, template):
    """Fills a template, or returns `None` if the words do not fit together."""
    words = _people(pick)
    if "{job}" in template and words["who"][1].startswith(_KNOWN_AS):
        return None
    words |= {name: _choose(pick, table) for name, table in WORDS.items()}
    if scene in DEEDS_OF:
        words |= _deed(pick, scene, third=words["s"][0] == "s")
    elif scene in NOUNS_OF:
        words |= _thing(pick, pick(NOUNS_OF[scene]))
    elif scene == "spot":
        words |= _spot(pick)
    english, vietnamese = (
        side.format(**{name: pair[number] for name, pair in words.items()})
        for number, side in enumerate(template.split(" = "))
    )
    if not _fits(english, vietnamese):
        return None
    return _large(english), _large(vietnamese)


def _fits(english, vietnamese):
    """Whether a sentence is short enough and mentions nobody twice."""
    words = re.findall(r"\w+", english)
    counts = Counter(
        "we" if word in _WE else word for word in words if word in _ONCE | _WE
    )
    counts.update(re.findall(r"(?<!của )\b(?:anh ấy|cô ấy|họ)\b", vietnamese))
    asks_himself = english.endswith("?") and not english.startswith("can ")
    return (
        1 < len(english.split()) <= 14
        and len(vietnamese.split()) <= 14
        and max(counts.values(), default=0) < 2
        and not (asks_himself and {"I", "we"} & set(words))
    )


def _large(sentence):
    return sentence[0].upper() + sentence[1:]


def _choose(pick, table):
    return pick(list(table.items()))


def _phrase(pick, noun, determiners, adjective=("", "")):
    """Returns a noun phrase in both languages, and whether it is plural."""
    english, vietnamese = pick(determiners)
    one = f"{adjective[0]} {noun}".lstrip()
    many = f"{adjective[0]} {PLURALS.get(noun) or add_s(noun)}".lstrip()
    if english.startswith("a "):
        one, english = article(one), english[2:]
    if noun in NOUNS["job"]:
        vietnamese = vietnamese.replace("những", "các")
    return (
        english.format(one=one, many=many),
        vietnamese.format(one=f"{ALL_NOUNS[noun][1]} {adjective[1]}".rstrip()),
        "{many}" in english,
    )


def _person(pick):
    """Returns a person as subject, object, Vietnamese, and as a pronoun."""
    kind = pick(
        ["pronoun"] * 5
        + ["name", "kin", "kin", "job", pick(["person", "child"])]
    )
    if kind == "pronoun":
        subject, (other, vietnamese) = _choose(pick, PRONOUNS)
        return subject, other, vietnamese, subject
    if kind == "name":
        name, vietnamese = _choose(pick, NAMES)
        return name, name, vietnamese, "he"
    determiners = OWN if kind == "kin" else THE * 2 + THESE
    noun = pick(list(NOUNS[kind]))
    english, vietnamese, plural = _phrase(pick, noun, determiners)
    return english, english, vietnamese, "they" if plural else "he"


def _people(pick):
    """Draws the subject, verbs that agree with it, and another person."""
    who, _, vietnamese, pronoun = _person(pick)
    she, him, other, her = _person(pick)
    third, is_many = pronoun in ("he", "she"), pronoun in ("we", "they")
    job, work = _choose(pick, NOUNS["job"])
    trait, quality = _choose(pick, table(TRAITS))
    return {
        "who": (who, vietnamese),
        "am": (be(pronoun), ""),
        "was": (be(pronoun, past=True), ""),
        "do": ("does" if third else "do", ""),
        "have": ("has" if third else "have", ""),
        "s": ("s" * third, ""),
        "she": (she, other),
        "him": (him, other),
        "she_was": (be(her, past=True), ""),
        "job": (add_s(job) if is_many else article(job), work),
        "tall": (trait, quality),
        "taller": (comparative(trait), quality),
    }


def _object(pick, nouns):
    """Draws the object of a verb: a person, a thing or a mass noun."""
    noun = pick(nouns)
    if noun == "somebody":
        _, english, vietnamese, _ = _person(pick)
        return english, vietnamese
    if noun in MASS:
        return noun, ALL_NOUNS[noun][1]
    adjective = ("", "")
    if pick([True, False, False]):
        adjective = _choose(pick, ADJECTIVES[ALL_NOUNS[noun][0]])
    return _phrase(pick, noun, A * 3 + THE * 2 + OWN, adjective)[:2]


def _deed(pick, scene, third):
    """Draws a verb phrase in all its English forms."""
    verb, vietnamese, objects = pick(DEEDS_OF[scene])
    english, thing = "", ""
    if scene not in ("what", "whom") and objects not in ("", "alone"):
        english, thing = _object(pick, objects.split())
    forms, _, rest = verb.partition(" ")
    base, *irregular = forms.split("/")
    past = irregular[0] if irregular else add_ed(base)
    forms = {
        "act": base,
        "acts": add_s(base) if third else base,
        "acted": past,
        "done": irregular[-1] if irregular else past,
        "acting": add_ing(base),
    }
    vietnamese = f"{vietnamese} {thing}".rstrip()
    return {
        name: (" ".join(f"{form} {rest} {english}".split()), vietnamese)
        for name, form in forms.items()
    }


def _thing(pick, noun):
    """Returns phrases of a noun, and an adjective that fits it."""
    kind, vietnamese = ALL_NOUNS[noun]
    adjective, quality = _choose(pick, ADJECTIVES[kind])
    single = THE if kind in ("person", "child", "job") else THE * 2 + OWN
    english, thing, plural = _phrase(
        pick, noun, single if noun in MASS else single + THESE * 2
    )
    another = pick([other for other in NOUNS[kind] if other != noun])
    many = PLURALS.get(noun) or add_s(noun)
    # A bare plural or mass noun has no classifier.
    bare = vietnamese if noun in MASS else vietnamese.partition(" ")[2]
    return {
        "thing": (english, thing),
        "is": ("are" if plural else "is", ""),
        "the_hat": _phrase(pick, noun, THE)[:2],
        "my_hat": _phrase(pick, noun, OWN)[:2],
        "other": _phrase(pick, another, single)[:2],
        "new": (adjective, quality),
        "newer": (comparative(adjective), quality),
        "newest": (superlative(adjective), quality),
        "hat": (noun, vietnamese),
        "hats": (many, vietnamese),
        "any_hats": (noun if noun in MASS else many, bare),
        "a_hat": (article(noun), vietnamese),
        "a_new_hat": _phrase(pick, noun, A, (adjective, quality))[:2],
        "two_hats": _phrase(pick, noun, COUNTED[1:])[:2],
    }


def _spot(pick):
    """Draws a thing and its place."""
    nouns, preposition, landmarks = pick(SPOTS)
    english, vietnamese = preposition.split("=")
    where, place, _ = _phrase(pick, pick(landmarks.split()), THE * 2 + OWN)
    spot = (f"{english} {where}", f"{vietnamese} {place}")
    return _thing(pick, pick(nouns.split())) | {"spot": spot}
