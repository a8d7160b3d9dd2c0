"""The printed report and the output files of a run."""

import pathlib
from collections.abc import Mapping
from typing import Any

import keras

from kerasrnn.pipelines.saved_model import next_version
from kerasrnn.pipelines.task import folder_above
from kerasrnn.pipelines.task import wrapped
from kerasrnn.training import without_costs
from kerasrnn.training.card import new_card
from kerasrnn.training.card import write_json
from kerasrnn.typing import History
from kerasrnn.warning import warn


def print_start(task, data, epochs, batches):
    """Prints the sizes of the data and the model before training."""
    facts = [f"{task.pipeline.model.count_params():,} parameters"]
    if sizes := [x.vocabulary_size for x in task.tokenizers]:
        vocabulary = "vocabulary" if len(sizes) == 1 else "vocabularies"
        counts = " and ".join(f"{size:,}" for size in sizes)
        facts.append(f"{vocabulary} of {counts}")
    steps = keras.ops.convert_to_numpy(batches.cardinality())
    print(
        f"Training set: {_sizes_in_words(data['train'])}.\n"
        f"Validation set: {_sizes_in_words(data['dev'])}.\n"
        f"Model: {', '.join(facts)}.\n"
        f"Epochs: {epochs:,}"
        + (f", of {_counted(steps, 'steps')} each." if steps > 0 else ".")
    )
    unit, count = next(iter(data["train"].items()))
    if count < task.few:
        print(
            f"Warning: only {_counted(count, unit)} to train on. The model "
            "will memorize them, and\nits scores depend on chance. Use "
            f"{task.few} or more."
        )
    if plan := task.plan():
        print(plan)


def _sizes_in_words(sizes: dict[str, int]) -> str:
    """Formats sizes, such as "8 pairs, 40 tokens"."""
    return ", ".join(_counted(count, name) for name, count in sizes.items())


def _counted(count: int, name: str) -> str:
    """Formats a number with a noun, such as "1 pair"."""
    is_plural = count != 1 or name == "series"
    return f"{count:,} {name if is_plural else name[:-1]}"


def write_results(
    folder: pathlib.Path,
    pipeline: Any,
    history: History,
    pictures: Mapping[str, Any],
    chosen: int | None = None,
    **facts: Any,
) -> list[str]:
    """Writes pictures, the SavedModel and finally the card.

    Args:
        folder: Path of the output folder.
        pipeline: The pipeline to export.
        history: The log of its training, to plot.
        pictures: Dictionary of name to `matplotlib.figure.Figure`.
        chosen: Integer, the epoch of its weights; `None` for averaged weights.
        **facts: Values for the card.

    Returns:
        The names of the written files, with pictures as one.
    """
    from kerasrnn.plots import save_figure
    from kerasrnn.plots import training_figure

    training = training_figure(without_costs(history), chosen)
    for name, figure in {"training": training, **pictures}.items():
        save_figure(figure, folder / f"{name}.png")
    card = new_card(history=history, **facts)
    written = ["card.json", "pictures"]
    if keras.backend.backend() == "tensorflow":
        version = next_version(folder)
        pipeline.export(version, card)
        how = " for XLA" if getattr(pipeline, "xla", None) else ""
        written = [f"the SavedModel {version.name}/{how}", *written]
    write_json(folder / "card.json", card)
    return written


def part_scores(task, parts, scoring=None):
    """Returns the scores of a task on parts of the data, by name.

    Args:
        task: The `Task` of a pipeline.
        parts: Dictionary of name to rows. Parts without rows are left out.
        scoring: Dictionary of arguments of the task's `row_scores`.
    """
    return {
        name: task.row_scores(part, **(scoring or {}))
        for name, part in parts.items()
        if part is not None and any(task.sizes(part).values())
    }


def print_end(task, scores, folder, written, before=None):
    """Prints all scores, the result in a sentence, and next steps.

    With the scores `before` fine-tuning, the result is a table.
    """
    print("\nScores:")
    for part, found in scores.items():
        inner = {k: v for k, v in found.items() if isinstance(v, dict)}
        named = {part: found} | {f"{part}, {k}": v for k, v in inner.items()}
        for name, values in named.items():
            # The card has the rest. Lines are not broken between a name and
            # its value.
            words = [
                f"{key}\N{NO-BREAK SPACE}{x:.4g}"
                for key, x in without_costs(values).items()
                if isinstance(x, int | float)
            ]
            if words:
                row = wrapped(f"{name}: {', '.join(words)}")
                print(row.replace("\N{NO-BREAK SPACE}", " "))
    *others, last = written
    files = wrapped(f"{', '.join(others)} and {last}")
    print(f"\nIn {folder}:\n{files}\n")
    if before:
        _print_comparison(task, before, scores)
    else:
        for part, found in scores.items():
            print(f"Result ({part}): {task.headline(found)}.")
    if any(name.startswith("the SavedModel") for name in written):
        print(task.how_to_try(folder))
        print(f"Serve it: kerasrnn-serve {folder_above(folder)}")
    print("Train further: the same command with more --epochs")


def _print_comparison(task, before, now):
    """Prints a table of both, and warns about much lower scores."""
    rows = [("Result", "before", "now")]
    rows += [
        (part, task.headline(before[part]), task.headline(now[part]))
        for part in now
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + 4 < 80:
        for row in rows:
            print("  ".join(map(str.ljust, row, widths)).rstrip())
    else:
        for part, *values in rows[1:]:
            print(f"Result ({part}):")
            for when, value in zip(("before", "now"), values, strict=True):
                print(wrapped(f"{when}: {value}"))
    worse = [
        part for part in now if task.is_much_worse(before[part], now[part])
    ]
    if worse:
        warn(
            f"The scores became much worse on: {', '.join(worse)}. Train on "
            "more rows like these, with a lower learning rate, or for fewer "
            "epochs.",
        )
