"""Tables of tagged words, and of texts with marked spans."""

import bisect
import itertools
import re

from kerasrnn.arguments import is_integer
from kerasrnn.data.batches import in_parts
from kerasrnn.data.reading.cells import decoded
from kerasrnn.data.reading.cells import is_missing
from kerasrnn.data.reading.delimited import HEADER_AGAIN
from kerasrnn.data.reading.table import Table
from kerasrnn.tokenizers import split_into_words
from kerasrnn.tokenizers.invisible import is_blank

SENTENCE_FORMS = (
    "a list of words in `tokens` or `words` and a list of tags in `ner_tags`, "
    "`tags` or `pos_tags`; a `text` and its `spans`, such as "
    '[[0, 4, "PER"]]; or one word in each row, and `sentence`, the column that '
    "identifies its sentence"
)
_SPANS = "spans", "entities", "label", "labels"
_KEYS = ("start", "start_offset"), ("end", "end_offset"), ("label", "labels")
_BLANKS = re.compile(r"(\s|\\[nrt])+")


# A word in each row.


def sentence_table(table, word, tag, sentence, report):
    """Joins the words of each sentence.

    A sentence is left out if a row before, in or after it was reported, because
    a word may be missing. A repeated header, as in concatenated files, ends a
    sentence.

    Args:
        table: A `Table` with a word in each row.
        word: String, the column of the words.
        tag: String, the column of their tags.
        sentence: String, the column that identifies the sentence of a word. A
            row where it is empty continues the previous sentence.
        report: The `Report` for bad rows and incomplete sentences.

    Returns:
        A `Table` whose rows have lists of `tokens` and `tags`.
    """

    def joined():
        words, last, start, lacks, known = [], None, 0, False, 0
        for number, row in itertools.chain(table.rows, [(None, {})]):
            reasons = {reason for _, reason in report.malformed[known:]}
            is_apart = number is None or HEADER_AGAIN in reasons
            is_gap = bool(reasons - {HEADER_AGAIN})
            name = row.get(sentence)
            is_new = is_apart or not (is_missing(name) or name == last)
            lacks = lacks or is_gap
            if is_new and words:
                if lacks:
                    report.add(start, "a sentence that may lack a row")
                else:
                    tokens, tags = map(list, zip(*words, strict=True))
                    yield start, {"tokens": tokens, "tags": tags}
                words, lacks = [], is_gap
            last, start = (name if is_new else last), start if words else number
            try:
                words.append([_cell(row.get(word)), _cell(row.get(tag))])
            except ValueError as error:
                report.add(number, error)
                words.append([None, None])
                lacks = True
            known = len(report.malformed)

    return Table(["tokens", "tags"], joined(), table.numbered)


def _cell(value):
    """Returns a text or number as a string, stripped of white space."""
    if isinstance(value, str):
        return decoded(value.strip(), "a word")
    is_number = isinstance(value, int | float) and not is_missing(value)
    return str(value) if is_number else value


# Texts with marked spans of characters.


def span_table(table, report):
    """Splits texts into words, and converts spans to BIO tags.

    A span is `[start, end, label]`, or a dict with these keys, with positions
    in characters. A dict may have a list of `labels`, and a `text`, which must
    match its positions. A word belongs to a span if part of it does. If spans
    overlap, the first one is used. Rows with the `answer` `reject` or `ignore`
    (Prodigy) are left out. Rows with `accept`, or with an `annotation_id`
    (Label Studio), may have no spans.

    Args:
        table: A `Table`.
        report: The `Report` for bad rows and notes.

    Returns:
        A `Table` whose rows have lists of `tokens` and `tags`; the given table,
        if it has no texts, or has tags in the column of the spans.
    """
    column = next((name for name in _SPANS if name in table.columns), None)
    if column is None or "text" not in table.columns:
        return table
    rows = iter(table.rows)
    first = list(itertools.islice(rows, 1))
    table = table._replace(rows=itertools.chain(first, rows))
    cells = [row.get(column) for _, row in first]
    lists = [cell for cell in cells if isinstance(cell, list | tuple)]
    if any(isinstance(x, str | int) for x in itertools.chain(*lists)):
        return table
    report.columns = {"tokens": "text", "tags": column}
    return Table(["tokens", "tags"], _tagged_rows(table, column, report))


def _tagged_rows(table, column, report):
    marked = _marked_texts(table, column, report)
    cut, lost = [], []  # examples of spans for the notes
    for rows in in_parts(marked, _with_words):
        for (number, text, spans), words, *places in rows:
            tags = _tags(text, spans, *places, cut, lost)
            tokens = [word.decode() for word in words]
            yield number, {"tokens": tokens, "tags": tags}
    for found, what in (
        (cut, "begin or end inside a word, which is tagged as a whole"),
        (lost, "overlap others or contain no word, and were left out"),
    ):
        if found:
            report.notes.append(f"{len(found)} spans {what}, first {found[0]}")


def _with_words(rows):
    """Yields rows of marked texts with words, starts and ends."""
    split = split_into_words([text for _, text, _ in rows])
    return zip(rows, *(column.to_list() for column in split), strict=True)


def _marked_texts(table, column, report):
    """Yields `(number, text, spans)` with sorted spans."""
    refused = []
    for number, row in table.rows:
        text, spans, answer = map(row.get, ("text", column, "answer"))
        if answer in ("reject", "ignore"):  # of Prodigy
            refused.append(f"{report.unit} {number}, {answer!r}")
            continue
        if spans is None and (answer == "accept" or "annotation_id" in row):
            spans = []  # Prodigy and Label Studio omit empty spans
        try:
            if not isinstance(text, str) or is_blank(text):
                raise ValueError(f"not a text: {text!r:.40}")
            if not isinstance(spans, list | tuple):
                raise ValueError(f"not a list of spans: {spans!r:.40}")
            found = [x for span in spans for x in _spans(span, text)]
            yield (
                number,
                decoded(text, "text"),
                sorted(found, key=lambda x: x[:2]),
            )
        except ValueError as error:
            report.add(number, error)
    if refused:
        report.notes.append(
            f"{len(refused)} rows whose `answer` is 'reject' or 'ignore' were "
            f"left out, first {refused[0]}"
        )


def _spans(span, text):
    """Yields `(start, end, label)` for each label of a span."""
    own = None
    if isinstance(span, dict):
        own = span.get("text")
        span = [
            next((span[key] for key in keys if key in span), None)
            for keys in _KEYS
        ]
    is_span = isinstance(span, list | tuple) and len(span) == 3
    start, end, labels = span if is_span else (None, None, None)
    labels = labels if isinstance(labels, list | tuple) else [labels]
    is_inside = (
        is_integer(start) and is_integer(end) and 0 <= start < end <= len(text)
    )
    named = all(isinstance(x, str) and x.strip() for x in labels)
    if not (is_inside and labels and named):
        raise ValueError(f"not [start, end, label] in the text: {span!r:.40}")
    # Programs write white space literally or as `\n`.
    there = text[start:end]
    if isinstance(own, str) and _BLANKS.sub("", own) != _BLANKS.sub("", there):
        raise ValueError(
            f"{own!r:.40} does not match its positions: {there!r:.40}"
        )
    for label in labels:
        yield start, end, label.strip()


def _tags(text, spans, starts, ends, cut, lost):
    """Returns BIO tags of words; adds spans to `cut` and `lost`."""
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
