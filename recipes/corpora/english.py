"""The English inflection that the phrasebooks need."""

import re
from dataclasses import dataclass

_POSSESSIVE = dict(I="my", you="your", he="his", she="her", we="our")
_POSSESSIVE["they"] = "their"
_PLURALS = dict(child="children", knife="knives", man="men", woman="women")


def add_s(word):
    """Returns the third person singular of a verb, or a regular plural."""
    if re.search(r"(s|sh|ch|x|o)$", word):
        return word + "es"
    return re.sub(r"(?<![aeiou])y$", "ie", word) + "s"


def _double(word):
    """Doubles the last consonant of a short syllable: sit, sitt(ing)."""
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", word)
    return word + word[-1] if short else word


class Adjective(str):
    """An adjective, which templates may compare: "{new:er}", "{new:est}"."""

    def __format__(self, ending):
        if not ending:
            return str(self)
        if self == "good":
            return {"er": "better", "est": "best"}[ending]
        if len(re.findall(r"[aeiou]+", self.rstrip("e"))) > 1:
            return {"er": "more ", "est": "most "}[ending] + self
        return re.sub(r"y$", "i", _double(self).rstrip("e")) + ending


@dataclass(frozen=True)
class Phrase:
    """A noun phrase or pronoun.

    Templates may ask for a verb that agrees with it, as in "{who} {who:is}",
    for its object form with "{who:him}", for its possessive with "{who:his}".
    """

    text: str
    pronoun: str
    object: str = ""

    def __format__(self, word):
        third, first = self.pronoun in ("he", "she"), self.pronoun == "I"
        ending = "'" if self.text.endswith("s") else "'s"
        return {
            "": self.text,
            "him": self.object or self.text,
            "his": _POSSESSIVE.get(self.text, self.text + ending),
            "is": "is" if third else "am" if first else "are",
            "was": "was" if third or first else "were",
            "do": "does" if third else "do",
            "have": "has" if third else "have",
            "s": "s" * third,
            "this": "these" if self.pronoun == "they" else "this",
        }[word]


def noun_phrase(noun, determiner, quality="", many=False, feminine=False):
    """Returns the `Phrase` of a noun with a determiner: singular, plural."""
    noun = _PLURALS.get(noun) or add_s(noun) if many else noun
    text = " ".join(f"{determiner[many]} {quality} {noun}".split())
    text = re.sub("^a (?=[aeiou])", "an ", text)
    return Phrase(text, "they" if many else "she" if feminine else "he")


def verb_forms(verb, thing, subject):
    """Returns a verb such as "go/went/gone" with an object, in all forms."""
    forms, _, rest = verb.partition(" ")
    base, *irregular = forms.split("/")
    stem = base if base.endswith("ee") else base.removesuffix("e")
    doubled = stem if stem < base else _double(stem)  # making, but sitting
    regular = re.sub(r"(?<=[^aeiou])y$", "i", doubled) + "ed"
    forms = {
        "act": base,
        "acts": add_s(base) if f"{subject:s}" else base,
        "acted": (irregular or [regular])[0],
        "done": (irregular or [regular])[-1],
        "acting": doubled + "ing",
    }
    return {
        name: " ".join(f"{form} {rest} {thing}".split())
        for name, form in forms.items()
    }
