"""The tabs of models of numbers: a forecast, and composed music."""

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
from kerasrnn.serving.demo.text_tabs import chosen_seed
from kerasrnn.serving.demo.text_tabs import picture_box
from kerasrnn.serving.demo.text_tabs import seed_box
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.typing import Config

MAX_CHARACTERS = 1_000_000


def forecaster_tab(model: ExportedModel) -> None:
    """Adds the components for a model that forecasts columns of numbers.

    Args:
        model: The `ExportedModel`, whose card has the names of the columns.
    """
    facts = model.card() or {}

    def forecast(text):
        table = series_of(facts, table_of(text))
        inputs = window(facts, table)
        found = model.signatures["serving_default"](**inputs)
        answer = {name: values[0] for name, values in found.items()}
        times = table.series[0].times[-facts["horizon"] :]
        times = local_times(times, table.zone)
        drawn = picture(facts, inputs["past"][0], answer)
        return drawn, rows(facts, times, answer)

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
                headers=["time", "column", "forecast", *map(str, levels)],
                label="Forecast and its quantiles",
                interactive=False,
            )
    gr.on([button.click], forecast, [text], [plot, table])


def what_to_paste(facts: Config) -> str:
    """Returns sentences on the rows that a model reads.

    Args:
        facts: What the card of the model says.
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


def series_of(facts: Config, table: Mapping[str, Sequence[str]]) -> SeriesTable:
    """Returns the series of a table, up to the last step to forecast.

    Args:
        facts: What the card of the model says.
        table: What `table_of` returned. Times are in the first column of
            which the model knows no name.

    Raises:
        gr.Error: when a column is lacking or cannot be read, or the rows to
            forecast are too few.
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
    """Returns the inputs of the model: one window, the last of a table.

    Args:
        facts: What the card of the model says.
        table: What `series_of` returned. Where rows lack in front, values are
            missing.
    """
    size = facts["lookback"], facts["horizon"]
    ((inputs, _),) = series_windows(table, *size, batch_size=1)
    return {name: values.numpy() for name, values in inputs.items()}


def picture(facts: Config, past: np.ndarray, answer: dict[str, Any]) -> Any:
    """Draws the first columns after their past.

    Args:
        facts: What the card of the model says.
        past: Array of shape `(lookback, columns)`.
        answer: What the model answers, of one window.
    """
    quantiles = answer.get("quantiles")
    return forecast_figure(
        past,
        answer["forecast"],
        facts["columns"],
        quantiles=quantiles,
        levels=() if quantiles is None else facts["levels"],
    )


def rows(
    facts: Config, times: np.ndarray, answer: dict[str, Any]
) -> list[list[Any]]:
    """Returns a row for each time and column: the point and the quantiles."""
    point = answer["forecast"]
    none = np.zeros((*point.shape, 0))
    quantiles = answer.get("quantiles", none)
    return [
        [time, name, *(float(f"{x:.5g}") for x in (value, *others))]
        for time, values, bands in zip(
            import_pandas().DatetimeIndex(times).astype(str),
            point,
            quantiles,
            strict=True,
        )
        for name, value, others in zip(
            facts["columns"], values, bands, strict=True
        )
    ]


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
        folder = tempfile.mkdtemp(prefix="kerasrnn-")
        path = write_midi(
            roll, pathlib.Path(folder, "composed.mid"), steps_per_beat
        )
        return piano_roll_figure({"composed": roll}), str(path)

    with gr.Row():
        with gr.Column():
            controls = [
                gr.Slider(8, 512, 128, step=8, label="Length in steps"),
                gr.Slider(
                    0,
                    2,
                    1,
                    step=0.05,
                    label="Temperature",
                    info="0 always takes what is more probable, key by key",
                ),
                seed_box(),
            ]
            button = gr.Button("Compose", variant="primary")
        with gr.Column():
            file = gr.File(label="To listen to: a MIDI file")
    picture = picture_box(wide=True)
    gr.on([button.click], compose, controls, [picture, file])
