"""Notes on columns that are probably not the ones that were meant."""

import itertools
import re

from kerasrnn.data.tables.cell_values import KINDS

_MANY = 5  # rows, before numbers alone are suspicious
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?%?")
# What the cells of a header are, in files that are read without one.
_HEADINGS = {
    *"review comment message text sentence sentiment label labels stars rating "
    "source target src tgt tokens words tags weight id index class category "
    "team teams topic word token tag title pos ner form upos".split(),
    *"ar bn cs da de el en es et fa fi fr he hi hu id it ja ko nl no pl pt ro "
    "ru sk sv ta te th tr uk ur vi zh".split(),
    *"english german french hindi spanish vietnamese chinese".split(),
}


def note_suspicions(found, numbered, report):
    """Notes columns that are probably not those that were meant.

    Args:
        found: Dict from what was asked for to a list of values.
        numbered: Whether columns were given by number, without a header.
        report: The `Report` to note in.
    """
    for name, values in found.items():
        if name == "tokens":
            values = list(itertools.chain(*values))
        elif name in KINDS:
            continue
        if len(values) < _MANY:
            continue
        # The first may be a header that is read as a row.
        if all(map(_NUMBER.fullmatch, values[1:])):
            report.notes.append(
                f"its {name}, column {report.columns[name]!r}, is all "
                f"numbers: {', '.join(values[1:4])}, ... Is it another column?"
            )
    taken = [report.columns[name] for name in found]
    for same in dict.fromkeys(x for x in taken if taken.count(x) > 1):
        names = [name for name in found if report.columns[name] == same]
        report.notes.append(
            f"its {' and its '.join(names)} are the same column, {same!r}"
        )
    first = [values[0] for values in found.values() if values]
    first = [x[0] if isinstance(x, list) and x else x for x in first]
    if numbered and all(
        isinstance(x, str) and x.lower() in _HEADINGS for x in first
    ):
        report.notes.append(
            f"its first row, {', '.join(map(repr, first))}, looks like a "
            "header, but is read as a row: give columns by name"
        )
