"""A built-in English-Hindi phrasebook, drawn from templates.

A held-out sentence is a new combination of words that occur in other
sentences. These rules give every English sentence one Hindi translation:

* "you" is तुम; only a request with "please" uses the polite imperative.
* "I", "you", "we", "they" and "who" take masculine agreement. "He" and "she"
  are both वह and differ in the verb.
* Parents, grandmother, teacher and doctor take the plural of respect.
* "a" is एक, but omitted in questions and negations; "the" is omitted.
* A possessive of the subject is अपना: "I sold my car", मैंने अपनी गाड़ी बेची।
* The negated habitual has no auxiliary, and चाहिए no plural.
* ज़, फ़, ड़ and ढ़ are written with their dots; क, ख and ग without.
"""

import random
import re

from corpora import english as en
from corpora import hindi as hi
from corpora import hindi_words as lexicon
from corpora.templates import Phrasebook


def _pronoun(english, hindi):
    """Parses a row of the table of pronouns."""
    subject, other = english.split()
    *cases, oblique = hindi.split()
    person = {"I": 1, "we": 1, "you": 2}.get(subject, 3)
    agreement = subject == "she", subject in ("you", "we", "they"), person
    phrase = hi.Phrase(*agreement, cases[0], oblique, tuple(cases[1:]))
    return en.Phrase(subject, subject.replace("who", "he"), other), phrase


*_PRONOUNS, _WHO = [_pronoun(*row) for row in lexicon.PRONOUNS]
_NAMED = [
    (en.Phrase(name, pronoun), hi.Phrase(pronoun == "she", False, 3, x, x))
    for pronoun, names in lexicon.NAMES.items()
    for name, x in names.items()
]


class _Hindi(Phrasebook):
    """The Hindi of a determiner is a masculine singular, which agrees, or the
    direct and oblique forms, each singular and plural.
    """

    unnamed = {"who": _WHO, "let": _PRONOUNS[4]}
    unnamed |= dict.fromkeys(("please", "{name},"), _PRONOUNS[1])
    none, the = ("", "", ""), ("the", "the", "")
    this = "this", "these", ("यह", "ये", "इस", "इन")
    that = "that", "those", ("वह", "वे", "उस", "उन")

    def a(self, template):
        if re.search(r"not\b|\?", template):
            return "a", "", ""
        return "a", "", ("एक", "", "एक", "")

    def owned(self, owner, own):
        return "अपना" if own else f"{owner:का}"

    def phrase(self, noun, determiner=none, quality=("", ""), many=False):
        """Returns a noun phrase, with everything in agreement."""
        word, _, feminine = self.nouns[noun][1].partition(" ")
        feminine, forms = bool(feminine), determiner[2]
        many = many and noun not in lexicon.MASS
        several = many or noun in lexicon.RESPECTED

        def hindi(oblique):
            first, marked = forms, several or oblique
            if isinstance(forms, tuple):
                first = forms[2 * oblique + several]
            words = [hi.agree(x, feminine, marked) for x in (first, quality[1])]
            words.append(hi.decline(word, feminine, many, oblique))
            return " ".join(filter(None, words))

        english = en.noun_phrase(noun, determiner, quality[0], many, feminine)
        cases = hindi(False), hindi(True)
        return english, hi.Phrase(feminine, several, 3, *cases)

    def act(self, forms, verb, objects, thing, who, template):
        """Returns the forms of a verb with its object."""
        *compound, stem = verb.removesuffix(" f").split()
        agent = thing
        if not isinstance(thing, hi.Phrase) or objects == "somebody":
            agent = hi.Phrase(verb.endswith(" f"))
        if objects == "somebody":  # the object of a noun: राम की मदद
            case, *more = compound
            thing, compound = f"{thing:{case}} {' '.join(more)}", []
        elif objects in ("-", "anywhere") and stem != "कर":
            thing, compound = " ".join(compound), []  # क्रिकेट खेल
        if template.startswith("let us") and stem == "जा":
            stem = "चल"  # to go with somebody
        aim, by = agent, f"{who[1]:ने}"
        if stem in lexicon.WITHOUT_NE:
            agent = by = who[1]
        did = hi.perfective(stem)
        return {name: (form, "") for name, form in forms.items()} | {
            "o": ("", thing),
            "c": ("", " ".join(compound)),
            "v": ("", stem),
            "it": ("", aim),
            "by": ("", by),
            "did": ("", f"{agent:{did}ं}"),
            "done": (forms["done"], f"{agent:{did}}"),
            "has": ("", f"{agent:है}"),
            "will": ("", hi.future(stem, who[1])),
            "may": ("", hi.subjunctive(stem, who[1])),
            "please": ("", hi.polite(stem)),
        }


def phrasebook():
    """Returns the English-Hindi phrasebook.

    A list of `(english, hindi)` pairs of strings, always the same. Any slice
    is a fair sample of the templates. No English sentence occurs twice.

    >>> pairs = phrasebook()
    >>> dict(pairs)["Where is the station?"]
    'स्टेशन कहाँ है?'
    """
    return _Hindi(lexicon, _PRONOUNS, _NAMED).sentences(lexicon.TEMPLATES, 84)


def english_sentences(seed):
    """Returns the English sentences in random order, each once, for models.

    As in the Penn Treebank, a punctuation mark is a word.

    Args:
        seed: Integer, the seed of the order.
    """
    lines = {re.sub(r"([.,?!])", r" \1", line) for line, _ in phrasebook()}
    lines = sorted(lines)
    random.Random(seed).shuffle(lines)
    return lines
