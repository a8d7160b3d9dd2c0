"""Hindi inflection: words that agree, nouns in their cases, verbs.

The rules work on spelling. A vowel is written as a sign after a consonant (ी
in की) and as a letter after a vowel (ई in खाई), so most endings have two
forms.
"""

from dataclasses import dataclass

_VOWELS = "ािीुूेैोौअआइईउऊएऐओऔ"
_POSTPOSITIONS = ["ने", "को", "से", "का"]
_PERFECTIVE = {"जा": "गया", "कर": "किया", "दे": "दिया", "पी": "पिया"}
_POLITE = {"कर": "कीजिए", "दे": "दीजिए", "पी": "पीजिए"}


def agree(word, feminine=False, marked=False):
    """Inflects a word in -ā; `marked` is a plural or oblique masculine."""
    if not (feminine or marked) or not word.endswith(("ा", "आ")):
        return word
    # The ending of नया, गया and हुआ is a vowel letter, that of अच्छा a sign.
    if word.endswith(("या", "आ")):
        stem = word.removesuffix("आ").removesuffix("या")
        if feminine and stem.endswith("ि"):
            return stem[:-1] + "ी"
        return stem + ("ई" if feminine else "ए")
    return word[:-1] + ("ी" if feminine else "े")


def decline(word, feminine=False, plural=False, oblique=False):
    """Returns the case and number of a noun, given its singular.

    Masculine: लड़का, लड़के, लड़कों; घर, घर, घरों. Feminine: लड़की, लड़कियाँ, लड़कियों;
    किताब, किताबें, किताबों.
    """
    in_a = not feminine and word.endswith("ा")
    if in_a and not (plural and oblique):
        return agree(word, marked=plural or oblique)
    if not plural or not (feminine or oblique):
        return word
    if in_a:
        return word[:-1] + "ों"
    if word[-1] in "ीई":
        short = word[:-1] + ("ि" if word[-1] == "ी" else "इ")
        return short + ("यों" if oblique else "याँ")
    if word[-1] in _VOWELS:
        return word + ("ओं" if oblique else "एँ")
    return word + ("ों" if oblique else "ें")


@dataclass(frozen=True)
class Phrase:
    """A noun phrase or pronoun, or only what a verb agrees with.

    `f"{phrase}"` is its direct case, and `f"{phrase:को}"` the oblique case with
    a postposition. Other words agree: `f"{phrase:रहा}"` may be रही. A word that
    ends its verb is marked with ं, since it is nasal in the feminine
    plural: `f"{phrase:थां}"` may be थीं. तुम is the second person plural.
    """

    feminine: bool = False
    plural: bool = False
    person: int = 3
    direct: str = ""
    oblique: str = ""
    cases: tuple = ()
    """Irregular forms with ने, को, से and का."""

    def __format__(self, word):
        if not word:
            return self.direct
        cases = self.cases or [f"{self.oblique} {x}" for x in _POSTPOSITIONS]
        if word in _POSTPOSITIONS:
            return cases[_POSTPOSITIONS.index(word)]
        if word in ("के", "की"):
            return cases[-1][:-1] + word[-1]
        if word == "है":
            one = {1: "हूँ", 2: "हो", 3: "है"}[self.person]
            return "हैं" if self.plural and self.person != 2 else one
        if word == "यह":
            return "ये" if self.plural else "यह"
        ending = "ं" if word.endswith("ं") else ""
        form = " ".join(
            agree(part, self.feminine, self.plural)
            for part in word.removesuffix("ं").split()
        )
        return form + ending * (self.feminine and self.plural)


def perfective(stem):
    """Returns the masculine singular of the perfective participle: किया."""
    vowel = "या" if stem[-1] in _VOWELS else "ा"
    return _PERFECTIVE.get(stem, stem + vowel)


def polite(stem):
    """Returns the imperative that goes with आप: बैठिए, कीजिए."""
    return _POLITE.get(stem, stem + ("इए" if stem[-1] in _VOWELS else "िए"))


def subjunctive(stem, who):
    """Returns the subjunctive; in the second person, the imperative too."""
    stem = {"दे": "द", "पी": "पि"}.get(stem, stem)
    letters = stem[-1] in _VOWELS
    if who.person == 2:
        return "पियो" if stem == "पि" else stem + ("ओ" if letters else "ो")
    if who.person == 1 and not who.plural:
        return stem + ("ऊँ" if letters else "ूँ")
    if who.plural:
        return stem + ("एँ" if letters else "ें")
    return stem + ("ए" if letters else "े")


def future(stem, who):
    """Returns the future: करूँगा, करोगे, करेगी."""
    return subjunctive(stem, who) + f"{who:गा}"
