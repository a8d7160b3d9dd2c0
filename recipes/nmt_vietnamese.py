"""Trains English-to-Vietnamese translators: presets of `translate.py`.

    python recipes/nmt_vietnamese.py                     # built-in phrasebook
    python recipes/nmt_vietnamese.py --corpus en_vi      # a real corpus

All other flags but those of the corpus are those of `translate.py`.
"""

import dataclasses
from pathlib import Path

import translate
from corpora.vietnamese_phrasebook import vietnamese_phrasebook

from kerasrnn import data
from kerasrnn import training


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.TranslationSettings):
    not_identity = training.TranslationSettings.not_identity | {"corpus"}

    output: Path = Path("saved_models/nmt_vietnamese")
    corpus: str = "phrasebook"
    """phrasebook, en_vi, or a path; NAME.en stands for NAME.en and NAME.vi."""
    separate_punctuation: bool = True
    """Whether punctuation marks are separate words, as in the corpus."""

    def without_effect(self):
        idle = super().without_effect()
        # The corpus has its own validation set.
        return idle | {"dev_size"} if self.corpus == "en_vi" else idle


SUBWORDS = Settings(
    corpus="en_vi",
    max_words=60,
    max_tokens=150,
    vocabulary_size=8000,
    cell="lstm",
    units=384,
    lexicon=False,
    dropout=0.2,
    word_dropout=0.05,
    dtype="auto",
    epochs=6,
    batch_size=64,
    learning_rate=1.5e-3,
    average=3,
    beam_width=10,
    # The search is chosen on tst2012; with 1, translations are 6 % too short.
    length_penalty=1.4,
)
PRESETS = {
    "phrasebook": dataclasses.replace(
        SUBWORDS,
        corpus="phrasebook",
        vocabulary_size=1000,
        units=128,
        dtype="float32",
        epochs=12,
        batch_size=32,
        learning_rate=2e-3,
    ),
    "best": dataclasses.replace(
        SUBWORDS,
        tokenizer="word",
        units=512,
        lexicon=True,
        dropout=0.3,
        no_repeat_ngram=5,
    ),
    "subwords": SUBWORDS,
    "own": Settings(),
}


def load_pairs(settings):
    """Returns the pairs for training, validation and test, the last empty.

    If tst2012 is beside the corpus, it is used for validation. Sources of
    tst2012 and tst2013 are removed from the training pairs.
    """
    if settings.corpus == "phrasebook":
        pairs, dev = vietnamese_phrasebook()[: settings.limit], []
    else:
        path = data.find_corpus(settings.corpus, settings.data_dir)
        pairs = read(path, settings.limit)
        names = path.with_name("tst2012.en"), path.with_name("tst2013.en")
        dev, test = (read(x) if x.exists() else [] for x in names)
        pairs = data.drop_overlap(pairs, dev + test)
    if dev:
        return pairs, dev[: settings.limit], ()
    return *data.hold_out_pairs(pairs, settings.dev_size, settings.seed), ()


def read(path, limit=None):
    """Returns the pairs of a file, or of NAME.en and NAME.vi for either."""
    if path.suffix in (".en", ".vi"):
        path = path.with_suffix(".en"), path.with_suffix(".vi")
    return data.read_parallel_corpus(path, limit=limit).pairs


def main():
    translate.run(
        training.read_settings(PRESETS, description=__doc__),
        load_pairs,
        warmup=400,
        languages=("English", "Vietnamese"),
    )


if __name__ == "__main__":
    main()
