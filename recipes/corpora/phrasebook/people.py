"""Random phrases for people, as subjects and objects."""

from corpora.phrasebook.lexicon import MEN
from corpora.phrasebook.lexicon import NOUNS
from corpora.phrasebook.lexicon import WOMEN
from corpora.phrasebook.phrases import PRONOUNS
from corpora.phrasebook.phrases import THE
from corpora.phrasebook.phrases import Possessor
from corpora.phrasebook.phrases import both
from corpora.phrasebook.phrases import name
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.things import sometimes
from corpora.phrasebook.things import trait

PEOPLE = tuple(n for n in NOUNS.values() if n.kind in ("child", "person"))
KIN = tuple(n for n in NOUNS.values() if n.kind == "kin")
RELATIVES = tuple(noun for noun in KIN if noun.number == "count")
_SORTS = ("pronoun", "name", "person", "relative")
_CLASH = {
    "I": ("I", "we"),
    "we": ("I", "we"),
    "you": ("you",),
    "he": ("he", "they"),
    "she": ("she", "they"),
    "they": ("he", "she", "they"),
}


def person_name(pick):
    """Draws a name, of a man or a woman."""
    return name(pick([*MEN, *WOMEN]))


def person(pick):
    """Draws "the boy", "the old man", "the girls"."""
    noun = pick(PEOPLE)
    plural = sometimes(pick)
    return noun_phrase(noun, THE, trait(pick, noun), plural)


def owner(pick, subject=None):
    """Draws a possessive pronoun, which is अपना if it refers to the subject."""
    phrase = pick(PRONOUNS)
    if subject is None:
        return Possessor(phrase)
    if phrase.english == subject.pronoun:
        return Possessor(phrase, reflexive=True)
    # In "I sold our car", मेरा, हमारा and अपना would all be possible.
    if {phrase.english, subject.pronoun} == {"I", "we"}:
        return Possessor(pick(PRONOUNS[1:4]))
    return Possessor(phrase)


def relative(pick, subject=None):
    """Draws "my brother", "her mother"."""
    noun = pick(KIN)
    return noun_phrase(noun, owner(pick, subject), plural=sometimes(pick, 4))


def couple(pick):
    """Draws "Ram and Sita", two different names."""
    first, second = person_name(pick), person_name(pick)
    return couple(pick) if first == second else both(first, second)


def asked_about(pick):
    """Draws the subject of a question, which is not the first person."""
    who = subject(pick)
    while who.pronoun in ("I", "we"):
        who = subject(pick)
    return who


def subject(pick):
    """Draws a subject; half of the time a pronoun."""
    if sometimes(pick, 2):
        return pick(PRONOUNS)
    return pick((person_name, person, person, relative, relative, couple))(pick)


def somebody(pick, subject=None, sorts=_SORTS):
    """Draws a person other than the subject, as an object.

    Give no subject if it is a thing: "their" in "These shirts are for their
    daughters" is never अपना.
    """
    clash = _CLASH[subject.pronoun] if subject else ()
    sort = pick(sorts)
    if sort == "pronoun":
        return pick([one for one in PRONOUNS if one.english not in clash])
    if sort == "name":
        other = person_name(pick)
    elif sort == "person":
        other = person(pick)
    else:
        other = relative(pick, subject)
    same = subject is not None and other.english in subject.english
    return somebody(pick, subject, sorts) if same else other
