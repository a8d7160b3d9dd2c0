"""Tables with a word in each row, as tables of sentences."""

from kerasrnn.data.tables.cell_values import is_missing
from kerasrnn.data.tables.tables import Table

SENTENCE_FORMS = (
    "a list of words in `tokens` or `words` and one of their tags in "
    "`ner_tags`, `tags` or `pos_tags`; a `text` and its `spans`, such as "
    '[[0, 4, "PER"]]; or a word in each row, and `sentence`, the column that '
    "says which sentence it is of"
)


def sentence_table(table, word, tag, sentence):
    """Joins the words of each sentence.

    Args:
        table: A `Table` with a word in each row.
        word: String, the column of the words.
        tag: String, the column of their tags.
        sentence: String, the column that says which sentence a word is of. A
            row in which it is empty goes on with the sentence before.

    Returns:
        A `Table`, whose rows have lists of `tokens` and `tags`.
    """

    def joined():
        start, name = 0, None
        words = []
        for number, row in table.rows:
            cell = row.get(sentence)
            if words and not is_missing(cell) and cell != name:
                yield start, _columns(words)
                words = []
            start = start if words else number
            name = name if is_missing(cell) else cell
            words.append((_word(row.get(word)), row.get(tag)))
        if words:
            yield start, _columns(words)

    return Table(["tokens", "tags"], joined())


def _word(value):
    """A word as text, also if it is a number in a DataFrame."""
    number = isinstance(value, int | float) and not is_missing(value)
    return str(value) if number else value


def _columns(words):
    tokens, tags = zip(*words, strict=True)
    return {"tokens": list(tokens), "tags": list(tags)}
