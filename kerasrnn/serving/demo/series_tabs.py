"""The tabs of forecasters and music models."""

import csv
import io
import pathlib
import tempfile
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import gradio as gr
import numpy as np

from kerasrnn.data import write_midi
from kerasrnn.data.music.midi import KEYS
from kerasrnn.data.series.read_series import read_series
from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.times import cycles_of
from kerasrnn.data.series.times import local_times
from kerasrnn.data.series.windows import series_windows
from kerasrnn.optional import import_pandas
from kerasrnn.plots import forecast_figure
from kerasrnn.plots import piano_roll_figure
from kerasrnn.serving.demo.text_tabs import add_form
from kerasrnn.serving.demo.text_tabs import checked
from kerasrnn.serving.demo.text_tabs import chosen_seed
from kerasrnn.serving.demo.text_tabs import picture_box
from kerasrnn.serving.demo.text_tabs import seed_box
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.typing import Config

MAX_CHARACTERS = 1_000_000


def forecaster_tab(model: ExportedModel) -> None:
    """Adds the components for a forecaster.

    Args:
        model: The `ExportedModel`. Its card must have the names of the columns.
    """
    facts = model.card() or {}
    columns = facts["columns"]

    def forecast(text, shown):
        if not text.strip() or not shown:
            return gr.skip()
        table = series_of(facts, table_of(text))
        inputs = window(facts, table)
        found = model.signatures["serving_default"](**inputs)
        answer = {name: values[0] for name, values in found.items()}
        times = local_times(table.series[0].times, table.zone)
        # In the order of the model.
        shown = [name for name in columns if name in shown]
        path = new_file("forecast.csv")
        rows(facts, times, answer, columns).to_csv(path, index=False)
        return (
            f"{len(shown)} of {len(columns)} columns are shown.",
            picture(facts, times, inputs["past"][0], answer, shown),
            rows(facts, times, answer, shown),
            str(path),
        )

    gr.Markdown(what_to_paste(facts))
    saved = model.path.parent / "example.csv"
    text = gr.Textbox(
        saved.read_text("utf-8") if saved.exists() else "",
        label="Rows, as CSV with the names of the columns",
        lines=14,
        max_lines=14,
    )
    shown = gr.Dropdown(
        columns,
        value=columns[:4],
        multiselect=True,
        label="Columns to show",
    )
    outputs = [
        gr.Markdown(),
        picture_box(),
        gr.Dataframe(label="Forecast and its quantiles", interactive=False),
        gr.DownloadButton("Download all columns as CSV"),
    ]
    add_form(forecast, [text, shown], "Forecast", outputs)
    shown.input(forecast, [text, shown], outputs)


def new_file(name: str) -> pathlib.Path:
    """Returns the path of a file to download, in a new folder."""
    return pathlib.Path(tempfile.mkdtemp(prefix="kerasrnn-"), name)


def what_to_paste(facts: Config) -> str:
    """Describes the rows that a model reads.

    Args:
        facts: The facts in the card of the model.
    """
    known, cycles = cycles_of(facts.get("known", []))
    columns = [*facts["columns"], *known, *facts.get("static", [])]
    text = (
        f"Paste the last {facts['lookback']} rows of a series or more, one "
        f"for each step (`{facts['step']}`), with a column of times and the "
        f"columns {', '.join(columns)}."
    )
    if known:
        text += (
            f" Below them, paste {facts['horizon']} rows to forecast, with "
            f"their times and {', '.join(known)}."
        )
    if cycles:
        text += f" The model also reads the {' and '.join(cycles)} of each row."
    return f"{text} An empty cell is a missing value."


def table_of(text: str) -> dict[str, list[str]]:
    """Returns the cells of a pasted table by column.

    Args:
        text: String, a CSV with a header.

    Raises:
        gr.Error: when it is not a CSV, or rows differ in their number of cells.
    """
    text = checked(text, MAX_CHARACTERS)
    file = io.StringIO(text.lstrip("\ufeff").strip(), newline=None)
    try:
        header, *lines = [*csv.reader(file)] or [[]]
    except csv.Error as error:
        raise _error(f"Please paste rows as CSV. Received: {error}.") from error
    # With a single column, a blank line is an empty cell.
    if len(header) == 1:
        lines = [line or [""] for line in lines]
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


def series_of(facts: Config, table: Mapping[str, Sequence[str]]) -> SeriesTable:
    """Returns the series of a table, up to the last step to forecast.

    Args:
        facts: The facts in the card of the model.
        table: The result of `table_of`. The first column that the model does
            not use has the times.

    Raises:
        gr.Error: when a column is missing or cannot be read, or there are too
            few rows to forecast.
    """
    columns, static = facts["columns"], facts.get("static", [])
    known, cycles = cycles_of(facts.get("known", []))
    named = [*columns, *known, *static]
    times = [name for name in table if name not in named]
    lacking = [f"the column {name!r}" for name in named if name not in table]
    if lacking or not times:
        raise _error(
            f"Expected: {', '.join(lacking or ['a column of times'])}. "
            f"Received: {', '.join(map(repr, table))}."
        )
    try:
        given = read_series(
            import_pandas().DataFrame(table),
            times[0],
            columns,
            known=known,
            static=static,
            calendar=cycles,
            step=facts["step"],
        )
        found = given.in_zone(facts.get("zone")).ahead(facts["horizon"])
    except ValueError as error:
        raise _error(str(error)) from error
    count = len(given) - found.series[0].begin
    if known and count < facts["horizon"]:
        raise _error(
            f"Expected: {facts['horizon']} rows with {', '.join(known)} after "
            f"the last one with {' or '.join(columns)}. Received: {count}."
        )
    return found


def window(facts: Config, table: SeriesTable) -> dict[str, np.ndarray]:
    """Returns the inputs of the model: the last window of a table.

    Args:
        facts: The facts in the card of the model.
        table: The result of `series_of`. If it is too short, missing values are
            added at the start.
    """
    size = facts["lookback"], facts["horizon"]
    ((inputs, _),) = series_windows(table, *size, batch_size=1)
    return {name: values.numpy() for name, values in inputs.items()}


def picture(
    facts: Config,
    times: np.ndarray,
    past: np.ndarray,
    answer: dict[str, Any],
    names: Sequence[str],
) -> Any:
    """Draws columns after their past.

    Args:
        facts: What the card of the model says.
        times: Those of the series, up to the last that is forecast.
        past: Array of shape `(lookback, columns)`.
        answer: What the model answers, of one window.
        names: List of the columns to draw.
    """
    places = [facts["columns"].index(name) for name in names]
    quantiles = answer.get("quantiles")
    horizon = facts["horizon"]
    # Where rows lack in front, they have no times.
    past = past[-len(times[:-horizon]) :]
    return forecast_figure(
        past[:, places],
        answer["forecast"][:, places],
        names,
        quantiles=None if quantiles is None else quantiles[:, places],
        levels=() if quantiles is None else facts["levels"],
        most_columns=len(names),
        times=times[-len(past) - horizon :],
    )


def rows(
    facts: Config,
    times: np.ndarray,
    answer: dict[str, Any],
    names: Sequence[str],
) -> Any:
    """Returns a DataFrame with a row for each time that is forecast.

    It takes what `picture` takes.

    Returns:
        The `pandas.DataFrame`: the times, and for each column the point and
        the quantiles.
    """
    pandas = import_pandas()
    ahead = pandas.DatetimeIndex(times[-facts["horizon"] :])
    table = {"time": ahead.astype(str)}
    for name in names:
        place = facts["columns"].index(name)
        table[name] = answer["forecast"][:, place]
        if "quantiles" in answer:
            levels = answer["quantiles"][:, place].T
            for level, values in zip(facts["levels"], levels, strict=True):
                table[f"{name} {level}"] = values
    # Five digits: of a float32, more would be shown.
    return pandas.DataFrame(table).map(
        lambda x: x if isinstance(x, str) else float(f"{x:.5g}")
    )


def _error(text):
    return gr.Error(text, print_exception=False)


def music_tab(model: ExportedModel) -> None:
    """Adds the components for a model with `generate` on piano rolls.

    Args:
        model: The `ExportedModel`.
    """
    steps_per_beat = (model.card() or {}).get("steps_per_beat", 1)

    def compose(steps, temperature, seed):
        found = model.signatures["generate"](
            prompt=np.zeros((1, 0, KEYS), "float32"),
            seed=chosen_seed(seed),
            temperature=temperature,
            steps=steps,
        )
        roll = found["roll"][0]
        path = write_midi(roll, new_file("composed.mid"), steps_per_beat)
        return str(path), piano_roll_figure({"composed": roll})

    temperature = gr.Slider(
        0,
        2,
        1,
        step=0.05,
        label="Temperature",
        info="0 always takes what is more probable, key by key",
    )
    steps = gr.Slider(8, 512, 128, step=8, label="Length in steps")
    add_form(
        compose,
        [steps, temperature, seed_box()],
        "Compose",
        [gr.File(label="To listen to: a MIDI file")],
        below=[picture_box(wide=True)],
    )
