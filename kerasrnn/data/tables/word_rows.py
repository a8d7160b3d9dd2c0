"""Tables with a word in each row, as tables of sentences."""

from kerasrnn.data.tables.cell_values import decoded
from kerasrnn.data.tables.cell_values import is_missing
from kerasrnn.data.tables.tables import HEADER_AGAIN
from kerasrnn.data.tables.tables import Table

SENTENCE_FORMS = (
    "a list of words in `tokens` or `words` and one of their tags in "
    "`ner_tags`, `tags` or `pos_tags`; a `text` and its `spans`, such as "
    '[[0, 4, "PER"]]; or a word in each row, and `sentence`, the column that '
    "says which sentence it is of"
)


def sentence_table(table, word, tag, sentence, report):
    """Joins the words of each sentence.

    A sentence is left out if a row that was reported may be of it: a word of
    it would be missing, or the row began another. A bad row before its first
    word counts, too, unless its later rows leave `sentence` empty: then the
    first names it. A header in between, as in files that were joined, ends it.

    Args:
        table: A `Table` with a word in each row.
        word: String, the column of the words.
        tag: String, the column of their tags.
        sentence: String, the column that says which sentence a word is of. A
            row in which it is empty goes on with the sentence before.
        report: The `Report` that bad rows are added to, and such sentences.

    Returns:
        A `Table`, whose rows have lists of `tokens` and `tags`.
    """

    def joined():
        bad, known = set(), 0
        rows = _words(table.rows, word, tag, sentence, report)
        for start, found, end in _sentences(rows, report):
            bad.update(
                place
                for place, reason in report.malformed[known:]
                if reason != HEADER_AGAIN
            )
            known = len(report.malformed)
            numbers, names, words = zip(*found, strict=True)
            if any(map(is_missing, names)):
                start = numbers[0]
            if bad.isdisjoint(range(start, end)):
                tokens, tags = map(list, zip(*words, strict=True))
                yield numbers[0], {"tokens": tokens, "tags": tags}
            else:
                report.add(numbers[0], "a sentence that may lack a row")

    return Table(["tokens", "tags"], joined(), table.numbered)


def _words(rows, word, tag, sentence, report):
    """Yields the number of each row, its sentence, and its word and tag."""
    for number, row in rows:
        value = row.get(word)
        if isinstance(value, int | float) and not is_missing(value):
            value = str(value)  # of a DataFrame
        try:
            pair = _cell(value, "word"), _cell(row.get(tag), "tag")
        except ValueError as error:
            report.add(number, error)
            pair = None, None  # its sentence will be left out
        yield number, row.get(sentence), pair


def _cell(value, name):
    """A text without white space around it, or another value as it is."""
    return decoded(value.strip(), name) if isinstance(value, str) else value


def _sentences(rows, report):
    """Yields the rows of each sentence, and between which places it is.

    These are the first that may be of it, and the first after it.
    """
    found, last, start, known = [], None, 1, 0
    for row in rows:
        number, name, _ = row
        headers = [
            place
            for place, reason in report.malformed[known:]
            if reason == HEADER_AGAIN
        ]
        known = len(report.malformed)
        is_new = not is_missing(name) and name != last
        if found and (is_new or headers):
            yield start, found, headers[0] if headers else number
            start, found = found[-1][0] + 1, []
        if headers:
            start = headers[-1] + 1
        if is_new or headers:
            last = name
        found.append(row)
    if found:
        yield start, found, report.seen + 1
