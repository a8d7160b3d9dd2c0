"""The run of a recipe that labels."""

from kerasrnn.models import in_float32
from kerasrnn.pipelines.run import Run
from kerasrnn.plots import hidden_state_figure
from kerasrnn.plots import word_map_figure
from kerasrnn.plots import word_weight_figure
from kerasrnn.training import TrainingSpeed

_MAP = 4  # words at least


class LabellingRun(Run):
    """The run of a recipe that trains a `TextLabeller`.

    See `Run`.

    Args:
        settings: `kerasrnn.training.Settings`, of which it also reads
            `batch_size` and `seed`.

    Example:

    >>> with LabellingRun(settings) as run:
    ...     labeller = build_labeller()
    ...     labeller.compile("adam")
    ...     run.fit(labeller, corpus, validation)
    ...     labeller = run.finish(labeller, validation, corpus.test)
    """

    def fit(self, labeller, corpus, dev):
        """Trains a compiled labeller; the best epoch has the least loss.

        Args:
            labeller: A `TextLabeller`.
            corpus: `LabelledCorpus`, the training part of which is learnt.
            dev: `LabelledTexts` to validate on.

        Raises:
            ValueError: when the labeller has other labels than the corpus.
        """
        if list(labeller.labels) != list(corpus.label_names):
            raise ValueError(
                f"The labeller must have the labels of the corpus, "
                f"{corpus.label_names}. Received: {labeller.labels}"
            )
        texts = corpus.train
        print(f"{len(texts.texts)} training texts, {len(dev.texts)} held out")
        size, most = self.settings.batch_size, labeller.max_length
        words = sum(len(text.split()[:most]) for text in texts.texts)
        self.texts = {"train": len(texts.texts), "dev": len(dev.texts)}
        self.history = super().fit(
            labeller.model,
            labeller.batches(*texts, size, self.settings.seed),
            labeller.batches(*dev, 4 * size),
            "val_loss",
            callbacks=[TrainingSpeed(words)],
            data=[corpus._replace(test=None), dev],
        )

    def finish(self, labeller, dev, test=None, **facts):
        """Measures a labeller and leaves it, in float32, ready to use.

        Args:
            labeller: The `TextLabeller` that was trained.
            dev: `LabelledTexts` to score by and to show labels of.
            test: The same to report on; `None` for none.
            **facts: What else the card says.

        Returns:
            The `TextLabeller` that was left.
        """
        labeller = in_float32(labeller)
        scores = {"dev": labeller.evaluate(*dev)}
        if test is None:
            print("There is no test part: figures are on held-out texts.")
        else:
            scores["test"] = labeller.evaluate(*test)
        longest = max(dev.texts, key=len)
        super().finish(
            *(labeller, "labeller", self.history),
            self.pictures(labeller, dev.texts),
            texts=self.texts,
            labels=labeller.labels,
            vocabulary_size=labeller.tokenizer.vocabulary_size,
            scores=scores,
            samples=self.samples(labeller, dev),
            gradient_norms=labeller.gradient_norms(longest).tolist(),
            **facts,
        )
        return labeller

    def samples(self, labeller, dev):
        """Prints and returns ten texts, with their true and found labels."""
        texts = dev.texts[:10]
        true = [labeller.labels[label] for label in dev.labels[:10]]
        samples = list(zip(texts, true, labeller.label(texts), strict=True))
        for text, label, found in samples:
            short = text if len(text) <= 200 else f"{text[:200]} ..."
            print(f"\n  {short}\n  {label}   (true)\n  {found}")
        return samples

    def pictures(self, labeller, texts):
        """Draws a short text inside the model, and what words of one weigh.

        Returns:
            A dictionary of name to figure.
        """
        words, states = labeller.hidden_states(_of_length(80, texts))
        words, states = words[:30], states[:30]
        explained, weights = labeller.explain(_of_length(600, texts))
        pictures = {
            "hidden_states": hidden_state_figure(states, words),
            "words": word_weight_figure(weights[:200], explained[:200]),
        }
        if len(words) >= _MAP:
            pictures["word_map"] = word_map_figure(states, words)
        return pictures


def _of_length(size, texts):
    """The text that is nearest to so many characters."""
    return min(texts, key=lambda text: abs(len(text) - size))
