"""Hindi inflection: nouns, agreeing words and verbs.

The rules work on spelling. A vowel is written as a sign after a consonant (ी
in की) and as a letter after a vowel (ई in खाई), so most endings have two
forms.
"""

from typing import NamedTuple

_VOWEL_SIGNS = "ािीुूेैोौ"
_VOWEL_LETTERS = "अआइईउऊएऐओऔ"
_PERFECTIVE = {
    "जा": "गया",
    "कर": "किया",
    "ले": "लिया",
    "दे": "दिया",
    "पी": "पिया",
    "हो": "हुआ",
}
_POLITE = {"कर": "कीजिए", "ले": "लीजिए", "दे": "दीजिए", "पी": "पीजिए"}
_SHORT = {"ी": "ि", "ई": "इ", "ू": "ु", "ऊ": "उ"}


class Agreement(NamedTuple):
    """What a Hindi verb agrees with. तुम is the second person plural."""

    feminine: bool = False
    plural: bool = False
    person: int = 3


def agree(word, feminine=False, marked=False):
    """Inflects a word in -ā: adjective, possessive or participle.

    Args:
        word: Masculine singular direct form. Other endings do not inflect.
        feminine: Whether the noun is feminine.
        marked: Whether a masculine noun is plural or oblique.
    """
    if not (feminine or marked) or word[-1] not in "ाआ":
        return word
    stem = word[:-2] if word.endswith("या") else word[:-1]
    # The ending of नया, गया and हुआ is a vowel letter, that of अच्छा a sign.
    if word.endswith(("या", "आ")):
        if feminine and stem.endswith("ि"):
            return stem[:-1] + "ी"
        return stem + ("ई" if feminine else "ए")
    return stem + ("ी" if feminine else "े")


def decline(word, feminine=False, plural=False, oblique=False):
    """Returns the case and number of a noun, given its singular.

    Masculine nouns in -ā change (लड़का, लड़के, लड़कों), others only in the
    oblique plural (घरों, आदमियों). Feminine nouns in -ī take -iyā̃ and others
    -ẽ in the direct plural (लड़कियाँ, किताबें); those in -iyā are nasalised
    (चिड़ियाँ).
    """
    marked = not feminine and word.endswith("ा")
    if not plural:
        return agree(word, marked=True) if marked and oblique else word
    if marked:
        return word[:-1] + "ों" if oblique else agree(word, marked=True)
    if not feminine and not oblique:
        return word
    if word.endswith("िया"):
        return word[:-1] + "ों" if oblique else word + "ँ"
    stem = word[:-1] + _SHORT.get(word[-1], word[-1])
    if word[-1] in "ीई":
        return stem + ("यों" if oblique else "याँ")
    if _ends_in_vowel(word):
        return stem + ("ओं" if oblique else "एँ")
    return stem + ("ों" if oblique else "ें")


def present(agreement):
    """Returns the present of होना: हूँ, हो, है or हैं."""
    _, plural, person = agreement
    if person == 2:
        return "हो"
    if person == 1 and not plural:
        return "हूँ"
    return "हैं" if plural else "है"


def past_be(agreement):
    """Returns the past of होना: था, थे, थी or थीं."""
    return nasal(agree("था", agreement.feminine, agreement.plural), agreement)


def future_be(agreement):
    """Returns the future of होना: होऊँगा, होगे, होगा, होंगे."""
    if agreement.person == 1 and not agreement.plural:
        return "होऊँगा"
    several = agreement.plural and agreement.person != 2
    ending = agree("गा", agreement.feminine, agreement.plural)
    return ("हों" if several else "हो") + ending


def nasal(form, agreement):
    """Nasalises a feminine plural form that ends its verb: पढ़ी, पढ़ीं."""
    return form + "ं" if agreement.feminine and agreement.plural else form


def perfective(stem, agreement):
    """Returns the perfective participle: किया, किए, की."""
    vowel = "या" if _ends_in_vowel(stem) else "ा"
    form = _PERFECTIVE.get(stem, stem + vowel)
    return agree(form, agreement.feminine, agreement.plural)


def subjunctive(stem, agreement):
    """Returns the subjunctive; in the second person, the imperative too."""
    if stem in ("ले", "दे"):
        stem = stem[:-1]
    if stem == "पी":
        stem = "पि"
    _, plural, person = agreement
    letters = _ends_in_vowel(stem)
    if person == 2:
        if stem == "पि":
            return "पियो"
        return stem + ("ओ" if letters else "ो")
    if person == 1 and not plural:
        return stem + ("ऊँ" if letters else "ूँ")
    if plural:
        return stem + ("एँ" if letters else "ें")
    return stem + ("ए" if letters else "े")


def polite(stem):
    """Returns the imperative that goes with आप: बैठिए, कीजिए."""
    return _POLITE.get(stem, stem + ("इए" if _ends_in_vowel(stem) else "िए"))


def infinitive(stem, agreement):
    """Returns the infinitive of obligation, which agrees with its object."""
    return stem + agree("ना", agreement.feminine, agreement.plural)


def conjugate(verb, tense, agreement, negative=False):
    """Returns the verb with its auxiliaries and नहीं.

    Args:
        verb: A `Verb` of the lexicon.
        tense: One of `clauses.TENSES`.
        agreement: The `Agreement` of the word that the verb agrees with.
        negative: Whether to negate it.
    """
    stem, no = verb.stem, "नहीं " if negative else ""
    feminine, plural, _ = agreement
    if tense == "habitual":
        return no + _imperfective(stem, agreement, negative)
    if tense == "can":
        return f"{no}{stem} {_imperfective('सक', agreement, negative)}"
    if tense == "want":
        return f"{stem}ना {no}{_imperfective('चाह', agreement, negative)}"
    if tense == "past":
        return no + nasal(perfective(stem, agreement), agreement)
    if tense == "future":
        ending = agree("गा", feminine, plural)
        return no + subjunctive(stem, agreement) + ending
    now, then = present(agreement), past_be(agreement)
    if tense in ("continuous", "past continuous", "since"):
        form = f"{stem} {agree('रहा', feminine, plural)}"
        if verb.stance:
            form = perfective(stem, agreement)
        return f"{no}{form} {then if tense == 'past continuous' else now}"
    form, ending = {
        "perfect": (perfective(stem, agreement), now),
        "used to": (agree(stem + "ता", feminine, plural), then),
        "have to": (infinitive(stem, agreement), now),
        "should": (infinitive(stem, agreement), "चाहिए"),
        "had to": (
            infinitive(stem, agreement),
            nasal(perfective("पड़", agreement), agreement),
        ),
    }[tense]
    return f"{no}{form} {ending}"


def _imperfective(stem, agreement, negative):
    """Returns the habitual, whose negative has no auxiliary."""
    form = agree(stem + "ता", agreement.feminine, agreement.plural)
    if negative:
        return nasal(form, agreement)
    return f"{form} {present(agreement)}"


def _ends_in_vowel(word):
    return word[-1] in _VOWEL_SIGNS + _VOWEL_LETTERS
