"""A classifier of reviews that is pretrained as a language model.

    python recipes/studies/imdb_pretraining.py --corpus imdb

The embeddings and the forward recurrent layers of `recipes/imdb.py` are first
trained for one epoch to predict the next word of reviews without a label.
"""

import dataclasses
import pathlib
import sys

import keras

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import imdb

from kerasrnn import data
from kerasrnn import models
from kerasrnn import pipelines
from kerasrnn import training


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(imdb.Settings):
    output: pathlib.Path = pathlib.Path("saved_models/imdb_pretraining")
    bidirectional: bool = False
    """Whether the encoder also reads backwards, without pretraining."""
    pretrain_reviews: training.Count = 10_000
    """Number of reviews, the last ones, to train the language model on."""


CHANGES = {"output": Settings.output, "bidirectional": False}
PRESETS = {
    "generated": Settings(**vars(imdb.PRESETS["generated"]) | CHANGES),
    "best": Settings(**vars(imdb.PRESETS["best"]) | CHANGES | {"units": 256}),
    "own": Settings(),
}


def pretrain(settings, labeller, texts):
    """Pretrains the encoder of a labeller as a language model of texts."""
    encoder, tokenizer = labeller.model.encoder, labeller.tokenizer
    language = models.LanguageModel(
        tokenizer.vocabulary_size,
        encoder.cell,
        encoder.embedding_dim,
        depth=settings.depth,
        dropout=0.1,
        batch_size=64,
    )
    language.build()
    language.embedding.set_weights(encoder.embedding.get_weights())
    language.compile(
        keras.optimizers.Adam(settings.learning_rate, global_clipnorm=1.0),
        training.TokenCrossentropy(-1),
    )
    ids = pipelines.TextLanguageModel(language, tokenizer).ids(texts)
    folder = training.TrainingFolder(
        settings.output,
        training.identity(settings) | {"stage": "language", "data": texts},
        "loss",
    )
    windows = data.text_windows(ids, 64, 50, tokenizer.end_id)
    folder.fit(language, windows, epochs=1)
    folder.load_best(language)
    encoder.embedding.set_weights(language.embedding.get_weights())
    for own, learnt in zip(encoder.forward_rnns, language.rnns, strict=True):
        own.set_weights(learnt.get_weights())


def build_labeller(settings, corpus):
    """Returns the labeller of the recipe, pretrained."""
    labeller = imdb.build_labeller(settings, corpus)
    texts = corpus.unlabelled or corpus.train.texts
    pretrain(settings, labeller, texts[-settings.pretrain_reviews :])
    return labeller


def main():
    settings = training.read_settings(PRESETS, imdb.preset_for, __doc__)
    imdb.run(settings, build_labeller=build_labeller)


if __name__ == "__main__":
    main()
