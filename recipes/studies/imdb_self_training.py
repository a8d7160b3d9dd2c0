"""Self-training: a second classifier learns from the outputs of a first one.

    python recipes/studies/imdb_self_training.py --corpus imdb

The first one is that of `recipes/imdb.py`, in `OUTPUT/first/`. The second one,
in `OUTPUT/second/`, starts from new weights and is trained on all reviews. The
label of an unlabelled review is the mean probability of the first classifier
and of a linear model of 1- to 3-grams. `--teachers` names saved classifiers to
use instead of the first one.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import dataclasses
import functools
import pathlib
import sys

import keras
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import classify
import imdb

from kerasrnn import data
from kerasrnn import pipelines
from kerasrnn import training


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(classify.Settings):
    not_identity = classify.Settings.not_identity | {
        *("linear", "teachers"),
    }

    output: pathlib.Path = pathlib.Path("saved_models/imdb_self_training")
    linear: bool = True
    """Whether to add a linear model as a teacher."""
    teachers: tuple[training.Existing, ...] = ()
    """Saved classifiers as teachers; default: one that is trained first."""

    def without_effect(self):
        return super().without_effect() | {"start_from"}


PRESETS = {
    name: Settings(**vars(preset) | {"output": Settings.output})
    for name, preset in imdb.PRESETS.items()
}


class LinearLabeller:
    """Logistic regression on the presence of n-grams of up to three words.

    Each n-gram is scaled by the logarithm of the ratio of its frequencies in
    the two classes: [Wang & Manning, 2012](https://aclanthology.org/P12-2018).
    """

    def __init__(self, tokenizer, texts, labels):
        self._tokenizer, labels = tokenizer, np.array(labels)
        self._counts = CountVectorizer(
            binary=True,
            lowercase=False,  # The tokenizer already normalizes texts.
            min_df=2,
            ngram_range=(1, 3),
            token_pattern=r"\S+",
        )
        found = self._counts.fit_transform(self._normalized(texts))
        negative, positive = (
            1 + found[labels == label].sum(axis=0) for label in (0, 1)
        )
        self._ratios = np.log(positive / positive.sum()) - np.log(
            negative / negative.sum()
        )
        self._model = LogisticRegression(
            C=0.1, solver="liblinear", dual=True, max_iter=200
        ).fit(found.multiply(self._ratios).tocsr(), labels)

    def _normalized(self, texts):
        for start in range(0, len(texts), 1000):
            part = self._tokenizer.normalize(texts[start : start + 1000])
            yield from (text.decode() for text in part.numpy())

    def probabilities(self, texts):
        found = self._counts.transform(self._normalized(texts))
        return self._model.predict_proba(found.multiply(self._ratios).tocsr())[
            :, 1
        ]


def teacher(labellers, corpus, dev, linear):
    """Returns a function that gives texts the probability of class 1."""
    answers = [
        functools.partial(labeller.probabilities, batch_size=256)
        for labeller in labellers
    ]
    if linear:
        other = LinearLabeller(labellers[0].tokenizer, *corpus.train)
        print("The linear model:", scores(other.probabilities, dev))
        answers.append(other.probabilities)

    def probabilities(texts):
        return np.mean([answer(texts) for answer in answers], axis=0)

    print("The teacher:", scores(probabilities, dev))
    return probabilities


def scores(probabilities, dev):
    """Returns the scores of a function from texts to probabilities, as text."""
    found, labels = probabilities(dev.texts), np.array(dev.labels)
    accuracy = np.mean((found > 0.5) == labels)
    loss = -np.mean(np.log(np.where(labels, found, 1 - found)))
    return f"accuracy {accuracy:.4f}, loss {loss:.4f} on held-out texts"


def answered(corpus, answers):
    """Returns the corpus with probabilities in place of missing labels."""
    train = data.LabelledTexts(
        corpus.train.texts + corpus.unlabelled,
        corpus.train.labels + answers.tolist(),
    )
    return corpus._replace(train=train, unlabelled=[])


def check(corpus):
    """Raises `CorpusError` unless a corpus is suitable for self-training."""
    if not corpus.unlabelled or len(corpus.label_names) != 2:
        raise data.CorpusError(
            "Self-training needs two classes, and texts without a label. "
            f"Received: {len(corpus.label_names)} classes, "
            f"{len(corpus.unlabelled)} texts without a label."
        )


def main():
    settings = training.read_settings(PRESETS, description=__doc__)
    corpus, dev = classify.load_parts(settings)
    check(corpus)
    settings = training.by_size(
        settings, len(corpus.train.texts), classify.SIZES
    )
    # The probabilities of the first are labels: as they were learnt.
    first = dataclasses.replace(
        settings, output=settings.output / "first", calibrate=False
    )
    second = dataclasses.replace(settings, output=settings.output / "second")
    labellers = [*map(pipelines.TextLabeller.open, settings.teachers)]
    labellers = labellers or [classify.run(first, lambda _: (corpus, dev))]
    probabilities = teacher(labellers, corpus, dev, settings.linear)
    taught = answered(corpus, probabilities(corpus.unlabelled))
    keras.backend.clear_session()

    def build_labeller(settings, _):
        # The folder of the first classifier has its word vectors.
        begin = dataclasses.replace(settings, output=first.output)
        return classify.build_labeller(begin, taught)

    classify.run(second, lambda _: (taught, dev), build_labeller)


if __name__ == "__main__":
    main()
