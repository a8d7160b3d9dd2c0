"""The run of a recipe that trains a text classifier."""

from typing import Any

from kerasrnn.data import LabelledCorpus
from kerasrnn.data import LabelledTexts
from kerasrnn.models import in_float32
from kerasrnn.pipelines.run import Run
from kerasrnn.pipelines.text_labeller import TextLabeller
from kerasrnn.plots import hidden_state_figure
from kerasrnn.plots import word_map_figure
from kerasrnn.plots import word_weight_figure
from kerasrnn.training import TrainingSpeed
from kerasrnn.typing import Strings

_LEAST_WORDS = 4  # of a word map


class LabellingRun(Run):
    """The run of a recipe that trains a `TextLabeller`.

    See `Run`.

    Args:
        settings: `kerasrnn.training.Settings`.

    Example:

    >>> with LabellingRun(settings) as run:
    ...     labeller = build_labeller()
    ...     labeller.compile("adam")
    ...     run.fit(labeller, corpus, validation)
    ...     labeller = run.finish(labeller, validation, corpus.test)
    """

    def fit(
        self, labeller: TextLabeller, corpus: LabelledCorpus, dev: LabelledTexts
    ) -> None:
        """Trains a compiled labeller; the best epoch is that of least loss.

        It prints whether texts to validate on have their groups, such as all
        reviews of a film, for themselves. The card says so, too.

        Args:
            labeller: A `TextLabeller`.
            corpus: `LabelledCorpus`, of which the training part is used.
            dev: `LabelledTexts` to validate on.

        Raises:
            ValueError: when the labels of the labeller are not those of the
                corpus.
        """
        if list(labeller.labels) != list(corpus.label_names):
            raise ValueError(
                f"The labeller must have the labels of the corpus, "
                f"{corpus.label_names}. Received: {labeller.labels}"
            )
        texts = corpus.train
        print(f"{len(texts.texts)} training texts, {len(dev.texts)} held out")
        self.held_out = _held_out(corpus, dev)
        size, most = self.settings.batch_size, labeller.max_length
        words = sum(len(text.split()[:most]) for text in texts.texts)
        self.texts = {"train": len(texts.texts), "dev": len(dev.texts)}
        self.history = super().fit(
            labeller.model,
            labeller.batches(
                *_named(labeller, texts), size, self.settings.seed
            ),
            labeller.batches(*_named(labeller, dev), 4 * size),
            "val_loss",
            callbacks=[TrainingSpeed(words)],
            data=[corpus._replace(test=None), dev],
            tokenizers=[labeller.tokenizer],
        )

    def finish(
        self,
        labeller: TextLabeller,
        dev: LabelledTexts,
        test: LabelledTexts | None = None,
        **facts: Any,
    ) -> TextLabeller:
        """Evaluates a trained labeller and saves it in float32.

        Args:
            labeller: The trained `TextLabeller`.
            dev: `LabelledTexts` to evaluate on, also for the samples.
            test: `LabelledTexts` of the test part; `None` if there is none.
            **facts: More values for the card.

        Returns:
            The saved `TextLabeller`, in float32.
        """
        labeller = self.save(in_float32(labeller), "labeller")
        scores = {"dev": labeller.evaluate(*_named(labeller, dev))}
        if test is None:
            print("There is no test part: scores are on held-out texts.")
        else:
            scores["test"] = labeller.evaluate(*_named(labeller, test))
        longest = max(dev.texts, key=len)
        super().finish(
            labeller,
            self.history,
            self.pictures(labeller, dev.texts),
            texts=self.texts,
            held_out=self.held_out,
            labels=labeller.labels,
            vocabulary_size=labeller.tokenizer.vocabulary_size,
            scores=scores,
            samples=self.samples(labeller, dev),
            gradient_norms=labeller.gradient_norms(longest).tolist(),
            **facts,
        )
        return labeller

    def samples(
        self, labeller: TextLabeller, dev: LabelledTexts
    ) -> list[tuple[str, str, str]]:
        """Prints and returns ten texts with true and predicted labels."""
        texts = dev.texts[:10]
        true = [labeller.labels[round(label)] for label in dev.labels[:10]]
        samples = list(zip(texts, true, labeller.label(texts), strict=True))
        for text, label, found in samples:
            short = text if len(text) <= 200 else f"{text[:200]} ..."
            print(f"\n  {short}\n  {label}   (true)\n  {found}")
        return samples

    def pictures(
        self, labeller: TextLabeller, texts: Strings
    ) -> dict[str, Any]:
        """Draws the hidden states and the word weights of two texts.

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
        if len(words) >= _LEAST_WORDS:
            pictures["word_map"] = word_map_figure(states, words)
        return pictures


def _named(
    labeller: TextLabeller, texts: LabelledTexts
) -> tuple[Strings, list[Any]]:
    """Texts and their labels by name: a name may be another's number."""
    names = labeller.labels
    return texts.texts, [
        names[int(label)] if label in range(len(names)) else label
        for label in texts.labels
    ]


def _held_out(corpus, dev):
    """How the texts to validate on were held out, for the card; prints it."""
    groups, learnt = (
        set(corpus.groups_of(part.texts)) for part in (dev, corpus.train)
    )
    if corpus.groups is None or groups & learnt:
        print(
            "They are held out one by one: if some belong together with "
            "training texts, such as reviews of one film, scores flatter."
        )
        return {"by": "text"}
    print(f"They are all texts of {len(groups)} groups, such as films.")
    return {"by": "group", "groups": len(groups)}


def _of_length(size, texts):
    """The text whose number of characters is nearest to `size`."""
    return min(texts, key=lambda text: abs(len(text) - size))
