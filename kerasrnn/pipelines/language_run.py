"""The run of a recipe that models a language."""

import math

import keras

from kerasrnn.data import length_table
from kerasrnn.data import text_windows
from kerasrnn.data import warn_of_unseen
from kerasrnn.metrics import BitsPerCharacter
from kerasrnn.metrics import Perplexity
from kerasrnn.metrics import TokenAccuracy
from kerasrnn.models import DynamicEvaluation
from kerasrnn.models import in_float32
from kerasrnn.pipelines.run import Run
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.training import TokenCrossentropy
from kerasrnn.training import TrainingSpeed

_STEPS = 512  # of a window, where nothing is learnt
_DYNAMIC_STEPS = 20


class LanguageRun(Run):
    """The run of a recipe that trains a `TextLanguageModel`.

    See `Run`; a language model also trains on JAX, where no SavedModel is
    left.

    Args:
        settings: `kerasrnn.training.Settings` with `dynamic`, whether dynamic
            evaluation is measured, too.

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

    def fit(self, language, batches, corpus):
        """Trains a compiled model; the best epoch is that of perplexity.

        Where the optimizer keeps a running mean of the weights, that is what
        is validated and kept.

        Args:
            language: A `TextLanguageModel` with a `Perplexity` to log.
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
        )

    def finish(self, language, corpus, pictures=None, **facts):
        """Measures a model and leaves it, in float32, ready to use.

        Each part of the corpus is one text from its beginning to its end.

        Args:
            language: The `TextLanguageModel` that was trained.
            corpus: `kerasrnn.data.TextCorpus`, whose validation and test
                parts are scored.
            pictures: Dictionary of name to figure, in addition.
            **facts: What else the card says.
        """
        language = in_float32(language)
        scores = {}
        for name in ("validation", "test"):
            lines = getattr(corpus, name)
            if lines:
                ids = language.ids(lines)
                scores[name] = _score(language, ids)
                if self.settings.dynamic:
                    scores[f"{name}, dynamic"] = _score_dynamically(
                        language, ids
                    )
        super().finish(
            *(language, "language", self.history, pictures),
            scores=scores,
            lengths=length_table(corpus),
            samples=self._samples(language),
            **facts,
        )

    def _samples(self, language):
        """Prints and returns a few texts that the model writes."""
        if keras.backend.backend() != "tensorflow":
            return []
        seed = self.settings.seed
        samples = [
            language.write([""], seed + i, temperature=0.8, top_k=40)[0]
            for i in range(5)
        ]
        print(*samples, sep="\n\n")
        return samples


def _score(language, ids):
    """Scores a text of which nothing is learnt."""
    clock, single = Stopwatch(), language.model.with_batch_size(1)
    single.compile(loss=TokenCrossentropy(-1), metrics=_metrics(language))
    windows = text_windows(ids, 1, _STEPS, language.tokenizer.end_id)
    found = single.evaluate(windows, return_dict=True, verbose=0)
    return {**_of_tokens(found), "tokens": len(ids), **clock.read()}


def _score_dynamically(language, ids):
    """Scores a text that is learnt as it is read."""
    dynamic = DynamicEvaluation(language.model.with_batch_size(1))
    dynamic.compile(
        keras.optimizers.SGD(0.1, global_clipnorm=0.25),
        TokenCrossentropy(-1),
        metrics=_metrics(language),
    )
    windows = text_windows(ids, 1, _DYNAMIC_STEPS, language.tokenizer.end_id)
    history = dynamic.fit(windows, shuffle=False, verbose=0).history
    return _of_tokens({name: values[-1] for name, values in history.items()})


def _of_tokens(scores):
    """Scores whose loss is the mean over tokens: Keras's is over windows."""
    return {**scores, "loss": math.log(scores["perplexity"])}


def _metrics(language):
    metrics = [Perplexity(-1), TokenAccuracy(-1)]
    if isinstance(language.tokenizer, CharacterTokenizer):
        metrics.append(BitsPerCharacter(-1))
    return metrics
