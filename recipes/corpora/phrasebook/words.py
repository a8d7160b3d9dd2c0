"""Records of words: the entries of the lexicon."""

from dataclasses import dataclass

from corpora.phrasebook.english import add_ed
from corpora.phrasebook.english import add_ing
from corpora.phrasebook.english import add_s
from corpora.phrasebook.hindi import decline


@dataclass(frozen=True)
class Noun:
    """A noun, with its English plural and Hindi gender.

    Args:
        english: English singular.
        hindi: Hindi singular, direct case.
        gender: `"m"` or `"f"`.
        kind: Its semantic class, for `Adjective.kinds`.
        number: `"count"`, `"mass"`, `"plural"` for a noun that has only a
            plural, `"coins"` for one that is mass in English and plural in
            Hindi, or `"respect"` for a person who takes the plural of respect.
        plural: English plural if it is irregular.
    """

    english: str
    hindi: str
    gender: str
    kind: str
    number: str = "count"
    plural: str = ""

    @property
    def feminine(self):
        return self.gender == "f"

    @property
    def english_plural(self):
        if self.number == "plural":
            return self.english
        return self.plural or add_s(self.english)


@dataclass(frozen=True)
class Adjective:
    """An adjective and the kinds of noun it fits."""

    english: str
    hindi: str
    kinds: str


@dataclass(frozen=True)
class Place:
    """A place and its prepositions: "at the station", स्टेशन पर."""

    english: str
    hindi: str
    gender: str
    preposition: str
    postposition: str = "में"

    @property
    def at(self):
        return f"{self.preposition} {self.english}"

    @property
    def oblique(self):
        return decline(self.hindi, self.gender == "f", oblique=True)

    @property
    def located(self):
        return f"{self.oblique} {self.postposition}"


@dataclass(frozen=True)
class Verb:
    """A verb and the words that it combines with.

    Args:
        english: English base form.
        stem: Hindi stem; the infinitive without ना.
        past, participle, ing: English forms if they are irregular.
        ergative: Whether the subject of the perfective takes ने.
        conjunct: The Hindi word between object and stem: साफ़ in साफ़ करना.
        conjunct_gender: Gender of the conjunct if the verb agrees with it
            rather than with an object: `"f"` for मदद in मदद करना.
        particle: English word between verb and object: "listen to".
        marker: Postposition of a person as the object.
        nouns: English of the nouns that can be its object.
        places: English of the places where it happens or leads to.
        lacks: Tenses that would sound odd; also `"imperative"`, and `"when"`
            for a verb that does not combine with a time.
        stance: Whether "is sitting" is the resulting state, बैठा है.
    """

    english: str
    stem: str
    past: str = ""
    participle: str = ""
    ing: str = ""
    ergative: bool = True
    conjunct: str = ""
    conjunct_gender: str = ""
    particle: str = ""
    marker: str = ""
    nouns: str = ""
    places: str = ""
    lacks: str = ""
    stance: bool = False

    def __post_init__(self):
        past = self.past or add_ed(self.english)
        object.__setattr__(self, "past", past)
        object.__setattr__(self, "participle", self.participle or past)
        object.__setattr__(self, "ing", self.ing or add_ing(self.english))

    def fits(self, use):
        """Whether the verb can be used in a tense, or `"when"`: with a time."""
        return use not in self.lacks.split("|")
