"""Phrases as tags of words, and the schemes of tags told apart."""

import collections
import itertools
import re
from collections.abc import Iterable
from collections.abc import Sequence
from typing import NamedTuple

from kerasrnn.data.errors import CorpusWarning
from kerasrnn.tag_schemes import PREFIXES
from kerasrnn.tag_schemes import check_phrase_tags
from kerasrnn.tag_schemes import check_scheme
from kerasrnn.tag_schemes import has_type
from kerasrnn.tag_schemes import parsed_tag
from kerasrnn.typing import Strings
from kerasrnn.warning import warn

# Tags that mark phrases in forms that are not read: `PER-B`, `b-per`, `B:PER`;
# and two tags in one, such as `B-PER|B-ORG`.
_OTHER_FORM = re.compile(r"(?i:[BIESLUM]\W.*|.+[-_][BIESLUM])", re.DOTALL)
_SEVERAL = re.compile(r".-(.*\W)?[BIESLUM]-.", re.DOTALL)


class Phrase(NamedTuple):
    """A phrase of a sentence.

    Args:
        start: Integer, the position of its first word, counted from 0.
        end: Integer, the position after its last word.
        label: String, its type.
    """

    start: int
    end: int
    label: str


def tag_scheme(sentences: Iterable[Strings]) -> str | None:
    """Tells in which scheme the tags of a corpus mark phrases.

    In IOB1, `B` only begins a phrase that touches another of its type; in IOB2,
    or BIO, it begins each. BIOES has also `E` for the last word of a phrase and
    `S` for the only one, and BILOU has `L` and `U` for these. `M` is read as
    `I`, and `B_PER` as `B-PER`; if all tags are prefixes without a type, such
    as `B`, they mark phrases, too.

    Args:
        sentences: Lists of tags.

    Returns:
        The name of the scheme, which some tags may break; `None` if the tags
        mark no phrases, such as parts of speech. A `CorpusWarning` says if some
        of them would, or if they seem to have their prefix last.

    Example:

    >>> tag_scheme([["I-PER", "I-PER", "O"], ["I-LOC", "B-LOC"]])
    'IOB1'
    >>> tag_scheme([["B-PER", "I-PER", "O"]]), tag_scheme([["NOUN", "VERB"]])
    ('IOB2', None)
    """
    sentences = list(map(list, sentences))
    if not _mark_phrases(collections.Counter(itertools.chain(*sentences))):
        return None
    moves: set[tuple[str, bool]] = set()
    for tags in sentences:
        before = ""
        for tag in tags:
            prefix, label = parsed_tag(tag)
            if label:
                moves.add((prefix, before == label))
            before = label
    prefixes = {prefix for prefix, _ in moves}
    if prefixes & set("LU"):
        return "BILOU"
    if prefixes & set("ES"):
        return "BIOES"
    begins_with = {prefix for prefix, goes_on in moves if not goes_on}
    return "IOB1" if begins_with == {"I"} else "IOB2"


def _mark_phrases(counts):
    """Whether tags mark phrases; warns if only some do. Takes their counts."""
    others = counts.copy()
    del others["O"]
    # Of parts of speech, some may have the name of a prefix.
    if set("BI") & set(others) and set(others) <= set("BIESLUM"):
        return True
    typed = list(filter(has_type, others))
    for tag in typed:
        del others[tag]
    if typed and others:
        ((tag, count),) = others.most_common(1)
        warn(
            "Some tags mark no phrases, so that all are taken as those of "
            'single words. Expected: "O", or a prefix and a type, such as '
            f'"B-PER". Received: {len(others)} other tags, such as {tag!r}, '
            f"{count} times",
            CorpusWarning,
        )
    odd = list(filter(_SEVERAL.match, typed))
    if {"O", "o"} & set(counts) and not typed:
        others.pop("o", None)
        odd = list(others) if all(map(_OTHER_FORM.fullmatch, others)) else []
    if odd:
        warn(
            "Tags seem to mark phrases in a form that is not read. Expected: "
            'one prefix first, then a hyphen and a type, such as "B-PER". '
            f"Received: {', '.join(map(repr, sorted(odd)[:3]))}",
            CorpusWarning,
        )
    return bool(typed) and not others


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
    begin, inside, end, single = PREFIXES[scheme]
    befores = itertools.chain([Phrase(0, 0, "")], phrases)
    for before, phrase in zip(befores, phrases, strict=False):
        start, stop, label = phrase
        if not before.end <= start < stop <= length:
            raise ValueError(
                "Each phrase must have words, which follow those of the one "
                f"before. Received: {phrase} after {before.end} of {length} "
                "words"
            )
        tags[start:stop] = [f"{inside}-{label}"] * (stop - start)
        tags[stop - 1] = f"{end}-{label}"
        first = begin if stop - start > 1 else single
        touches = before.end == start and before.label == label
        if scheme == "IOB1" and not touches:
            first = inside
        tags[start] = f"{first}-{label}"
    return tags


def convert_tags(tags: Strings, scheme: str) -> list[str]:
    """Returns the tags of a sentence in another scheme.

    Args:
        tags: List of strings, in any scheme.
        scheme: The new scheme, as of `tags_of`.

    Raises:
        ValueError: when there is no such scheme, or no scheme has a tag.

    Example:

    >>> convert_tags(["I-PER", "I-PER", "O", "I-LOC"], "IOB2")
    ['B-PER', 'I-PER', 'O', 'B-LOC']
    """
    check_phrase_tags(tags)
    return tags_of(phrases_of(tags), len(tags), scheme)
