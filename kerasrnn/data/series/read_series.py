"""Reads and validates tables of time series."""

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
from kerasrnn.data.report import first_of
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
    r"""Reads one or more time series from a table.

    Each row is one time step; with `key`, of one of the series. Every series
    must be on a regular grid. Missing rows are added without values. Times off
    the grid are refused, unless `resample` is given. A series without any
    values is left out, with a `CorpusWarning`. Rows may be in any order. A cell
    is missing if it is empty or `NA`, `#N/A`, `NaN`, `null`, `None` (as in
    pandas) or `?`. True and False are 1 and 0. A summary is printed to standard
    error.

    Args:
        source: String or path of a table in any format of `read_rows`; or a
            pandas DataFrame.
        time: String, the column (or named index) of times. Numbers may be
            years, such as 2024, or days, such as 20240531. Or a list of
            columns, such as `["Date", "Time"]`, or of numbers that are called
            year, month, day, hour, minute and second. Time-zone-aware
            timestamps are converted to UTC. Their calendar features use the
            local zone, or UTC if only offsets are known; a forecaster uses the
            zone of its training data. Daily data keep their local dates.
        columns: List of strings, the columns to forecast. Defaults to `None`:
            all columns with a name (not `Unnamed: 0`) that no other argument
            uses.
        key: String, the column that identifies the series; or a list of
            columns, whose values are joined, as in `"north/bread"`.
        known: List of strings, columns that are known in advance, such as
            prices. Rows after the last values can contain their future values.
        static: List of strings, columns of numbers that are constant within a
            series.
        calendar: List of calendar features: `"minute"`, `"hour"`, `"weekday"`,
            `"monthday"` or `"yearday"`. Each is encoded as sine and cosine.
        step: String, the time step, a pandas offset such as `"h"`, `"15min"`,
            `"D"` or `"MS"`. Defaults to `None`, the most frequent step.
        resample: `"mean"`, `"sum"`, `"min"`, `"max"`, `"first"` or `"last"`:
            how to aggregate the rows of each step, including `known` columns
            (if they need another rule, resample them before). It needs `step`.
            If the values of a column begin or end within a step, this step is
            missing.
        time_format: String, the format of times, such as `"%d.%m.%Y"`, or
            `"ISO8601"` for mixed forms of it; `"s"`, `"ms"`, `"us"` or `"ns"`
            for numbers since 1970. Cells of several columns are joined by
            spaces: `"%Y %m %d %H"`. Defaults to `None`: pandas detects it from
            the first time. An error is raised if days and months are ambiguous
            in all times, or years do not have four digits.
        decimal: `"."` or `","`, the decimal point of numbers in text.

    Returns:
        A `SeriesTable`.

    Raises:
        CorpusError: If a cell is not a time or a number, days and months are
            ambiguous, a row has no key, a time occurs twice, times are
            irregular, a hundred times as many steps as rows are missing, a
            static column changes, or there are no values. It is a `ValueError`.
        ImportError: If pandas is not installed.
        ValueError: If an argument is invalid.

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
    rules = None, "mean", "sum", "min", "max", "first", "last"
    one_of("resample", resample, rules)
    one_of("decimal", decimal, (".", ","))
    time_columns, known, static, cycles = map(
        names_of, (time, known, static, calendar)
    )
    if not time_columns:
        raise ValueError(
            "`time` must be the name of a column or a list of names. Received: "
            f"time={time!r}"
        )
    names = calendar_names(cycles)
    step = step and checked_step(step)
    check_time_format(time_format)
    report = Report(name_of(source))
    named = {"time": time_columns, "known": known, "static": static}
    named["key"] = names_of(key)
    frame, columns = series_frame(source, columns, named, report)
    joined = joined_times([frame[x] for x in time_columns], time_format)
    # From here on, the first of these columns has the joined times.
    time = time_columns[0]
    frame[time], zone = times_of(joined, time_format, step, report)
    for name in (*columns, *known, *static):
        frame[name] = numbers_of(frame[name], decimal, report)
    groups = rows_by_series(frame, named["key"], report)
    longest = max(groups.values(), key=len)
    step = step or step_of(np.sort(longest[time].to_numpy()), report.corpus)
    most = 100 * max(len(longest), 10)  # steps; far more have no row
    series, partial = [], 0
    for name, rows in groups.items():
        # Rows with the same time keep the order of the table.
        rows = rows.set_index(time).sort_index(kind="stable")
        where = f" of {report.corpus}"
        if name:
            where = f" of the series {name!r}{where}"
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
            f"{partial:,} first or last values of {report.corpus} were "
            f"skipped, because they cover only part of a step of {step!r}",
            file=sys.stderr,
        )
    table = SeriesTable(
        _with_values(series, report.corpus),
        list(columns),
        step,
        [*known, *names],
        list(static),
        cycles,
        " ".join(time_columns),
        zone,
    )
    if resample and known:
        print(
            f"The columns that are known ahead ({', '.join(known)}) were also "
            f"resampled by {resample!r}",
            file=sys.stderr,
        )
    table.say()
    return table


def _with_values(series, corpus):
    """Returns series with values; warns about others."""
    empty = [x.name for x in series if not x.observed()]
    if len(empty) == len(series):
        raise CorpusError(
            f"The columns to forecast must have values in {corpus}. "
            "Received: none"
        )
    if empty:
        warn(
            f"{len(empty)} of {len(series)} series of {corpus} have no values "
            f"and are left out: {first_of(list(map(repr, empty)))}",
            CorpusWarning,
        )
    return [x for x in series if x.observed()]


def _constant(rows, where):
    """Returns the static features of a series, after a check."""
    least, most = rows.min(), rows.max()
    for column in rows.columns[least < most]:
        raise CorpusError(
            f"A static column must be constant in all rows{where}. Received: "
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
            f"Most steps of {step!r}{where} have no row. Correct wrong times, "
            f"or give a longer `step`. Expected: at most {most:,} steps. "
            f"Received: {steps:,.0f} steps from {times[0]} to {times[-1]}, "
            f"with a gap of {gaps.max()} before {gaps.idxmax()}"
        )


def _on_grid(rows, step, most, where, zone):
    """Returns rows on a regular grid of times, adding empty rows."""
    twice = rows.index.duplicated()
    if twice.any():
        raise CorpusError(
            f"Each time{where} must occur only once. Several series need a "
            "`key`; ambiguous local times need an offset; and if several "
            "columns hold the time, such as Date and Time, `time` must list "
            "them all. Received: "
            f"{rows.index[twice][0]} twice, and {twice.sum() - 1} other repeats"
        )
    _check_span(rows.index, step, most, where)
    times = rows.index.to_numpy()  # in nanoseconds, if there are any
    grid = time_grid(times[0], step, times[-1])
    off = ~np.isin(times, grid)
    if off.any():
        days = "; for days of a time zone, its times after tz_localize(None)"
        advice = "" if zone is None else days
        raise CorpusError(
            f"Times{where} must be whole steps of {step!r} apart. Expected: "
            f"another `step`, or `resample`, such as 'mean'{advice}. Received: "
            f"{times[off][0]} and {off.sum() - 1:,} more times off the grid "
            f"that starts at {times[0]}"
        )
    return rows.reindex(grid)


# Names that programs give to unnamed columns, such as an index.
_NO_NAME = r"|Unnamed: \d+(_level_\d+|\.\d+)?|__index_level_\d+__"


def series_frame(source, columns, named, report):
    """Returns a DataFrame of the columns, and those to forecast."""
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
            report.notes.append("unnamed columns are left out")
    if not wanted:
        raise ValueError(
            "`columns` must be a non-empty list of names. Received: "
            f"columns={columns!r}"
        )
    taken += [find([name], "columns") for name in wanted]
    if len(set(taken)) < len(taken):
        raise ValueError(
            "A column can have only one role: time, key, known, static or to "
            f"be forecast. Received: {', '.join([*given, *wanted])}"
        )
    frame = source[taken] if is_frame else _cells(table, taken, report)
    report.warn()
    if frame.empty:
        raise CorpusError(
            f"{report.corpus} must have at least one row. Received: none"
        )
    return frame.set_axis([*given, *wanted], axis="columns"), wanted


def _with_index(frame, names):
    """Returns a DataFrame with named index levels as columns.

    A column with the same name has priority.
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
    """Returns a DataFrame of cells; reports undecodable rows."""
    rows = []
    for number, row in table.rows:
        cells = [row.get(name) for name in columns]
        try:
            decoded("".join(x for x in cells if isinstance(x, str)), "cells")
        except ValueError as error:
            report.add(number, error)
        else:
            rows.append(cells)
    return import_pandas().DataFrame(rows, columns=columns)


def rows_by_series(frame, key, report):
    """Returns the rows of each series by name: `key` joined by `/`."""
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
            f"The names of series of {report.corpus}, joined by '/', must be "
            f"distinct. Received: {twice[twice.duplicated()].iloc[0]!r} twice, "
            f"from the columns {', '.join(map(repr, key))}"
        )
    return dict(list(frame.groupby(names, sort=False)))
