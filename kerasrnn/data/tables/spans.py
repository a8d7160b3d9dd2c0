"""Texts with marked spans of characters, as a table of words with tags."""

import bisect
import itertools
import re

from kerasrnn.arguments import is_integer
from kerasrnn.data.tables.cell_values import decoded
from kerasrnn.data.tables.tables import Table
from kerasrnn.data.token_ids import in_parts
from kerasrnn.tokenizers import split_into_words
from kerasrnn.tokenizers.invisible import is_blank

_COLUMNS = "spans", "entities", "label", "labels"
_KEYS = ("start", "start_offset"), ("end", "end_offset"), ("label", "labels")
_BLANKS = re.compile(r"(\s|\\[nrt])+")
_REFUSED = {"reject", "ignore"}  # answers of Prodigy


def span_column(table):
    """Returns the column of the spans, and the table with all of its rows.

    It is `None` without texts, and if the first row has tags there: strings or
    numbers.
    """
    found = [name for name in _COLUMNS if name in table.columns]
    if not found or "text" not in table.columns:
        return None, table
    first = list(itertools.islice(table.rows, 1))
    table = table._replace(rows=itertools.chain(first, table.rows))
    are_tags = any(_are_tags(row.get(found[0])) for _, row in first)
    return None if are_tags else found[0], table


def _are_tags(cell):
    return isinstance(cell, list | tuple) and any(
        isinstance(x, str | int) for x in cell
    )


def span_table(table, column, report):
    """Splits texts into words, whose tags mark the spans in BIO.

    A span is `[start, end, label]` or a dict of these, which count characters;
    a dict may have a list of `labels`, and its own `text`, which must be that
    of its positions. A word belongs to a span if a part of it does. Of spans
    that overlap, the first is taken. A row whose `answer`, as Prodigy has it,
    is `reject` or `ignore` is left out; one with `accept`, or with the
    `annotation_id` of Label Studio, may have no spans.

    Args:
        table: A `Table` with the column `text`.
        column: String, the column of the lists of spans.
        report: The `Report` that bad rows are added to, and notes.

    Returns:
        A `Table`, whose rows have lists of `tokens` and `tags`.
    """
    report.columns = {"tokens": "text", "tags": column}
    return Table(["tokens", "tags"], _tagged_rows(table, column, report))


def _tagged_rows(table, column, report):
    marked = _marked_texts(table, column, report)
    cut, lost = [], []  # spans, of which the first is shown
    for rows in in_parts(marked, _with_words):
        for (number, text, spans), words, *places in rows:
            tags = _tags(text, spans, *places, cut, lost)
            tokens = [word.decode() for word in words]
            yield number, {"tokens": tokens, "tags": tags}
    for found, what in (
        (cut, "begin or end inside of a word, which is tagged whole"),
        (lost, "overlap others or have no word, and were left out"),
    ):
        if found:
            report.notes.append(f"{len(found)} spans {what}, first {found[0]}")


def _with_words(rows):
    """Rows of marked texts, each with its words, their starts and ends."""
    split = split_into_words([text for _, text, _ in rows])
    return zip(rows, *(column.to_list() for column in split), strict=True)


def _marked_texts(table, column, report):
    """Yields `(number, text, spans)`, the spans in their order."""
    refused = []
    for number, row in table.rows:
        text, spans = row.get("text"), row.get(column)
        answer = row.get("answer")
        if isinstance(answer, str) and answer in _REFUSED:
            refused.append(f"{report.unit} {number}, {answer!r}")
            continue
        if spans is None and (answer == "accept" or "annotation_id" in row):
            spans = []  # Prodigy and Label Studio leave them out
        try:
            if not isinstance(text, str) or is_blank(text):
                raise ValueError(f"not a text: {text!r:.40}")
            if not isinstance(spans, list | tuple):
                raise ValueError(f"not a list of spans: {spans!r:.40}")
            found = [x for span in spans for x in _spans(span, text)]
            found.sort(key=lambda x: x[:2])
            yield number, decoded(text, "text"), found
        except ValueError as error:
            report.add(number, error)
    if refused:
        report.notes.append(
            f"{len(refused)} rows whose `answer` is 'reject' or 'ignore' were "
            f"left out, first {refused[0]}"
        )


def _spans(span, text):
    """Yields `(start, end, label)` of a span, for each of its labels."""
    start = end = labels = own = None
    match span:
        case dict():
            start, end, labels = (
                next((span[key] for key in keys if key in span), None)
                for keys in _KEYS
            )
            own = span.get("text")
        case [_, _, _]:
            start, end, labels = span
    labels = labels if isinstance(labels, list | tuple) else [labels]
    is_inside = (
        is_integer(start) and is_integer(end) and 0 <= start < end <= len(text)
    )
    if not (is_inside and labels and all(map(_is_label, labels))):
        raise ValueError(f"not [start, end, label] in the text: {span!r:.40}")
    there = text[start:end]
    if isinstance(own, str) and _without_blanks(own) != _without_blanks(there):
        raise ValueError(f"{own!r:.40} is not at its positions: {there!r:.40}")
    for label in labels:
        yield start, end, label.strip()


def _is_label(label):
    return isinstance(label, str) and label.strip()


def _without_blanks(text):
    """A text without white space, which programs write as it is or as `\\n`."""
    return _BLANKS.sub("", text)


def _tags(text, spans, starts, ends, cut, lost):
    """The tags of words in BIO; adds spans to `cut` and `lost`."""
    tags = ["O"] * len(starts)
    for start, end, label in spans:
        words = range(
            bisect.bisect_right(ends, start), bisect.bisect_left(starts, end)
        )
        if not words or any(tags[number] != "O" for number in words):
            lost.append(repr(text[start:end]))
            continue
        first, last = starts[words[0]], ends[words[-1]]
        if first < start or end < last:
            cut.append(f"{text[start:end]!r} of {text[first:last]!r}")
        for number in words:
            tags[number] = f"{'B' if number == words[0] else 'I'}-{label}"
    return tags
