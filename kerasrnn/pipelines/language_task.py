"""Training, scores and report of a language model in a run."""

import itertools
import math
import pathlib
from collections.abc import Iterable
from typing import Any

import keras

from kerasrnn.data.batches import in_parts
from kerasrnn.data.stored_rows import sample_rows
from kerasrnn.data.text_windows import text_windows
from kerasrnn.metrics import BitsPerCharacter
from kerasrnn.metrics import Perplexity
from kerasrnn.metrics import TokenAccuracy
from kerasrnn.models import DynamicEvaluation
from kerasrnn.pipelines.task import Task
from kerasrnn.pipelines.task import wrapped
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.tokenizers.invisible import visible
from kerasrnn.tokenizers.invisible import words_between_spaces
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Batches
from kerasrnn.typing import Strings


def unit_scores(total: float, texts: Iterable[str | bytes]) -> dict[str, float]:
    """Returns the word-level perplexity and the bits per byte of texts.

    Args:
        total: Float, the log-probability of the texts, in nats.
        texts: List of strings without invisible characters. Blank lines are
            ignored. Spaces between words and line breaks count.

    Returns:
        A dictionary of `"word_perplexity"`, where the end of a line counts as a
        word, and `"bits_per_byte"` (UTF-8). Both are NaN without words.

    Example:

    >>> unit_scores(-4 * math.log(2), ["a b"])
    {'word_perplexity': 2.519..., 'bits_per_byte': 1.0}
    """
    words = size = 0
    for text in texts:
        if isinstance(text, bytes):
            text = text.decode(errors="replace")
        for line in filter(None, map(words_between_spaces, text.split("\n"))):
            words += len(line) + 1
            size += len(" ".join(line).encode()) + 1
    if not words:
        return {"word_perplexity": math.nan, "bits_per_byte": math.nan}
    mean = -float(total) / words
    return {
        # Larger values overflow in float64.
        "word_perplexity": math.exp(mean) if mean < 700 else math.inf,
        "bits_per_byte": -float(total) / size / math.log(2),
    }


def text_metrics(tokenizer):
    """Returns the metrics of tokens of a tokenizer, for `compile`."""
    metrics = [Perplexity(-1), TokenAccuracy(-1)]
    if isinstance(tokenizer, CharacterTokenizer):
        metrics.append(BitsPerCharacter(-1))
    return metrics


def of_tokens(scores, count, lines):
    """Adds scores by word and byte; averages the loss over tokens.

    Keras's loss is a mean over windows.

    Args:
        scores: Dictionary of Keras's scores, with `"perplexity"`.
        count: Integer, the number of tokens.
        lines: List of strings, the text.
    """
    loss = math.log(scores["perplexity"])
    parts = (part.numpy() for part in in_parts(lines, visible))
    units = unit_scores(-loss * count, itertools.chain.from_iterable(parts))
    return {**scores, "loss": loss, **units}


_SAMPLES, _BEGIN = 5, 3  # texts, and words of their beginnings


class LanguageTask(Task):
    """The task of a `TextLanguageModel`, on TensorFlow and JAX.

    Rows are the lines of one continuous text. The best epoch is the one with
    the lowest perplexity.
    """

    monitor = "val_perplexity"
    file_name = "language"

    @property
    def tokenizers(self) -> list[Tokenizer]:
        return [self.pipeline.tokenizer]

    def sizes(self, rows: Strings) -> dict[str, int]:
        return {"lines": len(rows), "tokens": len(self.pipeline.ids(rows))}

    def texts_of(self, rows: Strings) -> list[Strings]:
        return [sample_rows(rows)]

    def row_batches(
        self,
        rows: Strings,
        batch_size: int,
        seed: int | None = None,
        **weights: Any,
    ) -> Batches:
        """Returns `batches`, with the batch size of the model and in order."""
        return self.pipeline.batches(rows, **weights)

    def row_scores(
        self, rows: Strings, dynamic: bool = False
    ) -> dict[str, Any]:
        """Returns the scores of lines as one continuous text.

        Args:
            rows: List of strings.
            dynamic: Whether to add the scores of dynamic evaluation, which
                adapts the weights, as `"dynamic"`.
        """
        scores = self.pipeline.evaluate(rows)
        if dynamic:
            ids, tokenizer = self.pipeline.ids(rows), self.pipeline.tokenizer
            model = DynamicEvaluation(self.pipeline.model.with_batch_size(1))
            model.compile(
                # The rate of Mikolov et al. 2010. Clipping limits what the
                # model learns from a surprising window.
                keras.optimizers.SGD(0.1, global_clipnorm=0.25),
                TokenCrossentropy(-1),
                metrics=text_metrics(tokenizer),
            )
            # The fewer tokens in a window, the sooner the model learns from
            # them, and the slower it is.
            windows = text_windows(ids, 1, 20, tokenizer.end_id)
            history = model.fit(windows, shuffle=False, verbose=0).history
            found = {name: values[-1] for name, values in history.items()}
            scores["dynamic"] = of_tokens(found, len(ids), rows)
        return scores

    def headline(self, scores: dict[str, Any]) -> str:
        bits = scores["bits_per_byte"]
        return (
            f"perplexity {scores['perplexity']:.1f} per token, "
            f"{bits:.3f} bits per byte"
        )

    def report(
        self, rows: Strings, folder: pathlib.Path, seed: int = 0
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Prints and returns five generated texts."""
        if keras.backend.backend() != "tensorflow":
            return {"samples": []}, {}
        samples = [
            self.pipeline.write([""], seed + i, temperature=0.8, top_k=40)[0]
            for i in range(_SAMPLES)
        ]
        print("\nGenerated texts:")
        for sample in samples:
            lines = [line for line in sample.splitlines() if line]
            # The card has the whole text.
            print("", *map(wrapped, lines[:5]), sep="\n")
        # The web page offers these prompts.
        backwards = self.pipeline.go_backwards
        given = slice(-_BEGIN, None) if backwards else slice(_BEGIN)
        some = sample_rows(rows, 2**17)
        first = dict.fromkeys(" ".join(x.split()[given]) for x in some if x)
        return {"samples": samples, "beginnings": [*first][:_SAMPLES]}, {}
