"""Draws sentences at random from templates."""

import re


def drawn(template, words, rng):
    """Replaces each name in braces by a random word.

    Args:
        template: String, such as `"The {thing} was {quality}."`
        words: Dictionary from names to lists of strings, which may themselves
            have names in braces.
        rng: A `random.Random`.

    Example:

    >>> words = {"place": ["Oslo", "New {place}"]}
    >>> drawn("We met in {place}.", words, random.Random(1))
    'We met in Oslo.'
    """

    def draw(found):
        return drawn(rng.choice(words[found[1]]), words, rng)

    return re.sub(r"\{(\w+)\}", draw, template)
