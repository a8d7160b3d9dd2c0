"""The columns of a table of series, as a DataFrame."""

import re

from kerasrnn.data.reading.cells import decoded
from kerasrnn.data.reading.cells import name_in
from kerasrnn.data.reading.formats import open_table
from kerasrnn.data.reading.table import Table
from kerasrnn.data.reading.table import check_names
from kerasrnn.data.reading.table import column_finder
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.optional import import_pandas

_WHOLE = ""  # the name of a series that is the whole table
# What programs write as the name of a column without one, such as an index.
_NO_NAME = r"|Unnamed: \d+(_level_\d+|\.\d+)?|__index_level_\d+__"


def series_frame(source, columns, named, report):
    """A DataFrame of the named columns, and the names of what to forecast."""
    pandas = import_pandas()
    given = [name for names in named.values() for name in names]
    if isinstance(source, pandas.DataFrame):
        source = _with_index(source, [*given, *(columns or [])])
        source, report.unit = source.rename(columns=str), "row"
        table = Table(list(source.columns), iter(()))
        check_names(table.columns, "the DataFrame")
    else:
        table = open_table(source, named | {"columns": columns}, report)
    taken = _found(table, named, report)
    if columns is None:
        others = [name for name in table.columns if name not in taken]
        columns = [x for x in others if not re.fullmatch(_NO_NAME, x)]
        if len(columns) < len(others):
            report.notes.append("columns without a name are left out")
    if not columns or isinstance(columns, str):
        raise ValueError(
            "`columns` must be a list of names, at least one. "
            f"Received: columns={columns!r}"
        )
    wanted = [*given, *columns]
    if len(set(wanted)) < len(wanted):
        raise ValueError(
            "Each column can be one thing: time, key, known, static or to be "
            f"forecast. Received: {', '.join(wanted)}"
        )
    taken += _found(table, {"columns": columns}, report)
    if len(set(taken)) < len(taken):
        raise ValueError(
            "Each column can have one name. Received: "
            f"{', '.join(wanted)} for {', '.join(taken)}"
        )
    if isinstance(source, pandas.DataFrame):
        frame = source[taken].set_axis(wanted, axis="columns")
    else:
        rows = list(_rows(table, taken, report))
        frame = pandas.DataFrame(rows, columns=wanted)
    report.warn()
    if frame.empty:
        raise CorpusError(
            f"There must be rows in {report.corpus}. Received: none"
        )
    return frame, list(columns)


def _with_index(frame, names):
    """A DataFrame in which the parts of its index that are named are columns.

    A column of the same name comes first.
    """
    folded = {name.lower() for name in names}
    columns = {str(column).lower() for column in frame.columns}
    levels = [
        level
        for level, name in enumerate(frame.index.names)
        if name is not None and str(name).lower() in folded - columns
    ]
    return frame.reset_index(level=levels) if levels else frame


def _rows(table, columns, report):
    """Yields the cells of rows; reports those that cannot be decoded."""
    for number, row in table.rows:
        cells = [row.get(name) for name in columns]
        try:
            decoded("".join(x for x in cells if isinstance(x, str)), "a cell")
        except ValueError as error:
            report.add(number, error)
        else:
            yield cells


def rows_by_series(frame, key, corpus):
    """The rows of each series by its name: that in `key`, joined by `/`."""
    if not key:
        return {_WHOLE: frame}
    for column in key:
        frame[column] = _names_in(frame[column], corpus)
    found = {}
    for parts, rows in frame.groupby(key, sort=False):
        name = "/".join(parts)
        if name in found:
            raise CorpusError(
                f"Series of {corpus} must have names that differ when their "
                f"parts are joined by '/'. Received: {name!r} twice, in the "
                f"columns {', '.join(map(repr, key))}"
            )
        found[name] = rows
    return found


def _names_in(column, corpus):
    """The cells of a column of names; refuses empty ones."""
    names, rows = [], Report(corpus, "row")
    for rows.seen, value in enumerate(column, start=1):
        try:
            names.append(name_in(value, column.name))
        except ValueError as error:
            rows.add(rows.seen, error)
    if rows.malformed:
        raise CorpusError(
            f"Each row of {corpus} must have a {column.name!r}. "
            f"Received: {len(rows.malformed):,} rows without, {rows.first()}"
        )
    return names


def _found(table, named, report):
    """The columns of a table by their names in arguments, ignoring case."""
    find = column_finder(table.columns, report)
    return [
        find([name], argument)
        for argument, names in named.items()
        for name in names
    ]
