"""The tab of a forecaster: a curve and its band, from a pasted table."""

import csv
import io
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import gradio as gr
import numpy as np

from kerasrnn.plots import forecast_figure
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.tabs.texts import picture_box
from kerasrnn.typing import Config

MAX_CHARACTERS = 1_000_000
SHOWN = 4  # columns in the picture
PAST = 3  # horizons of the past in it


def forecaster_tab(model: ExportedModel) -> None:
    """Adds the components for a model that forecasts columns of numbers.

    Args:
        model: The `ExportedModel`, whose card has the names of the columns.
    """
    facts = model.card() or {}

    def forecast(text):
        inputs = windows(facts, table_of(text))
        found = model.signatures["serving_default"](**inputs)
        answer = {name: values[0] for name, values in found.items()}
        return picture(facts, inputs["past"][0], answer), rows(facts, answer)

    gr.Markdown(what_to_paste(facts))
    with gr.Row():
        with gr.Column():
            text = gr.Textbox(
                example(model),
                label="Rows, as CSV with the names of the columns",
                lines=14,
                max_lines=14,
                max_length=MAX_CHARACTERS,
            )
            button = gr.Button("Forecast", variant="primary")
        with gr.Column():
            plot = picture_box()
            levels = facts.get("levels", [])
            table = gr.Dataframe(
                headers=["step", "column", "forecast", *map(str, levels)],
                label="Forecast and its quantiles",
                interactive=False,
            )
    gr.on([button.click], forecast, [text], [plot, table])


def what_to_paste(facts: Config) -> str:
    """Returns sentences on the rows that a model reads.

    Args:
        facts: What the card of the model says.
    """
    known, static = (facts.get(name, []) for name in ("known", "static"))
    columns = [*facts["columns"], *known, *static]
    text = (
        f"Paste at least {facts['lookback']} rows, one for each step (`"
        f"{facts['step']}`), with the columns {', '.join(columns)}."
    )
    if known:
        text += (
            f" Below them, {facts['horizon']} rows to forecast, in which only "
            f"{', '.join([*known, *static])} are filled in."
        )
    return f"{text} An empty cell is a missing value."


def example(model: ExportedModel) -> str:
    """Returns the table that the run left beside the model, or nothing."""
    path = model.path.parent / "example.csv"
    return path.read_text("utf-8") if path.exists() else ""


def table_of(text: str) -> dict[str, list[str]]:
    """Returns the cells of the table that was pasted, by column.

    Args:
        text: String, a CSV with a header.

    Raises:
        gr.Error: when it is none, or a row has another number of cells.
    """
    if len(text) > MAX_CHARACTERS:
        raise _error(
            f"The table has {len(text):,} characters, and at most "
            f"{MAX_CHARACTERS:,} are allowed."
        )
    file = io.StringIO(text.lstrip("\ufeff").strip(), newline=None)
    try:
        header, *lines = [*csv.reader(file)] or [[]]
    except csv.Error as error:
        raise _error(f"Please paste rows as CSV. Received: {error}.") from error
    # Of a single column, a blank line is an empty cell.
    lines = [line or [""] * (len(header) == 1) for line in lines]
    lines = [line for line in lines if line]
    if not lines:
        raise _error("Please paste rows as CSV first, below a header.")
    if len(set(header)) < len(header):
        raise _error(
            "Expected: columns with different names. "
            f"Received: {', '.join(map(repr, header))}."
        )
    for number, line in enumerate(lines, 1):
        if len(line) != len(header):
            raise _error(
                f"Expected: {len(header)} cells in each row. Received: "
                f"{len(line)} in row {number}."
            )
    return dict(zip(header, map(list, zip(*lines, strict=True)), strict=True))


def windows(
    facts: Config, table: Mapping[str, Sequence[str]]
) -> dict[str, np.ndarray]:
    """Returns the inputs of the model: one window, the last of a table.

    Args:
        facts: What the card of the model says.
        table: What `table_of` returned. Where rows lack in front, values are
            missing.

    Raises:
        gr.Error: when a column is lacking or has no numbers, or the rows to
            forecast are not as many as the model forecasts.
    """
    lookback, horizon = facts["lookback"], facts["horizon"]
    known, static = facts.get("known", []), facts.get("static", [])
    numbers = {
        name: _column(table, name)
        for name in [*facts["columns"], *known, *static]
    }
    past = np.stack([numbers[name] for name in facts["columns"]], axis=-1)
    ahead = 0
    if known:
        empty = np.isnan(past[-horizon:]).all(axis=1)
        ahead = horizon
        if len(empty) < horizon or not empty.all():
            raise _error(
                f"Expected: {horizon} last rows with what is known ahead and "
                f"no {', '.join(facts['columns'])}. Received: {empty.sum()} "
                "without any."
            )
    found = {"past": _last(past[: len(past) - ahead], lookback)}
    if known:
        columns = np.stack([numbers[name] for name in known], axis=-1)
        found["known"] = _last(columns, lookback + horizon)
    if static:
        found["static"] = np.array([numbers[name][-1] for name in static])
    return {name: x[None].astype("float32") for name, x in found.items()}


def picture(facts: Config, past: np.ndarray, answer: dict[str, Any]) -> Any:
    """Draws the first columns after the end of their past.

    Args:
        facts: What the card of the model says.
        past: Array of shape `(lookback, columns)`.
        answer: What the model answers, of one window.
    """
    names = facts["columns"][:SHOWN]
    quantiles = answer.get("quantiles")
    return forecast_figure(
        past[-PAST * facts["horizon"] :, :SHOWN],
        answer["forecast"][:, :SHOWN],
        names,
        quantiles=None if quantiles is None else quantiles[:, :SHOWN],
        levels=() if quantiles is None else facts["levels"],
    )


def rows(facts: Config, answer: dict[str, Any]) -> list[list[Any]]:
    """Returns a row for each step and column: the point and the quantiles."""
    point = answer["forecast"]
    none = np.zeros((*point.shape, 0))
    quantiles = answer.get("quantiles", none)
    return [
        [step + 1, name, *(float(f"{x:.5g}") for x in (value, *others))]
        for step, (values, bands) in enumerate(
            zip(point, quantiles, strict=True)
        )
        for name, value, others in zip(
            facts["columns"], values, bands, strict=True
        )
    ]


def _column(table, name):
    if name not in table:
        raise _error(
            f"Expected: the column {name!r}. "
            f"Received: {', '.join(map(repr, table))}."
        )
    try:
        return np.array([float(cell or "nan") for cell in table[name]])
    except ValueError as error:
        raise _error(f"The column {name!r} has no number: {error}.") from error


def _last(values, count):
    """The last rows, after rows of missing values where there are too few."""
    values = values[-count:]
    lack = np.full((count - len(values), values.shape[1]), np.nan)
    return np.concatenate([lack, values])


def _error(text):
    return gr.Error(text, print_exception=False)
