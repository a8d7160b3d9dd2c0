"""Notes on columns that are probably not the ones that were meant."""

import itertools
import re

from kerasrnn.data.tables.cell_values import KINDS

_MANY = 5  # rows, before numbers alone are suspicious; or tags
_MORE = 20  # tags, before they are many for twice as many words; sentences
_LONG = 50  # words, before one sentence is suspicious
_NUMBER = re.compile(r"[-+]?\d[\d.,:/-]*%?")
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
    words, tags = (
        list(itertools.chain(*found.get(x, ()))) for x in ("tokens", "tags")
    )
    for name, values in found.items():
        if name in ("tokens", "tags", "lines"):
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
    if words and tags:
        _note_tags(words, tags, report)
        _note_sentences(found["tokens"], report)
    taken = [report.columns[name] for name in found]
    for same in dict.fromkeys(x for x in taken if taken.count(x) > 1):
        names = [name for name in found if report.columns[name] == same]
        report.notes.append(
            f"its {' and its '.join(names)} are the same column, {same!r}"
        )
    first = [values[0] for values in found.values() if values]
    first = [x[0] if isinstance(x, list) and x else x for x in first]
    if (
        numbered
        and first
        and all(isinstance(x, str) and x.lower() in _HEADINGS for x in first)
    ):
        report.notes.append(
            f"its first row, {', '.join(map(repr, first))}, looks like a "
            "header, but is read as a row: give columns by name"
        )


def _note_tags(words, tags, report):
    """Notes tags that cannot be learnt, since there are many or only one."""
    count, kinds = len(set(words)), list(dict.fromkeys(tags))
    most = min(max(_MANY, count), max(_MORE, count // 2))
    odd = f"{count} different words have {len(kinds)} different tags, such as "
    if count > _MANY and len(kinds) == 1:
        odd = "all its words have the same tag, "
    elif len(kinds) <= most:
        return
    kinds = ", ".join(f"{tag!r:.40}" for tag in kinds[:3])
    report.notes.append(f"{odd}{kinds}. Are the tags in another column?")


def _note_sentences(sentences, report):
    """Notes sentences of one word each, and one that is probably several."""
    lengths = list(map(len, sentences))
    if len(lengths) > _MORE and max(lengths) == 1:
        report.notes.append(
            f"each of its {len(lengths)} sentences has one word. Are words of "
            "a sentence together?"
        )
    elif len(lengths) == 1 and lengths[0] > _LONG:
        report.notes.append(
            f"it is one sentence of {lengths[0]} words. Is there something "
            "between its sentences?"
        )
