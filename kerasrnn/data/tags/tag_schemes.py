"""Phrases as tags of words: IOB1, IOB2, BIOES and BILOU, told apart."""

import collections
import itertools
import re
from collections.abc import Iterable
from collections.abc import Sequence
from typing import NamedTuple

from kerasrnn.arguments import one_of
from kerasrnn.data.report import warn
from kerasrnn.typing import Strings

_TAG = re.compile(r"([BIESLU])-(.+)", re.DOTALL)
_SCHEMES = ("IOB1", "IOB2", "BIOES", "BILOU")


class Phrase(NamedTuple):
    """A phrase of a sentence.

    Args:
        start: Integer, the position of its first word, from 0 on.
        end: Integer, the position after its last word.
        label: String, its type.
    """

    start: int
    end: int
    label: str


def tag_scheme(sentences: Iterable[Strings]) -> str | None:
    """Tells in which scheme the tags of a corpus mark phrases.

    | scheme  | in a phrase                                                 |
    |---------|-------------------------------------------------------------|
    | `IOB1`  | `I`; but `B` where it follows another of its type at once   |
    | `IOB2`  | `B` at its beginning, then `I`; also known as BIO           |
    | `BIOES` | as well `E` at its end, and `S` for a phrase of one word    |
    | `BILOU` | the same with `L` and `U`                                   |

    Args:
        sentences: Lists of tags.

    Returns:
        The name of the scheme, which some tags may break; `None` if the tags
        mark no phrases, such as parts of speech. A `CorpusWarning` says if some
        of them would.

    Example:

    >>> tag_scheme([["I-PER", "I-PER", "O"], ["I-LOC", "B-LOC"]])
    'IOB1'
    >>> tag_scheme([["B-PER", "I-PER", "O"]]), tag_scheme([["NOUN", "VERB"]])
    ('IOB2', None)
    """
    moves: set[tuple[str, bool]] = set()
    others: collections.Counter[str] = collections.Counter()
    for tags in sentences:
        before = ""
        for tag in tags:
            prefix, label = parsed_tag(tag)
            if label:
                moves.add((prefix, before == label))
            elif tag != "O":
                others[tag] += 1
            before = label
    prefixes = {prefix for prefix, _ in moves}
    if others and moves:
        (tag, count), *_ = others.most_common(1)
        warn(
            "Some tags mark no phrases, so that all are taken as those of "
            'single words. Expected: "O", or a prefix and a type, such as '
            f'"B-PER". Received: {len(others)} other tags, such as {tag!r}, '
            f"{count} times"
        )
    if others or not moves:
        return None
    if prefixes & set("LU"):
        return "BILOU"
    if prefixes & set("ES"):
        return "BIOES"
    begins_with = {prefix for prefix, goes_on in moves if not goes_on}
    return "IOB1" if begins_with == {"I"} else "IOB2"


def phrases_of(tags: Strings) -> list[Phrase]:
    """Returns the phrases of a sentence, whatever the scheme of its tags.

    Where tags break their scheme, as `I-PER` after `O` does in IOB2, a phrase
    begins, as in the evaluations of CoNLL.

    Args:
        tags: List of strings.

    Example:

    >>> phrases_of(["B-PER", "I-PER", "O", "I-LOC"])
    [Phrase(start=0, end=2, label='PER'), Phrase(start=3, end=4, label='LOC')]
    """
    phrases: list[Phrase] = []
    is_open = False
    for position, tag in enumerate(tags):
        prefix, label = parsed_tag(tag)
        if not label:
            is_open = False
            continue
        goes_on = is_open and phrases[-1].label == label and prefix in "IEL"
        start = phrases.pop().start if goes_on else position
        phrases.append(Phrase(start, position + 1, label))
        is_open = prefix in "BI"
    return phrases


def check_scheme(scheme: str, tags: Strings = ()) -> None:
    """Raises `ValueError` for no scheme, or for a tag that is of none."""
    one_of("scheme", scheme, _SCHEMES)
    for tag in tags:
        if tag != "O" and not parsed_tag(tag)[1]:
            raise ValueError(
                f'With scheme={scheme!r} a tag must be "O", or a prefix and '
                f'a type, such as "B-PER". Received: {tag!r}'
            )


def parsed_tag(tag: str) -> tuple[str, str]:
    """Returns the prefix and the type of a tag; `("O", "")` outside."""
    found = _TAG.fullmatch(tag)
    return (found[1], found[2]) if found else ("O", "")


def tags_of(phrases: Sequence[Phrase], length: int, scheme: str) -> list[str]:
    """Returns the tags of a sentence in a scheme.

    Args:
        phrases: List of `(start, end, label)`, in their order.
        length: Integer, the number of words.
        scheme: `"IOB1"`, `"IOB2"`, `"BIOES"` or `"BILOU"`.

    Raises:
        ValueError: when there is no such scheme, or a phrase is empty, beyond
            the words, or begins before the end of the one before.

    Example:

    >>> tags_of([Phrase(0, 2, "PER"), Phrase(3, 4, "LOC")], 4, "BIOES")
    ['B-PER', 'E-PER', 'O', 'S-LOC']
    """
    check_scheme(scheme)
    tags = ["O"] * length
    end, single = {"BIOES": ("E", "S"), "BILOU": ("L", "U")}.get(
        scheme, ("I", "B")
    )
    befores = itertools.chain([Phrase(0, 0, "")], phrases)
    for before, phrase in zip(befores, phrases, strict=False):
        start, stop, label = phrase
        if not before.end <= start < stop <= length:
            raise ValueError(
                "Each phrase must have words, which follow those of the one "
                f"before. Received: {phrase} after {before.end} of {length} "
                "words"
            )
        tags[start:stop] = [f"I-{label}"] * (stop - start)
        tags[stop - 1] = f"{end}-{label}"
        first = "B" if stop - start > 1 else single
        touches = before.end == start and before.label == label
        if scheme == "IOB1" and not touches:
            first = "I"
        tags[start] = f"{first}-{label}"
    return tags


def convert_tags(tags: Strings, scheme: str) -> list[str]:
    """Returns the tags of a sentence in another scheme.

    Args:
        tags: List of strings, in any scheme.
        scheme: The new scheme, as of `tags_of`.

    Example:

    >>> convert_tags(["I-PER", "I-PER", "O", "I-LOC"], "IOB2")
    ['B-PER', 'I-PER', 'O', 'B-LOC']
    """
    return tags_of(phrases_of(tags), len(tags), scheme)
