"""The run of a recipe that trains a language model."""

import math
from collections.abc import Mapping
from typing import Any

import keras

from kerasrnn.data import TextCorpus
from kerasrnn.data import length_table
from kerasrnn.data import text_windows
from kerasrnn.data import warn_of_unseen
from kerasrnn.metrics import BitsPerCharacter
from kerasrnn.metrics import Perplexity
from kerasrnn.metrics import TokenAccuracy
from kerasrnn.models import DynamicEvaluation
from kerasrnn.models import in_float32
from kerasrnn.pipelines.run import Run
from kerasrnn.pipelines.text_language_model import TextLanguageModel
from kerasrnn.pipelines.unit_scores import unit_scores
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.training import TokenCrossentropy
from kerasrnn.training import TrainingSpeed
from kerasrnn.typing import Batches

_STEPS = 512  # in a window of static evaluation
_DYNAMIC_STEPS = 20  # in a window of dynamic evaluation


class LanguageRun(Run):
    """The run of a recipe that trains a `TextLanguageModel`.

    See `Run`. A language model also trains on JAX, where no SavedModel is
    written.

    Args:
        settings: `kerasrnn.training.Settings` with a field `dynamic`, whether
            to report dynamic evaluation too.

    Example:

    >>> with LanguageRun(settings) as run:
    ...     language = build_language()
    ...     batches = language.batches(corpus.train)
    ...     loss, metrics = TokenCrossentropy(-1), [Perplexity(-1)]
    ...     language.compile("adam", loss, metrics=metrics)
    ...     run.fit(language, batches, corpus)
    ...     run.finish(language, corpus)
    """

    backends = ("tensorflow", "jax")

    def fit(
        self, language: TextLanguageModel, batches: Batches, corpus: TextCorpus
    ) -> None:
        """Trains a compiled model; the best epoch has the lowest perplexity.

        If the optimizer keeps an exponential moving average of the weights
        (`use_ema`), the average is validated and saved.

        Args:
            language: A `TextLanguageModel` compiled with the metric
                `Perplexity`.
            batches: The windows of `corpus.train`.
            corpus: `kerasrnn.data.TextCorpus`.
        """
        for name, lines in corpus._asdict().items():
            if lines:
                warn_of_unseen(lines, language.tokenizer, name)
        callbacks = [TrainingSpeed(len(language.ids(corpus.train)))]
        if language.model.optimizer.use_ema:
            callbacks.append(keras.callbacks.SwapEMAWeights(swap_on_epoch=True))
        self.history = super().fit(
            language.model,
            batches.prefetch(2),
            language.batches(corpus.validation),
            "val_perplexity",
            callbacks=callbacks,
            data=[corpus.train, corpus.validation],
            tokenizers=[language.tokenizer],
        )

    def finish(
        self,
        language: TextLanguageModel,
        corpus: TextCorpus,
        pictures: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Evaluates a trained model and saves it in float32.

        Each part of the corpus is scored as one continuous text.

        Args:
            language: The trained `TextLanguageModel`.
            corpus: `kerasrnn.data.TextCorpus`, whose validation and test
                parts are scored.
            pictures: Dictionary of name to figure, of more pictures to save.
            **facts: More values for the card.
        """
        language = self.save(in_float32(language), "language")
        scores = {}
        for name in ("validation", "test"):
            lines = getattr(corpus, name)
            if lines:
                ids = language.ids(lines)
                scores[name] = _score(language, ids, lines)
                if self.settings.dynamic:
                    scores[f"{name}, dynamic"] = _score_dynamically(
                        language, ids, lines
                    )
        super().finish(
            language,
            self.history,
            pictures,
            scores=scores,
            lengths=length_table(corpus),
            samples=self._samples(language),
            **facts,
        )

    def _samples(self, language):
        """Prints and returns a few texts that the model generates."""
        if keras.backend.backend() != "tensorflow":
            return []
        seed = self.settings.seed
        samples = [
            language.write([""], seed + i, temperature=0.8, top_k=40)[0]
            for i in range(5)
        ]
        print(*samples, sep="\n\n")
        return samples


def _score(language, ids, lines):
    """Scores a text by static evaluation, with fixed weights."""
    clock, single = Stopwatch(), language.model.with_batch_size(1)
    single.compile(loss=TokenCrossentropy(-1), metrics=_metrics(language))
    windows = text_windows(ids, 1, _STEPS, language.tokenizer.end_id)
    found = single.evaluate(windows, return_dict=True, verbose=0)
    found = _of_tokens(found, len(ids), lines)
    return {**found, "tokens": len(ids), **clock.read()}


def _score_dynamically(language, ids, lines):
    """Scores a text by dynamic evaluation, which adapts the weights."""
    dynamic = DynamicEvaluation(language.model.with_batch_size(1))
    dynamic.compile(
        keras.optimizers.SGD(0.1, global_clipnorm=0.25),
        TokenCrossentropy(-1),
        metrics=_metrics(language),
    )
    windows = text_windows(ids, 1, _DYNAMIC_STEPS, language.tokenizer.end_id)
    history = dynamic.fit(windows, shuffle=False, verbose=0).history
    found = {name: values[-1] for name, values in history.items()}
    return _of_tokens(found, len(ids), lines)


def _of_tokens(scores, count, lines):
    """Scores by word and byte, and the loss as a mean over tokens.

    That of Keras is a mean over windows.
    """
    loss = math.log(scores["perplexity"])
    return {**scores, "loss": loss, **unit_scores(-loss * count, lines)}


def _metrics(language):
    metrics = [Perplexity(-1), TokenAccuracy(-1)]
    if isinstance(language.tokenizer, CharacterTokenizer):
        metrics.append(BitsPerCharacter(-1))
    return metrics
