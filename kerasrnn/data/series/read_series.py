"""Reads tables of time series and validates them."""

import functools
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from kerasrnn.arguments import one_of
from kerasrnn.data.reading.cells import decoded
from kerasrnn.data.reading.cells import is_missing
from kerasrnn.data.reading.formats import names_of
from kerasrnn.data.reading.formats import open_table
from kerasrnn.data.reading.rows import name_of
from kerasrnn.data.reading.table import Table
from kerasrnn.data.reading.table import check_names
from kerasrnn.data.reading.table import column_finder
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.report import Report
from kerasrnn.data.series.series_table import Series
from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.times import calendar_columns
from kerasrnn.data.series.times import calendar_names
from kerasrnn.data.series.times import checked_step
from kerasrnn.data.series.times import resampled
from kerasrnn.data.series.times import step_of
from kerasrnn.data.series.times import time_grid
from kerasrnn.data.series.values import check_time_format
from kerasrnn.data.series.values import joined_times
from kerasrnn.data.series.values import numbers_of
from kerasrnn.data.series.values import refuse
from kerasrnn.data.series.values import times_of
from kerasrnn.optional import import_pandas
from kerasrnn.tokenizers.invisible import is_blank
from kerasrnn.warning import warn

_RULES = (None, "mean", "sum", "min", "max", "first", "last")
_MOST_ADDED = 100  # steps for each row of the longest series


def read_series(
    source: Any,
    time: str | Sequence[str],
    columns: Sequence[str] | None = None,
    key: str | Sequence[str] | None = None,
    known: Sequence[str] = (),
    static: Sequence[str] = (),
    calendar: Sequence[str] = (),
    step: str | None = None,
    resample: str | None = None,
    time_format: str | None = None,
    decimal: str = ".",
) -> SeriesTable:
    r"""Reads one series or several from a table with a column of times.

    A row is a time; with `key`, a time of one of the series. Every series must
    be on a regular grid. Rows that are missing in it are added, without values;
    other times are refused, unless they are to be resampled. A series without
    any value is left out, and a `CorpusWarning` says so. Rows may be in any
    order. A value is missing where pandas says so: in an empty cell, or one
    with `NA`, `#N/A`, `NaN`, `null` or `None`; and in one with `?`. True and
    False are 1 and 0. What was read is printed to the standard error.

    Args:
        source: String or path of a table of any format of `read_rows`; or a
            DataFrame of pandas.
        time: String, the column of times, or the index of that name; numbers
            may be years, such as 2024, or days, such as 20240531. Or a list of
            columns, such as `["Date", "Time"]`, or of numbers that are called
            year, month, day, hour, minute and second. Times of a zone or with
            an offset are turned into UTC, and the calendar is that of the
            zone, or of UTC if only offsets are known. A forecaster reads them
            in the calendar of its training. Days are not: they are those of
            the clock.
        columns: List of strings, what to forecast. Defaults to `None`: all
            columns that have a name, not one such as `Unnamed: 0`, and are not
            named otherwise.
        key: String, the column that tells the series apart; or a list, of
            columns whose names are joined, such as `"north/bread"`.
        known: List of strings, columns that are known ahead, such as prices.
            Rows after the last values may tell them.
        static: List of strings, columns of numbers that are equal in all rows
            of a series.
        calendar: List of cycles, known ahead: `"minute"`, `"hour"`,
            `"weekday"`, `"monthday"` or `"yearday"`, each as sine and cosine.
        step: String, the step of time, an offset of pandas such as `"h"`,
            `"15min"`, `"D"` or `"MS"`. Defaults to `None`, the step that most
            rows have.
        resample: `"mean"`, `"sum"`, `"min"`, `"max"`, `"first"` or `"last"`:
            what the rows of each step become, those of `known` columns as
            well; for another rule, resample these before. It needs `step`. The
            first and the last step of a column are missing if its values
            begin or end inside of them.
        time_format: String, how times are written, such as `"%d.%m.%Y"`, or
            `"ISO8601"` for several of its forms; `"s"`, `"ms"`, `"us"` or
            `"ns"` for numbers that count from 1970. Cells of several columns
            are joined by blanks: `"%Y %m %d %H"`. Defaults to `None`, as pandas
            understands the first; not where all would also be times with day
            and month exchanged, or a year is not written in four digits.
        decimal: `"."` or `","`, the decimal point of numbers that are text.

    Returns:
        A `SeriesTable`.

    Raises:
        CorpusError: If a cell is not a time or a number, days may be months, a
            row has no key, a time occurs twice, times are irregular or a
            hundred times as many are missing, a static column changes, or
            there is no value. It is a `ValueError`.
        ImportError: If pandas is not installed.
        ValueError: If arguments are wrong.

    Example:

    >>> rows = ["date,load", "2024-05-01 00:00,5", "2024-05-01 02:00,7"]
    >>> rows += ["2024-05-01 03:00,NA"]
    >>> pathlib.Path("load.csv").write_text("\n".join(rows))
    >>> table = read_series("load.csv", "date", step="h")
    >>> len(table), table.series[0].values[:, 0].tolist()
    (4, [5.0, nan, 7.0, nan])
    """
    if resample and step is None:
        raise ValueError(
            "`resample` needs a `step` to resample to, such as 'h'. "
            f"Received: resample={resample!r}, step=None"
        )
    one_of("resample", resample, _RULES)
    one_of("decimal", decimal, (".", ","))
    times, known, static, cycles = map(
        names_of, (time, known, static, calendar)
    )
    if not times:
        raise ValueError(
            "`time` must be the name of a column, or a list of them. "
            f"Received: time={time!r}"
        )
    names = calendar_names(cycles)
    step = step and checked_step(step)
    check_time_format(time_format)
    report = Report(name_of(source))
    named = {"time": times, "known": known, "static": static}
    named["key"] = names_of(key)
    frame, columns = series_frame(source, columns, named, report)
    joined = joined_times([frame[x] for x in times], time_format)
    time = times[0]
    frame[time], zone = times_of(joined, time_format, step, report)
    for name in (*columns, *known, *static):
        frame[name] = numbers_of(frame[name], decimal, report)
    groups = rows_by_series(frame, named["key"], report)
    longest = max(groups.values(), key=len)
    step = step or step_of(np.sort(longest[time].to_numpy()), report.corpus)
    most = _MOST_ADDED * max(len(longest), 10)
    series, partial = [], 0
    for name, rows in groups.items():
        # Rows of one time stay in the order of the table.
        rows = rows.set_index(time).sort_index(kind="stable")
        where = f" of the series {name!r}" * bool(name) + f" of {report.corpus}"
        features = _constant(rows[static], where)
        rows = rows[[*columns, *known]]
        if resample:
            _check_span(rows.index, step, most, where)
            rows, count = resampled(rows, step, resample)
            partial += count
        else:
            rows = _on_grid(rows, step, most, where, zone)
        grid, numbers = rows.index.to_numpy("datetime64[us]"), rows.to_numpy()
        values, ahead = np.hsplit(numbers.astype("float32"), [len(columns)])
        ahead = np.hstack([ahead, calendar_columns(grid, cycles, zone)])
        series.append(Series(name, grid, values, ahead, features))
    if partial:
        print(
            f"Columns of {report.corpus} begin or end inside of a step of "
            f"{step!r}: {partial:,} first or last values are left out",
            file=sys.stderr,
        )
    table = SeriesTable(
        _with_values(series, report.corpus),
        list(columns),
        step,
        [*known, *names],
        list(static),
        cycles,
        " ".join(times),
        zone,
    )
    if resample and known:
        print(
            f"The columns {', '.join(known)}, which are known ahead, were "
            f"resampled by {resample!r}, too",
            file=sys.stderr,
        )
    table.say()
    return table


def _with_values(series, corpus):
    """The series that have a value; says which have none."""
    empty = [x.name for x in series if not x.observed()]
    if len(empty) == len(series):
        raise CorpusError(
            f"The columns to forecast must have values in {corpus}. "
            "Received: none"
        )
    if empty:
        warn(
            f"{len(empty)} of {len(series)} series of {corpus} have no value "
            f"and are left out: {', '.join(map(repr, empty[:3]))}"
            + ", ..."
            * (len(empty) > 3),
            CorpusWarning,
        )
    return [x for x in series if x.observed()]


def _constant(rows, where):
    """The features of a series, which do not change over time."""
    least, most = rows.min(), rows.max()
    for column in rows.columns[least < most]:
        raise CorpusError(
            f"A static column must be equal in all rows{where}. Received: "
            f"{column!r} from {least[column]} to {most[column]}"
        )
    return most.to_numpy("float32")


def _check_span(times, step, most, where):
    """Raises an error if there are far more steps than rows."""
    first, second = time_grid(times[0], step, count=2)
    steps = (times[-1] - times[0]) / (second - first)
    if steps > most:
        gaps = times.to_series().diff()
        raise CorpusError(
            f"Most steps of {step!r}{where} have no row. Expected: at most "
            f"{most:,} steps; correct a time that is wrong, or give a longer "
            f"`step`. Received: {steps:,.0f} steps from {times[0]} to "
            f"{times[-1]}, of which {gaps.max()} before {gaps.idxmax()}"
        )


def _on_grid(rows, step, most, where, zone):
    """Rows on a regular grid of times, with empty ones where none was."""
    twice = rows.index.duplicated()
    if twice.any():
        raise CorpusError(
            f"Each time{where} must occur once; several series need a "
            "`key`, local times that occur twice an offset, and a time in "
            "several columns, such as Date and Time, all of them. Received: "
            f"{rows.index[twice][0]} and {twice.sum() - 1} more, twice"
        )
    _check_span(rows.index, step, most, where)
    times = rows.index.to_numpy()  # nanoseconds, if it has any
    grid = time_grid(times[0], step, times[-1])
    off = ~np.isin(times, grid)
    if off.any():
        advice = ""
        if zone is not None:
            advice = "; for days of a time zone, its times after "
            advice += "tz_localize(None)"
        raise CorpusError(
            f"Times{where} must be a whole number of steps of {step!r} apart. "
            f"Expected: another `step`, or `resample`, such as 'mean'{advice}. "
            f"Received: {times[off][0]} and {off.sum() - 1:,} more, after "
            f"{times[0]}"
        )
    return rows.reindex(grid)


# What programs write as the name of a column without one, such as an index.
_NO_NAME = r"|Unnamed: \d+(_level_\d+|\.\d+)?|__index_level_\d+__"


def series_frame(source, columns, named, report):
    """A DataFrame of the named columns, and the names of what to forecast."""
    pandas = import_pandas()
    given = [name for names in named.values() for name in names]
    wanted = names_of(columns)
    is_frame = isinstance(source, pandas.DataFrame)
    if is_frame:
        source = _with_index(source, [*given, *wanted]).rename(columns=str)
        report.unit, table = "row", Table(list(source.columns), ())
        check_names(table.columns, "the DataFrame")
    else:
        table = open_table(source, named | {"columns": wanted}, report)
    find = column_finder(table.columns, report)
    taken = [find([x], name) for name, names in named.items() for x in names]
    if columns is None:
        others = [name for name in table.columns if name not in taken]
        wanted = [x for x in others if not re.fullmatch(_NO_NAME, x)]
        if len(wanted) < len(others):
            report.notes.append("columns without a name are left out")
    if not wanted:
        raise ValueError(
            "`columns` must be a list of names, at least one. "
            f"Received: columns={columns!r}"
        )
    taken += [find([name], "columns") for name in wanted]
    if len(set(taken)) < len(taken):
        raise ValueError(
            "Each column can be one thing: time, key, known, static or to be "
            f"forecast. Received: {', '.join([*given, *wanted])}"
        )
    frame = source[taken] if is_frame else _cells(table, taken, report)
    report.warn()
    if frame.empty:
        raise CorpusError(
            f"There must be rows in {report.corpus}. Received: none"
        )
    return frame.set_axis([*given, *wanted], axis="columns"), wanted


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


def _cells(table, columns, report):
    """A DataFrame of cells; reports rows that cannot be decoded."""
    rows = []
    for number, row in table.rows:
        rows.append([row.get(name) for name in columns])
        try:
            decoded("".join(x for x in rows[-1] if isinstance(x, str)), "cells")
        except ValueError as error:
            report.add(number, error)
            rows.pop()
    return import_pandas().DataFrame(rows, columns=columns)


def rows_by_series(frame, key, report):
    """The rows of each series by its name: that in `key`, joined by `/`."""
    if not key:
        return {"": frame}  # the whole table
    for column in key:
        names = frame[column].astype(object).map(str)
        names = names.map(functools.partial(unicodedata.normalize, "NFC"))
        empty = frame[column].map(is_missing) | names.map(is_blank)
        refuse(frame[column], empty, f"a name of the `key` {column!r}", report)
        frame[column] = names.str.strip()
    names = frame[key].agg("/".join, axis="columns")
    if names.nunique() < frame.groupby(key).ngroups:
        twice = frame[key].drop_duplicates().agg("/".join, axis="columns")
        raise CorpusError(
            f"Series of {report.corpus} must have names that differ when their "
            "parts are joined by '/'. Received: "
            f"{twice[twice.duplicated()].iloc[0]!r} twice, in the columns "
            f"{', '.join(map(repr, key))}"
        )
    return dict(list(frame.groupby(names, sort=False)))
