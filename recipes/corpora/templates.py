"""Draws pairs of sentences from pairs of templates.

A line such as `{who} {who:is} tired. = {who} mệt.` is a template in two
languages. A `Phrasebook` draws words that fit together, each in English and in
the other language, whose grammar is that of a subclass.
"""

import hashlib
import random
import re
from collections import Counter

from corpora import english as en


def table(text):
    """Parses a table such as "cat=con mèo; dog=con chó"."""
    return dict(x.split("=") for x in " ".join(text.split()).split("; "))


def tables(**texts):
    return {name: table(text) for name, text in texts.items()}


def rows(text):
    """Parses lines of cells that are separated by |."""
    return [line.split(" | ") for line in text.strip().splitlines()]


class Phrasebook:
    """Fills templates with the words of a language, a module.

    A subclass has determiners: singular and plural in English, and what its
    method `phrase` adds to a noun of its language. `owned` returns a
    possessive, and `act` the forms of a deed.
    """

    counted = "{}"  # how a number determines a noun
    numbers = False, False, True  # whether a noun is plural, to draw from
    unnamed = {}  # the subjects of templates with a certain first word

    def __init__(self, words, pronouns, named):
        self.words, self.pronouns, self.named = words, pronouns, named
        self.nouns = {
            noun: (kind, other)
            for kind, nouns in words.NOUNS.items()
            for noun, other in nouns.items()
        }
        self.people = {"you", "You", *(name.text for name, _ in named)}
        self.people.update(words.NOUNS["person"], words.NOUNS["kin"])
        two = words.WORDS["two"].items()
        self.counts = [("", x, self.counted.format(other)) for x, other in two]

    def sentences(self, templates, quota):
        """Returns all pairs, at most `quota` of each template, shuffled."""
        pairs = set()
        for scene, lines in templates.items():
            for template in lines.strip().splitlines():
                self.pick, drawn = _picker(template), set()
                for _ in range(8 * quota):
                    pair = _fill(template, self.draw(scene, template))
                    if self.is_sensible(pair[0]):
                        drawn.add(pair)
                    if len(drawn) == quota:
                        break
                pairs |= drawn
        # By hash, so that any slice is a fair sample of the templates.
        return sorted(
            pairs, key=lambda pair: hashlib.sha256(pair[0].encode()).digest()
        )

    def draw(self, scene, template):
        """Returns words for a template of a scene."""
        given, unnamed = self.words, self.unnamed.get(template.split()[0])
        who = unnamed or self.person()
        words = {name: self.item(x) for name, x in given.WORDS.items()}
        words |= {"who": who, "him": self.person(who)}
        words["pal"] = self.pick(self.pronouns[:4] + self.named)
        words["name"] = self.pick(self.named)
        if scene in given.DEEDS_OF:
            words |= self.deed(scene, template, who)
        elif scene in given.NOUNS_OF:
            owner = who if "{who}" in template else None
            words |= self.things(self.pick(given.NOUNS_OF[scene]), owner)
        return words

    def is_sensible(self, english):
        """Whether nobody is mentioned twice; "I" and "we" ask others only."""
        ours = {"I", "me", "we", "We", "us"}
        counts = Counter(
            "we" if word in ours else word.lower().removesuffix("s")
            for word in re.findall(r"\w+", re.sub("ren\\b", "", english))
            if word in ours or word.removesuffix("s") in self.people
        )
        asked = english.endswith("?") and not english.startswith("Can")
        odd = "we" if asked else "you" if english.startswith("Let us") else ""
        return max(counts.values(), default=0) < 2 and not counts[odd]

    def item(self, table):
        english, other = self.pick([*table.items()])
        return en.Adjective(english), other

    def owner(self, subject=None):
        """Draws a possessive, which may be that of the subject."""
        me = subject and subject[0].pronoun
        own = [x for x in self.pronouns if x[0].text == me]
        owner = self.pick(self.pronouns + self.named + own * 6)
        return *[f"{owner[0]:his}"] * 2, self.owned(owner[1], owner in own)

    def quality(self, noun, seldom=3):
        """Draws an adjective that fits a noun, or mostly none."""
        if self.pick(range(seldom)):
            return "", ""
        return self.item(self.words.QUALITIES[self.nouns[noun][0]])

    def person(self, subject=None):
        """Draws a person other than the subject."""
        kind = self.pick(("pronoun", "pronoun", "name", "person", "kin"))
        if kind in ("pronoun", "name"):
            people = self.pronouns if kind == "pronoun" else self.named
            return self.pick([x for x in people if x != subject])
        noun = self.pick([*self.words.NOUNS[kind]])
        many = noun not in self.words.RESPECTED and self.pick(self.numbers)
        if kind == "kin":
            return self.phrase(noun, self.owner(subject), many=many)
        determiner = self.pick((self.the, self.the, self.this, self.that))
        return self.phrase(noun, determiner, self.quality(noun), many)

    def object(self, noun, scene, template, who):
        """Draws the object of a verb."""
        fixed = noun in self.words.FIXED
        if scene == "habit" and not fixed:
            return self.phrase(noun, many=True)
        options = [self.the, self.this, self.that]
        if noun in self.words.MASS:
            options += [self.none] * 3
        elif fixed:
            options.append(self.owner(who))
        else:
            count = self.the if "acting" in template else self.pick(self.counts)
            options += [self.owner(who), *[self.a(template)] * 2, count]
        the = self.pick(options)
        many = the[1] != "" and not fixed and self.pick(self.numbers)
        many = many or the in self.counts
        return self.phrase(noun, the, self.quality(noun), many)

    def deed(self, scene, template, who):
        """Draws a verb and its object, in all forms."""
        verb, other, objects = self.pick(self.words.DEEDS_OF[scene])
        english, thing = "", ""
        if objects == "somebody":
            english, thing = self.person(who)
        elif objects in self.words.WORDS:
            if scene != "ask_where":
                english, thing = self.item(self.words.WORDS[objects])
        elif objects not in ("-", "anywhere") and scene != "ask_what":
            noun = self.pick(objects.split())
            english, thing = self.object(noun, scene, template, who)
        english = getattr(english, "object", "") or english
        forms = en.verb_forms(verb, english, who[0])
        return self.act(forms, other, objects, thing, who, template)

    def things(self, noun, owner=None):
        """Draws phrases with a noun, and an adjective that fits it."""
        many, quality = self.pick(self.numbers), self.quality(noun, 1)
        whose = [self.owner()] * (self.nouns[noun][0] in ("text", "ware"))
        the = self.pick([self.the, self.this, self.that, *whose])
        some = self.pick([self.a("")] + self.counts)
        return {
            "thing": self.phrase(noun, the, many=self.pick((False, True))),
            "it": self.phrase(noun, self.this, many=many),
            "that": self.phrase(noun, self.that, many=many),
            "hat": self.phrase(noun, many=many),
            "a_hat": self.phrase(noun, self.a(""), many=many),
            "my_hat": self.phrase(noun, self.owner(owner), many=many),
            "a_new_hat": self.phrase(noun, self.a(""), quality, many),
            "hats": self.phrase(noun, many=True),
            "some": self.phrase(noun, some, many=some in self.counts),
            "new": quality,
        }


def _fill(template, words):
    """Returns a template in both languages, with words, as sentences."""
    sides = []
    for side, text in enumerate(template.split(" = ")):
        text = text.format(**{name: word[side] for name, word in words.items()})
        text = re.sub(r" (?=[.,?!।])", "", " ".join(text.split()))
        sides.append(text[0].upper() + text[1:])
    return tuple(sides)


def _picker(seed):
    """Returns a function that draws from a sequence, reproducibly."""
    # Not `choice`, which differs between versions of Python.
    generator = random.Random(seed)
    return lambda options: options[int(generator.random() * len(options))]
