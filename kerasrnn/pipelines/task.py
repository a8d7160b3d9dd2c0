"""The interface between runs and pipelines."""

import abc
import pathlib
import textwrap
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import Literal

import keras
import numpy as np

from kerasrnn.tokenizers import Tokenizer
from kerasrnn.typing import Batches


class Task(abc.ABC):
    """Tells a `Run` how to train, score and report a pipeline.

    `task()` of a pipeline returns it. Rows are the examples of the task: pairs
    of strings, `LabelledTexts`, tagged sentences, lines, piano rolls or a
    `SeriesTable`.

    Args:
        pipeline: The pipeline.

    Attributes:
        monitor: String, the logged value that determines the best epoch.
        mode: `"min"` or `"max"`, whether the lowest or the highest is best.
        file_name: String, the name of its `.keras` file.
        speed_unit: String, the entry of `sizes` that is the unit of the logged
            speed.
        few: Integer. A run warns if the first entry of `sizes` is smaller.
    """

    monitor: str = "val_loss"
    mode: Literal["min", "max"] = "min"
    file_name = "pipeline"
    speed_unit = "tokens"
    few = 100

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline

    @property
    def tokenizers(self) -> list[Tokenizer]:
        """The tokenizers whose ids the model uses."""
        return []

    @abc.abstractmethod
    def sizes(self, rows: Any) -> dict[str, int]:
        """Returns the sizes of rows by unit, such as `"pairs"`."""

    def plan(self) -> str:
        """Returns further lines to print before training, or `""`."""
        return ""

    def texts_of(self, rows: Any) -> Sequence[Iterable[str]]:
        """Returns the texts in rows, a list for each of the `tokenizers`."""
        return []

    def row_batches(
        self,
        rows: Any,
        batch_size: int,
        seed: int | None = None,
        **weights: Any,
    ) -> Batches:
        """Returns batches of rows; without a seed, always the same.

        Args:
            rows: Examples.
            batch_size: Positive integer.
            seed: Integer, the seed of the shuffling; `None` for no shuffling.
            **weights: Other arguments of `batches`, such as `class_weight`.
        """
        return self.pipeline.batches(rows, batch_size, seed=seed, **weights)

    def epoch_scores(self, rows: Any) -> list[keras.callbacks.Callback]:
        """Returns callbacks that score rows after every epoch."""
        return []

    def row_scores(
        self, rows: Any, *args: Any, **options: Any
    ) -> dict[str, Any]:
        """Returns the scores of the trained pipeline on rows, for a card.

        By default it calls `evaluate` with the options.
        """
        return self.pipeline.evaluate(rows, *args, **options)

    @abc.abstractmethod
    def headline(self, scores: dict[str, Any]) -> str:
        """Returns the most important of the `row_scores` in words."""

    def is_much_worse(
        self, before: dict[str, Any], now: dict[str, Any]
    ) -> bool:
        """Returns whether fine-tuning made scores much worse.

        The default is false.

        Args:
            before: The `row_scores` of the pipeline that the run started from.
            now: The `row_scores` of the trained pipeline.
        """
        return False

    def report(
        self, rows: Any, folder: pathlib.Path
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Prints samples, draws pictures, and may write files.

        Tasks may have further arguments, such as a seed.

        Args:
            rows: The validation examples.
            folder: Path of the output folder.

        Returns:
            A tuple of two dictionaries: facts for a card, and pictures by
            name, each a `matplotlib.figure.Figure`.
        """
        return {}, {}

    def how_to_try(self, folder: pathlib.Path) -> str:
        """Returns lines on how to try the results of a run."""
        return f"Try it in a browser: kerasrnn-demo {folder_above(folder)}"


def folder_above(folder: pathlib.Path) -> pathlib.Path:
    """Returns the parent of a folder, even for `Path(".")`."""
    return folder.parent if folder.name else folder.resolve().parent


def wrapped(text: str) -> str:
    """Wraps a text to indented lines that fit a terminal."""
    return textwrap.fill(
        text,
        width=79,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )


def confusion_counts(true, found, size):
    """Counts pairs of true and predicted labels.

    Args:
        true: Sequence of integers from 0 to `size - 1`, the true labels.
        found: Sequence of the same length, the predicted labels.
        size: Positive integer, the number of labels.

    Returns:
        Integer array of shape `(size, size)`; rows are true labels.

    Example:

    >>> confusion_counts([0, 0, 1], [0, 1, 1], 2)
    array([[1, 1],
           [0, 1]])
    """
    counts = np.zeros((size, size), int)
    np.add.at(counts, (true, found), 1)
    return counts
