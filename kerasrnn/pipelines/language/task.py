"""How a language model is trained, scored and shown in a run."""

import math
import pathlib
from typing import Any

import keras

from kerasrnn.data.text.text_windows import text_windows
from kerasrnn.metrics import BitsPerCharacter
from kerasrnn.metrics import Perplexity
from kerasrnn.metrics import TokenAccuracy
from kerasrnn.models import DynamicEvaluation
from kerasrnn.pipelines.language.unit_scores import unit_scores
from kerasrnn.pipelines.task import Task
from kerasrnn.pipelines.task import wrapped
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Batches
from kerasrnn.typing import Strings

_SAMPLES, _BEGIN = 5, 3  # texts, and words of their beginnings
_LINES = 5  # that are shown of a text; the card has it whole
_STEPS = 512  # in a window of static evaluation
_DYNAMIC_STEPS = 20  # in a window of dynamic evaluation


class LanguageTask(Task):
    """The task of a `TextLanguageModel`, on TensorFlow and on JAX.

    Rows are lines, one continuous text. The best epoch is that of the lowest
    perplexity.
    """

    monitor = "val_perplexity"
    file_name = "language"

    @property
    def tokenizers(self) -> list[Tokenizer]:
        return [self.pipeline.tokenizer]

    def sizes(self, rows: Strings) -> dict[str, int]:
        return {"lines": len(rows), "tokens": len(self.pipeline.ids(rows))}

    def texts_of(self, rows: Strings) -> list[Strings]:
        return [rows]

    def row_batches(
        self, rows: Strings, batch_size: int, seed: int | None = None
    ) -> Batches:
        """Returns `batches`; their size is the model's, and order is kept."""
        return self.pipeline.batches(rows)

    def row_scores(
        self, rows: Strings, dynamic: bool = False
    ) -> dict[str, Any]:
        """Returns the scores of lines as one continuous text.

        Args:
            rows: List of strings.
            dynamic: Whether to add those of dynamic evaluation, which adapts
                the weights, as `"dynamic"`.
        """
        ids = self.pipeline.ids(rows)
        scores = self._static_scores(ids, rows)
        if dynamic:
            scores["dynamic"] = self._dynamic_scores(ids, rows)
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
        """Prints and returns five texts that the model generates."""
        if keras.backend.backend() != "tensorflow":
            return {"samples": []}, {}
        samples = [
            self.pipeline.write([""], seed + i, temperature=0.8, top_k=40)[0]
            for i in range(_SAMPLES)
        ]
        print("\nTexts that the model writes:")
        for sample in samples:
            lines = [line for line in sample.splitlines() if line]
            print("", *map(wrapped, lines[:_LINES]), sep="\n")
        # The page offers what a text is to be written after, or before.
        backwards = self.pipeline.go_backwards
        given = slice(-_BEGIN, None) if backwards else slice(_BEGIN)
        first = dict.fromkeys(" ".join(x.split()[given]) for x in rows if x)
        return {"samples": samples, "beginnings": [*first][:_SAMPLES]}, {}

    def _static_scores(self, ids, lines):
        clock, single = Stopwatch(), self.pipeline.model.with_batch_size(1)
        single.compile(loss=TokenCrossentropy(-1), metrics=self._metrics())
        windows = text_windows(ids, 1, _STEPS, self.pipeline.tokenizer.end_id)
        found = single.evaluate(windows, return_dict=True, verbose=0)
        found = _of_tokens(found, len(ids), lines)
        return {**found, "tokens": len(ids), **clock.read()}

    def _dynamic_scores(self, ids, lines):
        dynamic = DynamicEvaluation(self.pipeline.model.with_batch_size(1))
        dynamic.compile(
            keras.optimizers.SGD(0.1, global_clipnorm=0.25),
            TokenCrossentropy(-1),
            metrics=self._metrics(),
        )
        windows = text_windows(
            ids, 1, _DYNAMIC_STEPS, self.pipeline.tokenizer.end_id
        )
        history = dynamic.fit(windows, shuffle=False, verbose=0).history
        found = {name: values[-1] for name, values in history.items()}
        return _of_tokens(found, len(ids), lines)

    def _metrics(self):
        metrics = [Perplexity(-1), TokenAccuracy(-1)]
        if isinstance(self.pipeline.tokenizer, CharacterTokenizer):
            metrics.append(BitsPerCharacter(-1))
        return metrics


def _of_tokens(scores, count, lines):
    """Scores by word and byte, and the loss as a mean over tokens.

    That of Keras is a mean over windows.
    """
    loss = math.log(scores["perplexity"])
    return {**scores, "loss": loss, **unit_scores(-loss * count, lines)}
