"""Trains a language model of film reviews, for a classifier to start from.

    python recipes/imdb_lm.py                        # generated film reviews
    python recipes/imdb_lm.py --corpus imdb          # the movie review dataset
    python recipes/imdb.py --corpus imdb --preset pretrained \
        --language-model saved_models/imdb_lm/language.keras

It reads all labelled and unlabelled reviews, except those that `imdb.py` holds
out with the same `--seed` and `--limit`. All other flags are those of
`language_model.py`.
"""

import dataclasses
from pathlib import Path

import classify
import imdb
import language_model

from kerasrnn import data
from kerasrnn import training


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(language_model.Settings):
    """Settings of `language_model.py`; those of the corpus are of `imdb.py`."""

    def without_effect(self):
        idle = {"dev", "test", "text_column", "tokens"}
        return super().without_effect() | idle


OUTPUT = Path("saved_models/imdb_lm")
REVIEWS = Settings(
    corpus="generated",
    output=OUTPUT,
    vocabulary_size=30_000,
    cell="lstm",
    micro_steps=None,
    units=64,
    dropout=0.1,
    recurrent_dropout=0.0,
    word_dropout=0.0,
    epochs=4,
    dynamic=False,
)
PRESETS = {
    "generated": REVIEWS,
    # Two CPU hours for all reviews.
    "imdb": dataclasses.replace(
        REVIEWS,
        corpus="imdb",
        units=512,
        embedding_dim=256,
        sampled_words=4096,
        epochs=1,
        batch_size=128,
        window=70,
        dtype="auto",
    ),
    "own": REVIEWS,
}


def of_reviews(settings):
    """Returns settings of `imdb.py` for the same reviews."""
    preset = imdb.PRESETS[training.preset_of(imdb.PRESETS, settings.corpus)]
    names = "corpus", "data_dir", "limit", "seed", "vocabulary_size"
    return dataclasses.replace(preset, **settings.pick(*names))


def load_corpus(settings):
    """Returns training and validation reviews, one per line."""
    corpus, dev = classify.load_parts(of_reviews(settings))
    train = corpus.train.texts + corpus.unlabelled
    return data.TextCorpus(train, dev.texts, None)


def build_tokenizer(settings, lines):
    return classify.build_tokenizer(of_reviews(settings), lines)


def main():
    settings = training.read_settings(PRESETS, description=__doc__)
    language_model.run(settings, load_corpus, build_tokenizer)


if __name__ == "__main__":
    main()
