"""Random phrases for things: adjectives and noun phrases that fit.

Here and in the modules that use this one, `pick` is a function that chooses
from a sequence, the only source of randomness.
"""

from corpora.phrasebook.lexicon import ADJECTIVES
from corpora.phrasebook.lexicon import FEW
from corpora.phrasebook.lexicon import NUMBERS
from corpora.phrasebook.phrases import ANY
from corpora.phrasebook.phrases import BARE
from corpora.phrasebook.phrases import ONE
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.phrases import number


def adjective_for(pick, noun):
    """Draws an adjective that fits a noun, or `None`."""
    fitting = [one for one in ADJECTIVES if noun.kind in one.kinds.split()]
    return pick(fitting) if fitting else None


def trait(pick, noun):
    """Sometimes draws an adjective that identifies a known thing."""
    adjective = adjective_for(pick, noun)
    telling = adjective and adjective.english != "good"
    return adjective if telling and sometimes(pick) else None


def sometimes(pick, one_in=3):
    """Draws true with a probability of one in `one_in`."""
    return pick(range(one_in)) == 0


def item(pick, noun, adjective=None, affirmative=True, several=True):
    """Draws an indefinite noun phrase: "a red book", "two books"."""
    if noun.number in ("mass", "coins"):
        return noun_phrase(noun, BARE, adjective)
    if noun.number == "plural":
        return noun_phrase(noun, BARE, adjective)
    if affirmative and several and sometimes(pick):
        count = pick(tuple(NUMBERS) if sometimes(pick, 4) else FEW)
        return noun_phrase(noun, number(count), adjective, plural=True)
    return noun_phrase(noun, ONE if affirmative else ANY, adjective)
