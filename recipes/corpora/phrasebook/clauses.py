"""Clauses: a subject and a predicate, in any tense, as statement or question.

English puts time and place last and moves its auxiliary. Hindi keeps the
order subject, time, place, object, verb, and changes the case of the subject:

* ने for the perfective of a transitive verb, which then agrees with its
  object: राम ने चाय पी;
* को for an obligation, whose infinitive agrees with the object:
  मुझे चाय पीनी है;
* the direct case otherwise.
"""

from dataclasses import dataclass

from corpora.phrasebook.english import be
from corpora.phrasebook.english import finite
from corpora.phrasebook.hindi import Agreement
from corpora.phrasebook.hindi import conjugate
from corpora.phrasebook.hindi import future_be
from corpora.phrasebook.hindi import past_be
from corpora.phrasebook.hindi import present
from corpora.phrasebook.words import Verb

TENSES = (
    "habitual",
    "continuous",
    "past",
    "perfect",
    "future",
    "used to",
    "past continuous",
    "can",
    "want",
    "should",
    "have to",
    "had to",
    "since",
)
OBLIGATION = ("should", "have to", "had to")
NOWHEN = ("", "")


@dataclass(frozen=True)
class Predicate:
    """A verb with its objects and complements, without subject and time.

    Args:
        verb: The `Verb`.
        english: The words after the verb in English.
        hindi: The words before the verb in Hindi.
        agreement: The `Agreement` of the bare object, if there is one.
        conjunct: The word before the verb that forms a compound with it:
            बंद in बंद करना.
    """

    verb: Verb
    english: str = ""
    hindi: str = ""
    agreement: Agreement = Agreement()
    conjunct: str = ""

    @property
    def complement(self):
        """All words before the verb in Hindi."""
        return join(self.hindi, self.conjunct)


def join(*words):
    """Joins words with spaces, leaving out empty ones."""
    return " ".join(word for word in words if word)


def finish(english, hindi, mark="."):
    """Capitalises the English and adds the final punctuation marks."""
    stop = "।" if mark == "." else mark
    return english[0].upper() + english[1:] + mark, hindi + stop


def hindi_parts(subject, predicate, tense, negative=False):
    """Returns the subject in its case and the verb in agreement with it."""
    verb = predicate.verb
    agreement = subject.agreement
    case = subject.direct
    if tense in OBLIGATION:
        case, agreement = subject.case("को"), predicate.agreement
    elif tense in ("past", "perfect") and verb.ergative:
        case, agreement = subject.case("ने"), predicate.agreement
    return case, conjugate(verb, tense, agreement, negative)


def say(subject, verb, tense, complement="", negative=False):
    """Returns the English of a statement."""
    auxiliary, rest, plain = finite(verb, tense, subject.pronoun)
    head = f"{auxiliary} not {rest}" if negative else plain
    return join(subject.english, head, complement).replace("can not", "cannot")


def clause(subject, predicate, tense, negative=False, when=NOWHEN):
    """Returns a statement, without capital and full stop.

    Args:
        subject: A `NounPhrase`.
        predicate: A `Predicate`.
        tense: One of `TENSES`.
        negative: Whether to negate it.
        when: A time in English and Hindi.
    """
    complement = join(predicate.english, when[0])
    english = say(subject, predicate.verb, tense, complement, negative)
    case, verb = hindi_parts(subject, predicate, tense, negative)
    return english, join(case, when[1], predicate.complement, verb)


def question(subject, predicate, tense, when=NOWHEN):
    """Returns a yes/no question, without capital and question mark."""
    auxiliary, rest, _ = finite(predicate.verb, tense, subject.pronoun)
    english = join(auxiliary, subject.english, rest, predicate.english, when[0])
    return english, "क्या " + clause(subject, predicate, tense, when=when)[1]


def ask(word, subject, predicate, tense, when=NOWHEN, negative=False):
    """Returns a question with a question word.

    Args:
        word: The question word in English and Hindi. In Hindi it stands
            before the verb and its conjunct, but next to नहीं.
        subject, predicate, tense, when: As in `clause`.
        negative: Whether to negate it.
    """
    auxiliary, rest, _ = finite(predicate.verb, tense, subject.pronoun)
    denial = "not" if negative else ""
    english = join(
        word[0],
        auxiliary,
        subject.english,
        denial,
        rest,
        predicate.english,
        when[0],
    )
    asked = join(word[1], predicate.conjunct)
    if negative:
        asked = join(predicate.conjunct, word[1])
    case, verb = hindi_parts(subject, predicate, tense, negative)
    return english, join(case, when[1], predicate.hindi, asked, verb)


def to_be(agreement, time="present", negative=False):
    """Returns होना in the present, past or future, negated with नहीं."""
    forms = {"present": present, "past": past_be, "future": future_be}
    return join("नहीं" if negative else "", forms[time](agreement))


def copula(subject, what, time="present", negative=False, when=NOWHEN):
    """Returns "the tea is hot" in both languages.

    Args:
        subject: A `NounPhrase`.
        what: What it is said to be or where, in English and Hindi.
        time: `"present"`, `"past"` or `"future"`.
        negative: Whether to negate it.
        when: A time in English and Hindi.
    """
    denial = "not" if negative else ""
    if time == "future":
        verb = join("will", denial, "be")
    else:
        verb = join(be(subject.pronoun, past=time == "past"), denial)
    hindi = to_be(subject.agreement, time, negative)
    return (
        join(subject.english, verb, what[0], when[0]),
        join(subject.direct, when[1], what[1], hindi),
    )


def copula_question(subject, what, time="present", when=NOWHEN):
    """Returns "is the tea hot" in both languages."""
    head, rest = "will", "be"
    if time != "future":
        head, rest = be(subject.pronoun, past=time == "past"), ""
    english = join(head, subject.english, rest, what[0], when[0])
    return english, "क्या " + copula(subject, what, time, when=when)[1]
