"""Scripts that are written without spaces between words."""

import re

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
    "\u3005-\u3007\u3021-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""The characters, as inside of a class of `re` and RE2: Thai, Lao, Burmese,
Khmer, Tai, the kana, bopomofo, and the Chinese characters."""
SPACED_LETTER = rf"[^\PL{SPACELESS}]"
"""A letter of any other script, as a class of RE2."""
# Tibetan has no spaces either, but a mark after each syllable.
_SPACELESS = re.compile(f"[{SPACELESS}\u0f00-\u0fff]")


def is_spaceless(text):
    """Whether more than half of the letters of a text are of such scripts."""
    letters = [c for c in text if c.isalpha()]
    spaceless = sum(bool(_SPACELESS.match(c)) for c in letters)
    return 2 * spaceless > len(letters)
