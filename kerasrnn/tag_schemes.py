"""Tags of words that mark phrases, and the schemes they follow.

A tag is `"O"`, outside of all phrases, or a prefix and the type of a phrase,
such as `"B-PER"`. Where tags are read, `B_PER` is the same, `M`, for the
middle, is `I`, and a prefix alone marks phrases of the one type `UNNAMED`.

| scheme | prefixes |
|---|---|
| `"IOB1"` | `I` in a phrase; `B` where it follows one of its type at once |
| `"IOB2"` | `B` at its beginning, `I` in its rest; also known as BIO |
| `"BIOES"` | as well `E` at its end, and `S` for a phrase of one word |
| `"BILOU"` | the same, with `L` for `E`, and `U` for `S` |
"""

import re
from collections.abc import Iterable

from kerasrnn.arguments import one_of

PREFIXES = {
    "IOB1": ("B", "I", "I", "B"),
    "IOB2": ("B", "I", "I", "B"),
    "BIOES": ("B", "I", "E", "S"),
    "BILOU": ("B", "I", "L", "U"),
}
"""The prefixes of the first, inner and last word of a phrase, and of the only
word of one. In IOB1, the first is as those within, unless it touches another
phrase of its type."""
UNNAMED = "PHRASE"
"""The type of phrases whose tags have none, such as `B`."""
_TAG = re.compile(r"([BIESLUM])(?:[-_](.+))?", re.DOTALL)


def parsed_tag(tag: str) -> tuple[str, str]:
    """Returns the prefix and the type of a tag; `("O", "")` outside.

    Args:
        tag: String, a tag of any scheme.

    Example:

    >>> parsed_tag("B-PER"), parsed_tag("O"), parsed_tag("NOUN")
    (('B', 'PER'), ('O', ''), ('O', ''))
    >>> parsed_tag("M_PER"), parsed_tag("B")
    (('I', 'PER'), ('B', 'PHRASE'))
    """
    found = _TAG.fullmatch(str(tag))
    if not found:
        return "O", ""
    return found[1].replace("M", "I"), found[2] or UNNAMED


def has_type(tag: str) -> bool:
    """Whether a tag is one such as `B-PER`.

    A prefix alone, as `B`, may be a part of speech.

    Args:
        tag: String.
    """
    return len(tag) > 1 and bool(parsed_tag(tag)[1])


def check_scheme(scheme: str, tags: Iterable[str] = ()) -> None:
    """Raises `ValueError` unless a scheme exists and has all tags.

    Args:
        scheme: String, the name of a scheme.
        tags: Strings.
    """
    one_of("scheme", scheme, PREFIXES)
    *others, last = dict.fromkeys(PREFIXES[scheme])
    prefixes = f"{', '.join(others)} or {last}"
    for tag in tags:
        prefix, label = parsed_tag(tag)
        is_tag = prefix in PREFIXES[scheme] and tag == f"{prefix}-{label}"
        if tag != "O" and not is_tag:
            raise ValueError(
                f'A tag of {scheme} must be "O", or {prefixes} with a hyphen '
                f"and a type, such as 'B-PER'. Received: {tag!r}"
            )


def check_phrase_tags(tags: Iterable[str]) -> None:
    """Raises `ValueError` for a tag that no scheme has.

    Args:
        tags: Strings.
    """
    for tag in tags:
        if tag != "O" and not parsed_tag(tag)[1]:
            raise ValueError(
                'A tag must be "O", or a prefix and a type, such as "B-PER". '
                f"Received: {tag!r}"
            )
