"""The English inflection that the phrasebook needs."""

import re

_POSSESSIVE = {
    "I": "my",
    "you": "your",
    "he": "his",
    "she": "her",
    "it": "its",
    "we": "our",
    "they": "their",
}
_MODALS = {"future": "will", "can": "can", "should": "should"}


def add_s(word):
    """Returns a regular plural, or the third person singular of a verb."""
    if word == "have":
        return "has"
    if re.search(r"(s|sh|ch|x|o)$", word):
        return word + "es"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + "s"


def _double(word):
    """Doubles the last consonant of a short syllable: sit, sitt(ing)."""
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", word)
    return word + word[-1] if short else word


def add_ing(word):
    """Returns the present participle."""
    if re.search(r"[^e]e$", word):
        return word[:-1] + "ing"
    return _double(word) + "ing"


def add_ed(word):
    """Returns a regular past form."""
    if word.endswith("e"):
        return word + "d"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ied"
    return _double(word) + "ed"


def comparative(word):
    """Returns "bigger than", "more beautiful than" and the like."""
    if word == "good":
        return "better"
    if len(re.findall(r"[aeiou]+", word.rstrip("e"))) > 1:
        return f"more {word}"
    if word.endswith("y"):
        return word[:-1] + "ier"
    return word + "r" if word.endswith("e") else _double(word) + "er"


def superlative(word):
    """Returns "biggest", "most beautiful" and the like."""
    if word == "good":
        return "best"
    form = comparative(word)
    if form.startswith("more "):
        return f"most {word}"
    return form[:-2] + "est"


def article(phrase):
    """Puts "a" or "an" before a phrase."""
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def possessive(phrase):
    """Returns the possessive of a noun phrase or pronoun."""
    if phrase in _POSSESSIVE:
        return _POSSESSIVE[phrase]
    return phrase + ("'" if phrase.endswith("s") else "'s")


def be(pronoun, past=False):
    """Returns the form of "be" that agrees with a pronoun."""
    if pronoun in ("he", "she", "it"):
        return "was" if past else "is"
    if pronoun == "I":
        return "was" if past else "am"
    return "were" if past else "are"


def finite(verb, tense, pronoun):
    """Returns a verb as three strings: auxiliary, rest, and plain form.

    A statement is subject + plain, a negation is subject + auxiliary + "not"
    + rest, a question is auxiliary + subject + rest. Only the simple tenses
    differ between plain and auxiliary + rest: "goes" against "does ... go".

    Args:
        verb: A `Verb` of the lexicon.
        tense: One of `clauses.TENSES`.
        pronoun: The pronoun for the subject, such as `"she"`.
    """
    third = pronoun in ("he", "she", "it")
    does = "does" if third else "do"
    base = verb.english
    if tense == "habitual":
        return does, base, add_s(base) if third else base
    if tense == "want":
        return does, f"want to {base}", f"want{'s' * third} to {base}"
    if tense == "have to":
        head = "has" if third else "have"
        return does, f"have to {base}", f"{head} to {base}"
    if tense == "had to":
        return "did", f"have to {base}", f"had to {base}"
    if tense == "used to":
        return "did", f"use to {base}", f"used to {base}"
    if tense == "past":
        return "did", base, verb.past
    if tense in _MODALS:
        auxiliary, rest = _MODALS[tense], base
    elif tense == "perfect":
        auxiliary, rest = "has" if third else "have", verb.participle
    elif tense == "since":
        auxiliary, rest = "has" if third else "have", f"been {verb.ing}"
    else:
        auxiliary = be(pronoun, past=tense == "past continuous")
        rest = verb.ing
    return auxiliary, rest, f"{auxiliary} {rest}"
