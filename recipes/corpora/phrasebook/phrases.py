"""Noun phrases in both languages.

A `NounPhrase` has its English, its Hindi in the direct and oblique case, and
the agreement of a verb. Pronouns are noun phrases whose case forms are listed
rather than derived.
"""

from dataclasses import dataclass

from corpora.phrasebook.english import article
from corpora.phrasebook.english import possessive
from corpora.phrasebook.hindi import Agreement
from corpora.phrasebook.hindi import agree
from corpora.phrasebook.hindi import decline
from corpora.phrasebook.lexicon import MEN
from corpora.phrasebook.lexicon import NUMBERS
from corpora.phrasebook.lexicon import WOMEN


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase or pronoun.

    Args:
        english: English subject form.
        direct: Hindi direct case.
        oblique: Hindi oblique case, used before postpositions.
        agreement: The `Agreement` of a Hindi verb.
        pronoun: English pronoun, with which an English verb agrees.
        object: English object form, if it differs.
        cases: Irregular Hindi forms by postposition; the genitive in its
            masculine direct form.
    """

    english: str
    direct: str
    oblique: str
    agreement: Agreement
    pronoun: str
    object: str = ""
    cases: tuple = ()

    @property
    def english_object(self):
        return self.object or self.english

    @property
    def possessive(self):
        return possessive(self.english)

    def case(self, postposition):
        """Returns the phrase with a postposition: राम को, मुझे."""
        form = dict(self.cases).get(postposition)
        return form or f"{self.oblique} {postposition}"

    def genitive(self, feminine=False, marked=False):
        """Returns the possessive, which agrees with the possessed noun."""
        form = dict(self.cases).get("का")
        if form:
            return agree(form, feminine, marked)
        return f"{self.oblique} {agree('का', feminine, marked)}"

    def with_postposition(self, word):
        """Returns the phrase before के साथ, के लिए, के पास and the like."""
        return f"{self.genitive(marked=True)} {word}"


def _pronoun(english, oblique, forms, plural, person, object):
    direct, ergative, dative, ablative, genitive = forms.split()
    cases = {"ने": ergative, "को": dative, "से": ablative, "का": genitive}
    return NounPhrase(
        english,
        direct,
        oblique,
        Agreement(english == "she", plural, person),
        "he" if english == "who" else english,
        object,
        tuple(cases.items()),
    )


I = _pronoun("I", "मुझ", "मैं मैंने मुझे मुझसे मेरा", False, 1, "me")  # noqa: E741
YOU = _pronoun("you", "तुम", "तुम तुमने तुम्हें तुमसे तुम्हारा", True, 2, "you")
HE = _pronoun("he", "उस", "वह उसने उसे उससे उसका", False, 3, "him")
SHE = _pronoun("she", "उस", "वह उसने उसे उससे उसका", False, 3, "her")
WE = _pronoun("we", "हम", "हम हमने हमें हमसे हमारा", True, 1, "us")
THEY = _pronoun("they", "उन", "वे उन्होंने उन्हें उनसे उनका", True, 3, "them")
WHO = _pronoun("who", "किस", "कौन किसने किसे किससे किसका", False, 3, "whom")
PRONOUNS = (I, YOU, HE, SHE, WE, THEY)


def name(english):
    """Returns the noun phrase of a person's name."""
    feminine = english in WOMEN
    hindi = (WOMEN if feminine else MEN)[english]
    return NounPhrase(
        english,
        hindi,
        hindi,
        Agreement(feminine),
        "she" if feminine else "he",
    )


def both(first, second):
    """Joins two noun phrases with "and"; feminine only if both are."""
    feminine = first.agreement.feminine and second.agreement.feminine
    return NounPhrase(
        f"{first.english} and {second.english}",
        f"{first.direct} और {second.direct}",
        f"{first.direct} और {second.oblique}",
        Agreement(feminine, True),
        "they",
    )


@dataclass(frozen=True)
class Determiner:
    """An English determiner and its four Hindi forms.

    The forms are singular and plural direct, singular and plural oblique.
    """

    english: str = ""
    english_plural: str = ""
    forms: tuple = ("", "", "", "")

    def hindi(self, feminine, plural, oblique):
        return self.forms[2 * oblique + plural]


@dataclass(frozen=True)
class Possessor:
    """A possessor as a determiner: "my", Hindi मेरा or reflexive अपना."""

    owner: NounPhrase
    reflexive: bool = False

    @property
    def english(self):
        return self.owner.possessive

    @property
    def english_plural(self):
        return self.owner.possessive

    def hindi(self, feminine, plural, oblique):
        if self.reflexive:
            return agree("अपना", feminine, plural or oblique)
        return self.owner.genitive(feminine, plural or oblique)


BARE = Determiner()
THE = Determiner("the", "the")
ONE = Determiner("a", "", ("एक", "", "एक", ""))
ANY = Determiner("a")
THIS = Determiner("this", "these", ("यह", "ये", "इस", "इन"))
THAT = Determiner("that", "those", ("वह", "वे", "उस", "उन"))


def number(english):
    """Returns a number as the determiner of a plural noun."""
    return Determiner("", english, (NUMBERS[english],) * 4)


def noun_phrase(noun, determiner=THE, adjective=None, plural=False):
    """Builds a noun phrase, with everything in agreement.

    Args:
        noun: A `Noun` of the lexicon.
        determiner: A `Determiner` or `Possessor`.
        adjective: An `Adjective` that fits the noun.
        plural: Whether it is plural. Ignored for nouns without a choice.
    """
    plural = noun.number == "plural" or (plural and noun.number == "count")
    respect = noun.number == "respect"
    several = plural or noun.number == "coins"
    english = noun.english_plural if plural else noun.english
    if adjective:
        english = f"{adjective.english} {english}"
    if plural:
        english = f"{determiner.english_plural} {english}"
    elif determiner.english == "a":
        english = article(english)
    else:
        english = f"{determiner.english} {english}"

    def hindi(oblique):
        words = [determiner.hindi(noun.feminine, several or respect, oblique)]
        if adjective:
            marked = several or respect or oblique
            words.append(agree_all(adjective.hindi, noun.feminine, marked))
        words.append(decline(noun.hindi, noun.feminine, several, oblique))
        return " ".join(filter(None, words))

    pronoun = "they" if plural else "she" if noun.feminine else "he"
    return NounPhrase(
        english.strip(),
        hindi(oblique=False),
        hindi(oblique=True),
        Agreement(noun.feminine, several or respect),
        pronoun,
    )


def agree_all(words, feminine, marked):
    """Inflects every word of an adjective such as थका हुआ."""
    return " ".join(agree(word, feminine, marked) for word in words.split())
