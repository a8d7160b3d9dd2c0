"""Trains and exports an English-to-Vietnamese translator.

    python recipes/nmt_vietnamese.py                     # built-in phrasebook
    python recipes/nmt_vietnamese.py --corpus en_vi      # a real corpus
    python recipes/nmt_vietnamese.py --preset luong      # a published model

See `translate.py` for the files that a run writes and how to resume it.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import dataclasses
from pathlib import Path
from typing import Literal

import keras
import translate
from corpora.vietnamese_phrasebook import vietnamese_phrasebook

from kerasrnn import data
from kerasrnn import models
from kerasrnn import training
from kerasrnn.tokenizers import WordTokenizer


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.TranslationSettings):
    saved = training.TranslationSettings.saved | {"model"}
    not_identity = training.TranslationSettings.not_identity | {"corpus"}
    needs = training.TranslationSettings.needs | {
        "warmup": ("schedule", "cosine")
    }

    output: Path = Path("saved_models/nmt_vietnamese")
    corpus: str = "phrasebook"
    """phrasebook, en_vi, or a path; NAME.en stands for NAME.en and NAME.vi."""
    separate_punctuation: bool = True
    """Whether punctuation marks are separate words, as in the corpus."""
    model: Literal["translate", "laird", "luong"] = "translate"
    """The model of translate.py, or a published one."""
    schedule: Literal["cosine", "laird", "luong"] = "cosine"
    """Adam with cosine decay, or gradient descent as published."""

    def without_effect(self):
        idle = super().without_effect()
        if self.corpus == "en_vi":  # has a validation set
            idle |= {"dev_size"}
        if self.model == "translate":
            return idle
        return idle | {
            *("tokenizer", "vocabulary_size", "subword_sampling"),
            *("source_vectors", "target_vectors"),
            *("bidirectional", "lexical", "lexicon", "shortlist"),
        }


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
BEST = dataclasses.replace(
    SUBWORDS,
    tokenizer="word",
    units=512,
    lexicon=True,
    dropout=0.3,
    no_repeat_ngram=5,
)
# The public recipe of Luong, Brevdo and Zhao 2017. Their loss is a sum over a
# sentence, 27 tokens on average: a rate of 1 is 27 here, a norm of 5 is 5 / 27.
LUONG = dataclasses.replace(
    SUBWORDS,
    model="luong",
    max_words=50,
    tokenizer="word",
    units=512,
    depth=2,
    lexical=False,
    attention="general",
    word_dropout=0.0,
    label_smoothing=0.0,
    epochs=12,
    batch_size=128,
    schedule="luong",
    learning_rate=27.0,
    clip=5 / 27,
    average=0,
)
# The note of Laird: sentences of up to 30 words, read backwards.
LAIRD = dataclasses.replace(
    LUONG,
    model="laird",
    max_words=30,
    depth=4,
    bidirectional=False,
    attention="dot",
    epochs=50,
    batch_size=124,
    schedule="laird",
    learning_rate=1.0,
    clip=5.0,
)
# Their own take twelve epochs or more; this one compares models after an hour.
HOUR = {"schedule": "cosine", "learning_rate": 1e-3, "clip": 1.0}
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
    "best": BEST,
    "subwords": SUBWORDS,
    "laird": LAIRD,
    "sutskever": dataclasses.replace(LAIRD, attention=None),
    "luong": LUONG,
    "laird-hour": dataclasses.replace(LAIRD, **HOUR, epochs=4),
    "luong-hour": dataclasses.replace(LUONG, **HOUR, epochs=2),
    "gam-rhn": dataclasses.replace(
        LUONG,
        **HOUR,
        cell="gam_rhn",
        units=384,
        depth=1,
        attention="multi_head",
        epochs=2,
    ),
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
    """Pairs of a file, or of NAME.en and NAME.vi if `path` is one of them."""
    if path.suffix in (".en", ".vi"):
        path = path.with_suffix(".en"), path.with_suffix(".vi")
    return data.read_parallel_corpus(path, limit=limit).pairs


def published_tokenizers(settings, pairs):
    """Tokenizers with the vocabularies that come with the corpus."""
    if settings.corpus == "phrasebook":
        raise ValueError(
            "A published model needs the vocabularies of en_vi. "
            "Expected: --corpus en_vi. Received: --corpus phrasebook"
        )
    path = data.find_corpus(settings.corpus, settings.data_dir)
    options = settings.pick(*settings.text_options)
    return [
        WordTokenizer(data.read_vocabulary(path.with_name(name)), **options)
        for name in ("vocab.en", "vocab.vi")
    ]


def published_model(settings, source, target):
    """The model of Luong et al., or of Laird with factorized embeddings."""
    laird = settings.model == "laird"
    shared = {
        "cell": training.build_cell(settings.cell, settings.units),
        "embedding_dim": 256 if laird else 512,
        "embedding_scale": None if settings.schedule == "cosine" else 1.0,
        "factorized": laird,
        **settings.pick("dropout", "word_dropout"),
    }
    encoder = models.Encoder(
        source.vocabulary_size,
        depth=settings.depth if laird else 1,
        bidirectional=not laird,
        go_backwards=laird,
        pad_id=source.pad_id,
        **shared,
    )
    decoder = models.Decoder(
        target.vocabulary_size,
        depth=settings.depth,
        attention=settings.attention,
        input_feeding=settings.attention == "general",
        bridge="copy" if laird else "dense",
        **shared,
    )
    return models.Translator(encoder, decoder)


def build_optimizer(settings, steps):
    """Adam with cosine decay, or gradient descent with stepwise decay."""
    if settings.schedule == "cosine":
        return translate.build_optimizer(settings, steps, usual_warmup=400)
    if settings.schedule == "luong":
        # Halved every 12th of the training, after two thirds of it.
        ends, decay = [i * steps // 12 for i in (8, 9, 10, 11)], (0.5,)
    else:
        # Times 0.75 every 5 epochs after the first 10, down to a 400th.
        epoch = steps // settings.epochs
        ends, decay = [epoch * (10 + 5 * i) for i in range(21)], (0.75, 0.0025)
    schedule = training.step_schedule(settings.learning_rate, ends, *decay)
    return keras.optimizers.SGD(schedule, global_clipnorm=settings.clip)


def preset_for(corpus):
    named = {None: "phrasebook", "phrasebook": "phrasebook", "en_vi": "best"}
    return named.get(corpus, "own")


def main():
    settings = training.read_settings(PRESETS, preset_for, __doc__)
    parts = {"load_pairs": load_pairs, "build_optimizer": build_optimizer}
    if settings.model != "translate":
        parts["build_tokenizers"] = published_tokenizers
        parts["build_model"] = published_model
    translate.run(settings, languages=("English", "Vietnamese"), **parts)


if __name__ == "__main__":
    main()
