"""Names of classes as they stand in a corpus: one for each, in order."""

import collections
import decimal
import re

from kerasrnn.tokenizers.invisible import appearance

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_SPREAD = 20  # classes, before as many of one text are suspicious


def in_order(names):
    """Names of classes: numbers by value, then others by letters."""
    return sorted(names, key=lambda name: (*_value(name), name))


def _value(name):
    is_number = _NUMBER.fullmatch(name)
    # As floats, large numbers would be equal.
    return (0, decimal.Decimal(name)) if is_number else (1, 0)


def one_spelling(names, known, report):
    """Writes each number in one way, and notes names that look like mistakes.

    Args:
        names: List of strings, the class of each text.
        known: Sequence of strings, the classes of a trained model, which keep
            their spelling; may be empty.
        report: The `Report` to note in: numbers in several spellings, numbers
            among other names, names that look alike, and classes
            that are about as many as texts.

    Returns:
        List of strings: numbers of one value, such as `1` and `1.0`, have the
        spelling in `known`, or the shortest.
    """
    counts, is_known = collections.Counter(names), set(known)
    alike = collections.defaultdict(list)
    for name in dict.fromkeys([*known, *counts]):
        number = _NUMBER.fullmatch(name)
        alike[_value(name) if number else (1, name)].append(name)
    chosen = {
        name: min(same, key=lambda x: (x not in is_known, len(x), x))
        for same in alike.values()
        for name in same
    }
    merged = [name for name in counts if name != chosen[name]]
    if merged:
        report.notes.append(
            "labels of one value are one class: "
            + ", ".join(f"{x!r} is read as {chosen[x]!r}" for x in merged[:3])
            + ", ..." * (len(merged) > 3)
        )
    numbers = [name for name in counts if _NUMBER.fullmatch(name)]
    others = [name for name in counts if not _NUMBER.fullmatch(name)]
    if numbers and others:
        fewer = min(numbers, others, key=len)
        report.notes.append(
            "some of its labels are numbers and some are not: "
            + ", ".join(f"{x!r} ({counts[x]} times)" for x in fewer[:3])
            + f" among {in_order(counts)!r:.100}"
        )
    folded = collections.defaultdict(list)
    for name in others:
        folded[appearance(name.casefold())].append(name)
    twins = [names for names in folded.values() if len(names) > 1]
    if twins:
        report.notes.append(
            "labels that differ only in case, white space or invisible "
            f"characters are different classes: {twins[0]}"
            + ", ..."
            * (len(twins) > 1)
        )
    if len(counts) > max(_SPREAD, len(names) // 2):
        report.notes.append(
            f"there are {len(counts)} classes of {len(names)} texts, such as "
            f"{names[0]!r:.40}. Is another column the label?"
        )
    return [chosen[name] for name in names]
