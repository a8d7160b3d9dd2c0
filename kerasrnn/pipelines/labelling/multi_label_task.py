"""How a classifier of several labels a text is scored and shown in a run."""

import pathlib
from typing import Any

import numpy as np

from kerasrnn.data.labelled_corpus import LabelledTexts
from kerasrnn.pipelines.labelling.task import LabellingTask
from kerasrnn.pipelines.labelling.thresholds import are_above
from kerasrnn.typing import Strings

_SCORES = ("precision", "recall", "f1")
_NONE = "(no label)"


class MultiLabelTask(LabellingTask):
    """The task of a `TextLabeller` with `multi_label`.

    Rows are `LabelledTexts`, whose labels are tuples of numbers. The best epoch
    is that of the lowest loss.
    """

    def named(self, rows: LabelledTexts) -> tuple[Strings, list[Any]]:
        names = self.pipeline.labels
        return rows.texts, [
            [names[n] for n in of_text] for of_text in rows.labels
        ]

    def tune_thresholds(self, rows: LabelledTexts) -> dict[str, float]:
        """Tunes thresholds on rows, see `TextLabeller.tune_thresholds`."""
        found = self.pipeline.tune_thresholds(*self.named(rows))
        print(
            "The thresholds are tuned on the held-out texts, so that the F1 on "
            "these is too high; on other texts it is not."
        )
        return found

    def headline(self, scores: dict[str, Any]) -> str:
        return (
            f"micro F1 {100 * scores['micro_f1']:.1f}, macro "
            f"{100 * scores['macro_f1']:.1f}, all labels right in "
            f"{100 * scores['subset_accuracy']:.1f} % of texts"
        )

    def report(
        self, rows: LabelledTexts, folder: pathlib.Path
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Prints texts and their labels, and draws scores and words.

        Returns:
            What `LabellingTask.report` does; among the facts the
            `"thresholds"`, and instead of the picture `"confusion"` one of
            the scores `"by_label"`.
        """
        facts, pictures = super().report(rows, folder)
        thresholds = self.pipeline.served_facts()["thresholds"]
        return {"thresholds": thresholds, **facts}, pictures

    def labels_in_words(
        self, true: np.ndarray, found: np.ndarray
    ) -> tuple[Strings, Strings]:
        names = np.array(self.pipeline.labels, object)

        def joined(rows):
            return [", ".join(names[row]) or _NONE for row in rows]

        above = are_above(found, self.pipeline.thresholds)
        return joined(true > 0), joined(above)

    def of_truth(
        self, true: np.ndarray, found: np.ndarray
    ) -> list[tuple[float, int, str]]:
        of_true = np.where(true, found, 1 - found)
        names = self.pipeline.labels
        return [
            (
                float(of_true[index, n]),
                index,
                names[n] if has else f"not {names[n]}",
            )
            for (index, n), has in np.ndenumerate(true)
        ]

    def error_pictures(
        self, true: np.ndarray, found: np.ndarray
    ) -> dict[str, Any]:
        from kerasrnn.plots import matrix_figure

        by_label = self.pipeline.kind.scores(true, found)["by_label"]
        values = [[row[name] for name in _SCORES] for row in by_label.values()]
        figure = matrix_figure(
            values, list(by_label), _SCORES, "label", "score"
        )
        return {"by_label": figure}
