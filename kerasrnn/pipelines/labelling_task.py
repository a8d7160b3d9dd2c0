"""Training, scores and report of a classifier in a run."""

import heapq
import pathlib
import re
import textwrap
from typing import Any

import numpy as np

from kerasrnn.data.labelled_corpus import LabelledTexts
from kerasrnn.pipelines.label_kinds import are_above
from kerasrnn.pipelines.label_kinds import both
from kerasrnn.pipelines.task import Task
from kerasrnn.pipelines.task import confusion_counts
from kerasrnn.pipelines.task import wrapped
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.typing import Batches
from kerasrnn.typing import Strings

_SAMPLES = 10  # texts to print
_DOUBTFUL = 0.05  # labels with a lower probability may be wrong
_LINE_BREAK = re.compile(r"\s*(?:<br\s*/?>\s*)+", re.IGNORECASE)


class LabellingTask(Task):
    """The task of a `TextLabeller`.

    Rows are `LabelledTexts` whose labels are numbers. The best epoch is the one
    with the lowest loss. See `MultiLabelTask` for multi-label texts.
    """

    file_name = "labeller"
    speed_unit = "words"

    @property
    def tokenizers(self) -> list[Tokenizer]:
        return [self.pipeline.tokenizer]

    def sizes(self, rows: LabelledTexts) -> dict[str, int]:
        """Returns the numbers of texts and of words that are read."""
        words = sum(
            len(text.split()[: self.pipeline.max_length]) for text in rows.texts
        )
        return {"texts": len(rows.texts), "words": words}

    def texts_of(self, rows: LabelledTexts) -> list[Strings]:
        return [rows.texts]

    def row_batches(
        self,
        rows: LabelledTexts,
        batch_size: int,
        seed: int | None = None,
        **weights: Any,
    ) -> Batches:
        texts, labels = self.named(rows)
        return self.pipeline.batches(texts, labels, batch_size, seed, **weights)

    def row_scores(self, rows: LabelledTexts) -> dict[str, Any]:
        return self.pipeline.evaluate(*self.named(rows))

    def calibrate(self, rows: LabelledTexts) -> float:
        """Calibrates the labeller on rows; see `TextLabeller.calibrate`."""
        return self.pipeline.calibrate(*self.named(rows))

    def headline(self, scores: dict[str, Any]) -> str:
        return (
            f"accuracy {100 * scores['accuracy']:.1f} %, "
            f"macro F1 {100 * scores['macro_f1']:.1f}"
        )

    def report(
        self, rows: LabelledTexts, folder: pathlib.Path
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Prints texts with labels, and draws errors and words.

        Returns:
            Facts: the `"temperature"`, `"samples"`, the `"doubtful"` texts,
                whose true label is least probable for the model, and the
                `"gradient_norms"` of the longest text. Pictures: `"confusion"`,
                `"reliability"`, `"hidden_states"`, `"words"` and `"word_map"`.
        """
        from kerasrnn.plots import reliability_figure

        labeller, longest = self.pipeline, max(rows.texts, key=len)
        true = np.asarray(labeller.numbers(self.named(rows)[1]))
        true = true.round().astype(int)
        found = both(labeller.probabilities(rows.texts))
        facts = {
            "temperature": labeller.temperature,
            "samples": self._samples(rows.texts, true, found),
            "doubtful": self._doubtful(rows.texts, true, found),
            "gradient_norms": labeller.gradient_norms(longest).tolist(),
        }
        options, chosen = labeller.kind.decisions(true, found)
        pictures = {
            **self.error_pictures(true, found),
            "reliability": reliability_figure(
                options.max(axis=1), options.argmax(axis=1) == chosen
            ),
        }
        words = self._word_pictures(rows.texts, true, found)
        return facts, {**pictures, **words}

    def labels_in_words(
        self, true: np.ndarray, found: np.ndarray
    ) -> tuple[Strings, Strings]:
        """Returns the true and predicted labels of each text, to print.

        Args:
            true: Integer array of shape `(texts,)`, the true labels.
            found: Array of shape `(texts, labels)`, the predicted
                probabilities.
        """
        names = self.pipeline.labels
        best = found.argmax(axis=1)
        return [names[i] for i in true], [names[i] for i in best]

    def of_truth(
        self, true: np.ndarray, found: np.ndarray
    ) -> list[tuple[float, int, str]]:
        """Returns the probability of each true label, with text and name.

        The arguments are those of `labels_in_words`.
        """
        names = self.pipeline.labels
        return [
            (float(row[label]), index, names[label])
            for index, (label, row) in enumerate(zip(true, found, strict=True))
        ]

    def error_pictures(
        self, true: np.ndarray, found: np.ndarray
    ) -> dict[str, Any]:
        """Returns pictures of the errors, by name.

        The arguments are those of `labels_in_words`.
        """
        from kerasrnn.plots import matrix_figure

        names = self.pipeline.labels
        counts = confusion_counts(true, found.argmax(axis=1), len(names))
        figure = matrix_figure(counts, names, names, "true", "predicted")
        return {"confusion": figure}

    def named(self, rows: LabelledTexts) -> tuple[Strings, list[Any]]:
        """Returns texts, and their labels by name instead of number.

        A label's number might be the name of another label.
        """
        names = self.pipeline.labels
        return rows.texts, [
            names[int(label)] if label in range(len(names)) else label
            for label in rows.labels
        ]

    def _samples(self, texts, true, found):
        """Prints and returns the first texts with true and predicted labels."""
        first = slice(_SAMPLES)
        labels = self.labels_in_words(true[first], found[first])
        shown = [self._legible(text) for text in texts[first]]
        samples = list(zip(shown, *labels, strict=True))
        print("\nHeld-out texts, with the true and the predicted label:")
        for text, label, other in samples:
            print(f"\n{wrapped(_short(text))}")
            print(f"  true: {label}; predicted: {other}")
        return samples

    def _doubtful(self, texts, true, found):
        """Prints and returns the texts with the least probable true labels."""
        least = heapq.nsmallest(_SAMPLES, self.of_truth(true, found))
        doubtful = [
            (self._legible(texts[index]), name, probability)
            for probability, index, name in least
            if probability < _DOUBTFUL
        ]
        if doubtful:
            print("\nHeld-out texts whose label may be wrong:")
        for text, label, probability in doubtful:
            print(f"\n{wrapped(_short(text))}\n  {label} ({probability:.3f})")
        return doubtful

    def _legible(self, text):
        """Replaces line break tags by line breaks, if tags are not read."""
        stripped = getattr(self.pipeline.tokenizer, "strip_html", False)
        return _LINE_BREAK.sub("\n", text) if stripped else text

    def _word_pictures(self, texts, true, found):
        """Draws the hidden states and the word weights of two texts."""
        from kerasrnn.plots import hidden_state_figure
        from kerasrnn.plots import word_map_figure
        from kerasrnn.plots import word_weight_figure

        words, states = self.pipeline.hidden_states(_of_length(80, texts))
        words, states = words[:30], states[:30]
        text = _of_length(600, texts)
        here = [texts.index(text)]
        (label,), (other,) = self.labels_in_words(true[here], found[here])
        best = self.pipeline.labels[found[here[0]].argmax()]
        explained, weights = self.pipeline.explain(text, best)
        pictures = {
            "hidden_states": hidden_state_figure(states, words),
            "words": word_weight_figure(
                weights[:200],
                explained[:200],
                f"true: {label}; predicted: {other}; blue supports {best!r}",
            ),
        }
        if len(words) >= 4:  # enough for a map
            pictures["word_map"] = word_map_figure(states, words)
        return pictures


def _short(text):
    return textwrap.shorten(text, 200, placeholder=" ...")


def _of_length(size, texts):
    """Returns the text whose number of characters is closest to `size`."""
    return min(texts, key=lambda text: abs(len(text) - size))


_SCORES = ("precision", "recall", "f1")


class MultiLabelTask(LabellingTask):
    """The task of a `TextLabeller` with `multi_label`.

    Rows are `LabelledTexts` whose labels are tuples of numbers. The best epoch
    is the one with the lowest loss.
    """

    def named(self, rows: LabelledTexts) -> tuple[Strings, list[Any]]:
        names = self.pipeline.labels
        return rows.texts, [
            [names[n] for n in of_text] for of_text in rows.labels
        ]

    def tune_thresholds(self, rows: LabelledTexts) -> dict[str, float]:
        """Tunes thresholds on rows; see `TextLabeller.tune_thresholds`."""
        found = self.pipeline.tune_thresholds(*self.named(rows))
        print(
            "The thresholds were tuned on the held-out texts, so the F1 on "
            "these texts is optimistic."
        )
        return found

    def headline(self, scores: dict[str, Any]) -> str:
        return (
            f"micro F1 {100 * scores['micro_f1']:.1f}, macro F1 "
            f"{100 * scores['macro_f1']:.1f}, subset accuracy "
            f"{100 * scores['subset_accuracy']:.1f} %"
        )

    def report(
        self, rows: LabelledTexts, folder: pathlib.Path
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Prints texts with labels, and draws scores and words.

        Returns:
            As in `LabellingTask.report`, with `"thresholds"` among the facts,
            and with a picture of the scores `"by_label"` instead of
            `"confusion"`.
        """
        facts, pictures = super().report(rows, folder)
        thresholds = self.pipeline.served_facts()["thresholds"]
        return {"thresholds": thresholds, **facts}, pictures

    def labels_in_words(
        self, true: np.ndarray, found: np.ndarray
    ) -> tuple[Strings, Strings]:
        names = np.array(self.pipeline.labels, object)

        def joined(rows):
            return [", ".join(names[row]) or "(no label)" for row in rows]

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
