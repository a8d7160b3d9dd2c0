"""A second classifier learns from what the first says of unlabelled reviews.

    python recipes/studies/imdb_self_training.py --corpus imdb

The first is that of `recipes/imdb.py`, in `OUTPUT/first/`. The second, in
`OUTPUT/second/`, starts from new weights and learns from all reviews: those
without a label as the first one sees them, with a probability for a label.
"""

import dataclasses
import pathlib
import sys

import keras

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import imdb

from kerasrnn import data
from kerasrnn import training

OUTPUT = pathlib.Path("saved_models/imdb_self_training")
PRESETS = {
    name: dataclasses.replace(preset, output=OUTPUT)
    for name, preset in imdb.PRESETS.items()
}


def answered(labeller, corpus):
    """Returns the corpus with the answers for labels, where there are none."""
    answers = labeller.probabilities(corpus.unlabelled, batch_size=256)
    train = data.LabelledTexts(
        corpus.train.texts + corpus.unlabelled,
        corpus.train.labels + answers.tolist(),
    )
    return corpus._replace(train=train, unlabelled=[])


def check(corpus):
    """Raises `CorpusError` where there is nothing to answer, or not so."""
    if not corpus.unlabelled or len(corpus.label_names) != 2:
        raise data.CorpusError(
            "Answers are learnt where there are two classes, and texts without "
            f"a label. Received: {len(corpus.label_names)} classes, "
            f"{len(corpus.unlabelled)} texts without a label."
        )


def main():
    settings = training.read_settings(PRESETS, imdb.preset_for, __doc__)
    corpus, dev = imdb.load_parts(settings)
    check(corpus)
    settings = training.by_size(settings, len(corpus.train.texts), imdb.SIZES)
    first, second = (
        dataclasses.replace(settings, output=settings.output / name)
        for name in ("first", "second")
    )
    labeller = imdb.run(first, lambda _: (corpus, dev))
    taught = answered(labeller, corpus)
    keras.backend.clear_session()

    def build_labeller(settings, _):
        # Of the same words and word vectors as the first: it has trained them.
        begin = dataclasses.replace(settings, output=first.output)
        return imdb.build_labeller(begin, corpus)

    imdb.run(second, lambda _: (taught, dev), build_labeller)


if __name__ == "__main__":
    main()
