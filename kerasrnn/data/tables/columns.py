"""Which columns of a source hold what is asked for."""

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tables.class_tables import class_table
from kerasrnn.data.tables.class_tables import is_of_files
from kerasrnn.data.tables.conll import conll_table
from kerasrnn.data.tables.line_pairs import line_table
from kerasrnn.data.tables.records import are_records
from kerasrnn.data.tables.spans import span_column
from kerasrnn.data.tables.spans import span_table
from kerasrnn.data.tables.tables import column_finder
from kerasrnn.data.tables.tables import is_table
from kerasrnn.data.tables.tables import open_table
from kerasrnn.data.tables.word_rows import SENTENCE_FORMS

_WORDS = ("tokens", "tags")
_PAIR = ("source", "target")
_OF_FILES = {"text", "label", "group"}  # what a folder of classes tells
_NAMES = {
    "text": ("review", "text", "sentence"),
    "label": ("sentiment", "label"),
    "lines": ("review", "text", "sentence"),
    "labels": ("labels", "label"),
    "tokens": ("tokens", "words"),
    "tags": ("ner_tags", "tags", "pos_tags"),
    "word": ("word", "words", "token", "tokens"),
    "tag": ("tag", "tags", "label", "labels", "ner_tags"),
    "weight": ("weight", "sample_weight"),
}


def open_columns(source, columns, report, arguments, delimiter):
    """A table, and a dict from what was asked for to its columns."""
    columns = {name: _or_none(name, x) for name, x in columns.items()}
    if isinstance(source, list | tuple) and not are_records(source):
        table = line_table(source, report)
    elif {"tokens", "tags"} & set(columns) and not is_table(source):
        table, report.columns = conll_table(source, columns, report, arguments)
        return table, {name: name for name in columns}
    elif set(columns) <= _OF_FILES and is_of_files(source):
        table = class_table(source, report)
    else:
        wanted = [x for named in columns.values() for x in _names_of(named)]
        table = open_table(source, report, wanted, delimiter)
    if set(columns) == set(_WORDS) and not any(columns.values()):
        named = {x for name in _WORDS for x in _NAMES[name]}
        spans, table = span_column(table)
        if spans and not set(_NAMES["tags"]) & set(table.columns):
            table = span_table(table, spans, report)
        elif table.columns and not named & set(map(str.lower, table.columns)):
            raise CorpusError(
                f"The corpus {report.corpus} has no lists of words. Expected: "
                f"{SENTENCE_FORMS}. Received: {table.columns!r:.200}"
            )
    if set(columns) == set(_PAIR) and not any(columns.values()):
        pair = _pair(table, report, arguments)
        return table, dict(zip(_PAIR, pair, strict=True))

    find_column = column_finder(table, report)

    def find(name, names):
        return find_column(names, arguments.get(name, name), name in _PAIR)

    return table, {
        name: [find(name, [x]) for x in _names_of(column)]
        if isinstance(column, list | tuple)
        else find(name, _names_of(column) or _NAMES.get(name, (name,)))
        for name, column in columns.items()
    }


def _or_none(name, column):
    """The column that was named; an empty list counts as none."""
    if not isinstance(column, list | tuple):
        return column
    if name != "labels":
        raise ValueError(
            f"Only `labels` may be of several columns. Expected: one for "
            f"`{name}`. Received: {name}={column!r}"
        )
    return column or None


def _names_of(column):
    """The columns that are named: none, one or several."""
    if column is None:
        return []
    several = isinstance(column, list | tuple)
    return [str(name) for name in (column if several else [column])]


def _pair(table, report, arguments):
    """The columns of source and target, which were not named."""
    if len(table.columns) == 2:
        return table.columns
    lower = [column.lower() for column in table.columns]
    for names in (_PAIR, ("src", "tgt")):
        if all(name in lower for name in names):
            return [table.columns[lower.index(name)] for name in names]
    if not table.columns:
        return _PAIR  # there are no rows
    raise CorpusError(
        f"The columns of source and target in the corpus {report.corpus} are "
        "unknown. Expected: two columns, or the arguments "
        + " and ".join(f"`{arguments.get(name, name)}`" for name in _PAIR)
        + f". Received: {table.columns!r:.200}"
    )


def cell_of(row, column):
    """A cell of a row; of several columns, a dict of cells."""
    if isinstance(column, list):
        return {name: row.get(name) for name in column}
    return row.get(column)
