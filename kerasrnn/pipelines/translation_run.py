"""The run of a recipe that trains a translator."""

import functools
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras

from kerasrnn.data import warn_of_unseen
from kerasrnn.models import in_float32
from kerasrnn.pipelines.run import Run
from kerasrnn.pipelines.text_translator import TextTranslator
from kerasrnn.plots import attention_grid
from kerasrnn.training import Settings
from kerasrnn.training import TextScores
from kerasrnn.typing import History
from kerasrnn.typing import Pairs

_SCORED = 200  # pairs to translate after every epoch


class TranslationRun(Run):
    """The run of a recipe that trains a `TextTranslator`.

    See `Run`.

    Args:
        settings: `kerasrnn.training.Settings` with a field `average`, over
            how many of the last epochs to average the weights; 0 for the
            weights of the best epoch.

    Example:

    >>> with TranslationRun(settings) as run:
    ...     translator = build_translator()
    ...     translator.compile("adam")
    ...     run.fit(translator, pairs, dev)
    ...     run.finish(translator, dev)
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.histories: list[History] = []

    def fit(
        self,
        translator: TextTranslator,
        pairs: Pairs,
        dev: Pairs,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        member: int = 0,
        **facts: Any,
    ) -> None:
        """Trains a compiled translator; the best epoch has the highest BLEU.

        The members of an ensemble are trained by one call each. The card has
        the log of each, and as that of the run that of the last.

        Args:
            translator: A `TextTranslator`.
            pairs: List of `(source, target)` strings to train on.
            dev: List of `(source, target)` strings to validate on. The first
                200 are translated after every epoch, by greedy search.
            callbacks: List of further callbacks.
            member: Integer, the number of a member of an ensemble. It is added
                to the seed of the order of the pairs, and each has a training
                folder of its own.
            **facts: Values that the training depends on besides the settings
                and the pairs.
        """
        if member:
            print(f"\nMember {member + 1} of the ensemble:")
            facts["member"] = member
        print(f"{len(pairs)} training pairs, {len(dev)} to validate on")
        if self.settings.start_from:
            sources, targets = zip(*pairs, strict=True)
            warn_of_unseen(sources, translator.source_tokenizer, "sources")
            warn_of_unseen(targets, translator.target_tokenizer, "targets")
        settings = self.settings
        sources, references = zip(*dev[:_SCORED], strict=True)
        scores = TextScores(
            functools.partial(translator.translate, greedy=True),
            *(sources, references, translator.scores),
        )
        self.pairs = {"train": len(pairs), "dev": len(dev)}
        self.history = super().fit(
            translator.model,
            translator.batches(
                pairs, settings.batch_size, settings.seed + member
            ),
            translator.batches(dev, settings.batch_size),
            *("val_bleu", "max", settings.average),
            callbacks=[scores, *callbacks],
            data=[pairs, dev],
            tokenizers=[
                translator.source_tokenizer,
                translator.target_tokenizer,
            ],
            **facts,
        )
        self.histories.append(self.history)

    def finish(
        self,
        translator: TextTranslator,
        dev: Pairs,
        test: Pairs | Mapping[str, Pairs] = (),
        pictures: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Evaluates a trained translator and saves it in float32.

        Greedy search and the search of the translator are both scored.

        Args:
            translator: The trained `TextTranslator`.
            dev: List of `(source, target)` strings to evaluate on, also for
                the samples.
            test: List of `(source, target)` strings of the test part; empty
                if there is none. Or a dictionary of name to list, of several
                parts to evaluate on.
            pictures: Dictionary of name to figure, of more pictures to save.
            **facts: More values for the card.
        """
        translator = self.save(in_float32(translator), "translator")
        scores = {}
        others = test if isinstance(test, Mapping) else {"test": test}
        for part, pairs in {"dev": dev, **others}.items():
            if pairs:
                scores[part] = {
                    "greedy": translator.evaluate(pairs, greedy=True),
                    "beam": translator.evaluate(pairs),
                }
        samples = self.samples(translator, dev[:10])
        sources = [source for source, _ in dev]
        short = [text for text in sources if 4 <= len(text.split()) <= 9]
        found = translator.alignments((short or sources)[:4])
        # Without punctuation, a text may have no words.
        found = [x for x in found if x[0].size]
        if found:
            pictures = {"attention": attention_grid(found), **(pictures or {})}
        if len(self.histories) > 1:
            facts["members"] = self.histories
        super().finish(
            translator,
            self.history,
            pictures,
            pairs=self.pairs,
            vocabulary_sizes=[
                translator.source_tokenizer.vocabulary_size,
                translator.target_tokenizer.vocabulary_size,
            ],
            scores=scores,
            samples=samples,
            **facts,
        )

    def samples(
        self, translator: TextTranslator, pairs: Pairs
    ) -> list[tuple[str, str, str]]:
        """Prints and returns pairs, each with its translation."""
        sources = [source for source, _ in pairs]
        samples = [
            (*pair, translation)
            for pair, translation in zip(
                pairs, translator.translate(sources), strict=True
            )
        ]
        for source, reference, translation in samples:
            print(f"\n  {source}\n  {reference}   (reference)\n  {translation}")
        return samples
