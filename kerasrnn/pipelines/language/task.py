"""How a language model is trained, scored and shown in a run."""

import pathlib
from typing import Any

import keras

from kerasrnn.data.text_windows import text_windows
from kerasrnn.models import DynamicEvaluation
from kerasrnn.pipelines.language.text_metrics import of_tokens
from kerasrnn.pipelines.language.text_metrics import text_metrics
from kerasrnn.pipelines.task import Task
from kerasrnn.pipelines.task import wrapped
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Batches
from kerasrnn.typing import Strings

_SAMPLES, _BEGIN = 5, 3  # texts, and words of their beginnings
_LINES = 5  # that are shown of a text; the card has it whole
# In a window of dynamic evaluation: the fewer, the sooner the model learns from
# a text, and the slower it is.
_DYNAMIC_STEPS = 20


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
        scores = self.pipeline.evaluate(rows)
        if dynamic:
            scores["dynamic"] = self._dynamic_scores(rows)
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

    def _dynamic_scores(self, lines):
        ids, tokenizer = self.pipeline.ids(lines), self.pipeline.tokenizer
        dynamic = DynamicEvaluation(self.pipeline.model.with_batch_size(1))
        dynamic.compile(
            # The rate of Mikolov et al. 2010. The clipped norm bounds what
            # the model learns from one surprising window.
            keras.optimizers.SGD(0.1, global_clipnorm=0.25),
            TokenCrossentropy(-1),
            metrics=text_metrics(tokenizer),
        )
        windows = text_windows(ids, 1, _DYNAMIC_STEPS, tokenizer.end_id)
        history = dynamic.fit(windows, shuffle=False, verbose=0).history
        found = {name: values[-1] for name, values in history.items()}
        return of_tokens(found, len(ids), lines)
