"""Tables with a word in each row, as tables of sentences."""

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
    it would be missing, or the row began another. A row before the first word
    may be, unless the column of sentences is empty in the later ones.

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
        last, bad, known = 0, set(), 0
        for numbers, rows, end in _sentences(table.rows, sentence, report):
            bad.update(
                place
                for place, reason in report.malformed[known:]
                if reason != HEADER_AGAIN
            )
            known = len(report.malformed)
            is_named = not any(is_missing(row.get(sentence)) for row in rows)
            start = last + 1 if is_named else numbers[0]
            last = numbers[-1]
            if bad.isdisjoint(range(start, end)):
                tokens = [_word(row.get(word)) for row in rows]
                tags = [row.get(tag) for row in rows]
                yield numbers[0], {"tokens": tokens, "tags": tags}
            else:
                report.add(numbers[0], "a sentence that may lack a row")

    return Table(["tokens", "tags"], joined(), table.numbered)


def _sentences(rows, sentence, report):
    """Yields the numbers and rows of a sentence, and the number after them."""
    numbers, found, name = [], [], None
    for number, row in rows:
        cell = row.get(sentence)
        if found and not is_missing(cell) and cell != name:
            yield numbers, found, number
            numbers, found = [], []
        name = name if is_missing(cell) else cell
        numbers.append(number)
        found.append(row)
    if found:
        yield numbers, found, report.seen + 1


def _word(value):
    """A word as text, also if it is a number in a DataFrame."""
    number = isinstance(value, int | float) and not is_missing(value)
    return str(value) if number else value
