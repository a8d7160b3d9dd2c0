"""Self-training: a second classifier is trained on the answers of a first.

    python recipes/studies/imdb_self_training.py --corpus imdb

The first is that of `recipes/imdb.py`, in `OUTPUT/first/`. The second, in
`OUTPUT/second/`, starts from new weights and is trained on all reviews. Those
without a label get the probability that the first one predicts.
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
    """Returns the corpus with predicted probabilities as missing labels."""
    answers = labeller.probabilities(corpus.unlabelled, batch_size=256)
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
        # The folder of the first one has the word vectors that it trained.
        begin = dataclasses.replace(settings, output=first.output)
        return imdb.build_labeller(begin, corpus)

    imdb.run(second, lambda _: (taught, dev), build_labeller)


if __name__ == "__main__":
    main()
