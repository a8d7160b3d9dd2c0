"""Training, scores and report of a tagger in a run."""

import pathlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from kerasrnn.arguments import is_string
from kerasrnn.arguments import is_text
from kerasrnn.data.tagged_words import convert_tags
from kerasrnn.pipelines.task import Task
from kerasrnn.pipelines.task import confusion_counts
from kerasrnn.pipelines.task import wrapped
from kerasrnn.pipelines.texts import text_list
from kerasrnn.tag_schemes import parsed_tag
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import TextScores
from kerasrnn.typing import Strings

Sentences = Sequence[Sequence[tuple[str, str]]]
"""Sentences of words with tags."""


def columns_of(sentences, scheme):
    """Returns words and tags of sentences, with tags in a scheme.

    Raises:
        ValueError: when there are no sentences, one is empty or not a list of
            words and tags, or a tag belongs to no scheme.
    """
    # Strings, dictionaries and tables are also iterable.
    whole = isinstance(sentences, str | dict) or hasattr(sentences, "columns")
    for sentence in [sentences] if whole else sentences:
        if not _is_sentence(sentence):
            raise ValueError(
                "A sentence must be a list of words with tags, such as "
                '[("Anna", "B-PER"), ("sings", "O")]; `read_tagged_words` of '
                "`kerasrnn.data` returns a list of such sentences. "
                f"Received: {sentence!r:.80}"
            )
    if not len(sentences) or not all(map(len, sentences)):
        raise ValueError(
            "There must be at least one sentence, and none may be empty. "
            f"Received: {len(sentences)} sentences, "
            f"{sum(not len(x) for x in sentences)} of them empty"
        )
    words, tags = zip(
        *(zip(*sentence, strict=True) for sentence in sentences), strict=True
    )
    if scheme is not None:
        tags = [convert_tags(sentence, scheme) for sentence in tags]
    return list(map(text_list, words)), list(map(list, tags))


def _is_sentence(sentence):
    """Whether it is a list of `(word, tag)`, not a pair of lists."""
    pairs = list | tuple if isinstance(sentence, list) else tuple
    return isinstance(sentence, list | tuple) and all(
        isinstance(pair, pairs)
        and len(pair) == 2
        and is_string(pair[0])
        and is_text(pair[1])
        for pair in sentence
    )


_SHOWN = 5  # sentences to print


class TaggingTask(Task):
    """The task of a `TextTagger`.

    Rows are sentences, lists of `(word, tag)`. The best epoch is the one with
    the highest span F1 (or accuracy, without phrases) on the first 2,000
    sentences.
    """

    mode = "max"
    file_name = "tagger"
    speed_unit = "words"

    def __init__(self, pipeline: Any) -> None:
        super().__init__(pipeline)
        self.monitor = "val_accuracy" if pipeline.scheme is None else "val_f1"

    @property
    def tokenizers(self) -> list[Tokenizer]:
        """The tokenizers of words and, if used, of characters."""
        if self.pipeline.characters is None:
            return [self.pipeline.words]
        return [self.pipeline.words, self.pipeline.characters]

    def sizes(self, rows: Sentences) -> dict[str, int]:
        return {"sentences": len(rows), "words": sum(map(len, rows))}

    def texts_of(self, rows: Sentences) -> list[Strings]:
        words = [word for sentence in rows for word, _ in sentence]
        return [words] * len(self.tokenizers)

    def epoch_scores(self, rows: Sentences) -> list[keras.callbacks.Callback]:
        words, tags = columns_of(rows[:2000], self.pipeline.scheme)
        return [
            TextScores(
                self.pipeline.tagger_of(words),
                words,
                tags,
                self.pipeline.scores,
            )
        ]

    def headline(self, scores: dict[str, Any]) -> str:
        accuracy = f"tag accuracy {100 * scores['accuracy']:.1f} %"
        if "f1" not in scores:
            return accuracy
        return f"span F1 {100 * scores['f1']:.1f}, {accuracy}"

    def report(
        self, rows: Sentences, folder: pathlib.Path
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Prints the sentences with the most errors, and draws errors.

        Returns:
            Facts: the `"worst"` sentences, and `"samples"` for the web page.
                Pictures: `"confusions"` of true and predicted tags without
                prefixes, and the `"transitions"` of a `CRF`.
        """
        from kerasrnn.plots import matrix_figure

        words, true = columns_of(rows, self.pipeline.scheme)
        found = self.pipeline.tag_tokens(words)
        tags, crf = self.pipeline.tags, self.pipeline.model.crf
        # The type of a tag, or a tag outside of phrases.
        kinds = {
            tag: (self.pipeline.scheme and parsed_tag(tag)[1]) or tag
            for tag in tags
        }
        names = list(dict.fromkeys(kinds.values()))
        expected, given = (
            [names.index(kinds[tag]) for sentence in part for tag in sentence]
            for part in (true, found)
        )
        counts = confusion_counts(expected, given, len(names))
        titles = "true tag", "predicted tag", "Tags of words"
        pictures = {"confusions": matrix_figure(counts, names, names, *titles)}
        if crf is not None:
            weights = crf.transitions.numpy()
            if crf.allowed is not None:  # forbidden ones are grey
                weights = np.where(crf.allowed[0], weights, np.nan)
            title = "Weights of transitions between tags"
            pictures["transitions"] = matrix_figure(
                weights, tags, tags, "tag", "next tag", title
            )
        samples = [" ".join(sentence) for sentence in words[:_SHOWN]]
        worst = _print_worst(words, true, found)
        return {"worst": worst, "samples": samples}, pictures


def _print_worst(words, true, found):
    """Prints and returns the sentences with the most wrong tags.

    Args:
        words, true, found: Lists of lists of strings.
    """
    wrong = [
        sum(a != b for a, b in zip(*tags, strict=True))
        for tags in zip(true, found, strict=True)
    ]
    worst = sorted(range(len(words)), key=lambda n: -wrong[n])[:_SHOWN]
    if worst := [n for n in worst if wrong[n]]:
        print("\nSentences with the most wrong tags (word/true/predicted):")
    for n in worst:
        triples = zip(words[n], true[n], found[n], strict=True)
        shown = (w if a == b else f"{w}/{a}/{b}" for w, a, b in triples)
        print(f"\n{wrapped(' '.join(shown))}")
    return [
        {"words": words[n], "true": true[n], "found": found[n]} for n in worst
    ]
