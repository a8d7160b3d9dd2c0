"""What a run asks of a pipeline: how it is trained, scored and shown."""

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
    """The task of a pipeline, as `Run` sees it.

    A pipeline returns it from `task()`. Rows are examples in the form that the
    task has: pairs of strings, `LabelledTexts`, tagged sentences, lines, piano
    rolls, a `SeriesTable`.

    Args:
        pipeline: The pipeline.

    Attributes:
        monitor: String, the logged value that decides which epoch is best.
        mode: `"min"` or `"max"`, whether the lowest or the highest is best.
        file_name: String, the name of its `.keras` file.
        speed_unit: String, the entry of `sizes` in which speed is logged.
        few: Integer. A run warns of fewer rows than this, by the first entry of
            `sizes`.
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
        """The tokenizers whose ids the weights stand for."""
        return []

    @abc.abstractmethod
    def sizes(self, rows: Any) -> dict[str, int]:
        """Returns how much some rows are, by unit, such as `"pairs"`."""

    def plan(self) -> str:
        """Returns what else to print before a training, in lines, or `""`."""
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
        """Returns batches of rows; without a seed, the same each time.

        Args:
            rows: Examples.
            batch_size: Positive integer.
            seed: Integer, the seed of the shuffling; `None` for none.
            **weights: More arguments of `batches`, such as `class_weight`.
        """
        return self.pipeline.batches(rows, batch_size, seed=seed, **weights)

    def epoch_scores(self, rows: Any) -> list[keras.callbacks.Callback]:
        """Returns callbacks that score it on rows after every epoch."""
        return []

    def row_scores(
        self, rows: Any, *args: Any, **options: Any
    ) -> dict[str, Any]:
        """Returns the scores of the trained pipeline on rows, for a card.

        By default those of its `evaluate`, which takes the options.
        """
        return self.pipeline.evaluate(rows, *args, **options)

    @abc.abstractmethod
    def headline(self, scores: dict[str, Any]) -> str:
        """Returns the most important of its `row_scores`, in words."""

    def is_much_worse(
        self, before: dict[str, Any], now: dict[str, Any]
    ) -> bool:
        """Returns whether scores became much worse by fine-tuning.

        By default they never do.

        Args:
            before: The `row_scores` of the pipeline that the run started from.
            now: Those of the trained one.
        """
        return False

    def report(
        self, rows: Any, folder: pathlib.Path
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Prints samples, draws pictures, and may write files.

        A task may have more arguments, such as a seed.

        Args:
            rows: Examples to validate on.
            folder: Path of the output folder.

        Returns:
            A tuple of two dictionaries: facts for a card, and pictures by
            name, each a `matplotlib.figure.Figure`.
        """
        return {}, {}

    def how_to_try(self, folder: pathlib.Path) -> str:
        """Returns how to try what a run has left in a folder, in lines."""
        return f"Try it in a browser: kerasrnn-demo {folder_above(folder)}"


def folder_above(folder: pathlib.Path) -> pathlib.Path:
    """Returns the folder that a folder is in, also for `Path(".")`."""
    return folder.parent if folder.name else folder.resolve().parent


def wrapped(text: str) -> str:
    """Returns a text as indented lines that fit a terminal."""
    return textwrap.fill(
        text,
        width=79,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )


def confusion_counts(true, found, size):
    """Counts pairs of a true and a predicted label.

    Args:
        true: Sequence of integers from 0 to `size - 1`, the true labels.
        found: Sequence of as many, the predicted labels.
        size: Positive integer, the number of labels.

    Returns:
        Integer array of shape `(size, size)`, a row for each true label.

    Example:

    >>> confusion_counts([0, 0, 1], [0, 1, 1], 2)
    array([[1, 1],
           [0, 1]])
    """
    counts = np.zeros((size, size), int)
    np.add.at(counts, (true, found), 1)
    return counts
