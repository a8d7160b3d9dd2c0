"""The tabs of forecasters and music models."""

import pathlib
import tempfile
from collections.abc import Sequence
from typing import Any

import gradio as gr
import numpy as np

from kerasrnn.data import write_midi
from kerasrnn.data.music.midi import KEYS
from kerasrnn.data.reading.delimited import delimited_table
from kerasrnn.data.report import Report
from kerasrnn.data.series.read_series import read_series
from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.times import cycles_of
from kerasrnn.data.series.times import local_times
from kerasrnn.data.series.windows import series_windows
from kerasrnn.optional import import_pandas
from kerasrnn.plots import forecast_figure
from kerasrnn.plots import piano_roll_figure
from kerasrnn.serving.demo.text_tabs import add_form
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
    names = "columns", "lookback", "horizon"
    columns, lookback, horizon = (facts[name] for name in names)

    def forecast(text, chosen):
        table = series_of(facts, table_of(text))
        # If it is too short, missing values are added at the start.
        ((window, _),) = series_windows(table, lookback, horizon, batch_size=1)
        inputs = {name: values.numpy() for name, values in window.items()}
        found = model.signatures["serving_default"](**inputs)
        answer = {name: values[0] for name, values in found.items()}
        times = local_times(table.series[0].times, table.zone)
        given, warning = len(times) - horizon, ""
        if given < lookback:
            warning = (
                f"The model reads {lookback} rows, and only {given} are given. "
                "The forecast is probably worse."
            )
        # In the order of the model.
        shown = [name for name in columns if name in (chosen or columns)]
        path = new_file("forecast.csv")
        rows(facts, times, answer, columns).to_csv(path, index=False)
        yield (
            warning,
            f"{len(shown)} of {len(columns)} columns are shown.",
            picture(facts, times, inputs["past"][0], answer, shown),
            rows(facts, times, answer, shown),
            str(path),
        )

    gr.Markdown(what_to_paste(facts))
    upload = gr.UploadButton("Upload a CSV file", size="sm")
    saved = model.path.parent / "example.csv"
    text = gr.Textbox(
        saved.read_text("utf-8") if saved.exists() else "",
        label="Rows, as CSV with the names of the columns",
        lines=14,
        max_lines=14,
    )
    chosen = gr.Dropdown(
        columns,
        value=columns[:4],
        multiselect=True,
        label="Columns to show; if none is chosen, all",
    )
    outputs = [
        gr.Markdown(),
        picture_box(),
        gr.Dataframe(
            headers=["time"],
            label="Forecast and its quantiles",
            interactive=False,
        ),
        gr.DownloadButton("Download all columns as CSV"),
    ]
    inputs = [text, chosen]
    form = add_form(forecast, inputs, "Forecast", outputs, most=MAX_CHARACTERS)
    chosen.input(form.fn, inputs, form.output_components)
    upload.upload(
        lambda path: pathlib.Path(path).read_text("utf-8", "replace"),
        upload,
        text,
    )


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


def table_of(text: str) -> Any:
    """Returns a pasted table as a DataFrame of strings.

    Args:
        text: String, a header and rows, with any delimiter.

    Raises:
        ValueError: when there are no rows, or they differ in their number of
            cells.
    """
    report = Report("what you pasted")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "rows.csv")
        path.write_text(text, "utf-8")
        table = delimited_table(path, report, [])
        rows = [row for _, row in table.rows]
    if report.malformed or not rows:
        raise ValueError(
            "Each row must have as many cells as the header "
            f"({len(table.columns)}). Received: {report.first() or 'no rows'}."
        )
    return import_pandas().DataFrame(rows, columns=table.columns)


def series_of(facts: Config, table: Any) -> SeriesTable:
    """Returns the series of a table, up to the last step to forecast.

    Args:
        facts: The facts in the card of the model.
        table: DataFrame. The first column that the model does not use has the
            times.

    Raises:
        ValueError: when a column is missing or cannot be read, or there are too
            few rows to forecast.
    """
    columns, static = facts["columns"], facts.get("static", [])
    known, cycles = cycles_of(facts.get("known", []))
    named = [*columns, *known, *static]
    times = [name for name in table if name not in named]
    lacking = [name for name in named if name not in [*table]]
    if lacking or not times:
        raise ValueError(
            f"The table has no column {', '.join(lacking) or 'of times'}. It "
            f"has: {', '.join(table)}."
        )
    given = read_series(
        table,
        times[0],
        columns,
        known=known,
        static=static,
        calendar=cycles,
        step=facts["step"],
    )
    found = given.in_zone(facts.get("zone")).ahead(facts["horizon"])
    count = len(given) - found.series[0].begin
    if known and count < facts["horizon"]:
        raise ValueError(
            f"Expected: {facts['horizon']} rows with {', '.join(known)} after "
            f"the last one with {' or '.join(columns)}. Received: {count}."
        )
    return found


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
    figure = forecast_figure(
        past[:, places],
        answer["forecast"][:, places],
        names,
        quantiles=None if quantiles is None else quantiles[:, places],
        levels=() if quantiles is None else facts["levels"],
        most_columns=len(names),
        times=times[-len(past) - horizon :],
    )
    # On a narrow screen, letters would be smaller in a wide figure.
    figure.set_figwidth(4.5)
    return figure


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
    pandas, levels = import_pandas(), [""]
    values = [answer["forecast"][..., None]]
    if "quantiles" in answer:
        values.append(answer["quantiles"])
        levels += [f" {level}" for level in facts["levels"]]
    places = [facts["columns"].index(name) for name in names]
    cells = np.concatenate(values, axis=-1)[:, places]
    table = pandas.DataFrame(
        cells.reshape(len(cells), -1),
        columns=[f"{name}{level}" for name in names for level in levels],
    )
    # Five digits: of a float32, more would be shown.
    table = table.map(lambda x: float(f"{x:.5g}"))
    ahead = pandas.DatetimeIndex(times[-len(cells) :])
    table.insert(0, "time", ahead.astype(str))
    return table


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
        yield "", str(path), piano_roll_figure({"composed": roll})

    inputs = [
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
    add_form(
        compose,
        inputs,
        "Compose",
        [gr.File(label="To listen to: a MIDI file")],
        below=[picture_box("wide")],
    )
