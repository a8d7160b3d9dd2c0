"""Trains and exports an English-to-Hindi translator.

    python recipes/nmt_hindi.py                     # built-in phrasebook
    python recipes/nmt_hindi.py --corpus guha       # a real corpus
    python recipes/nmt_hindi.py --preset all        # four corpora
    python recipes/nmt_hindi.py --preset guha       # a report's experiment
    python recipes/nmt_hindi.py --corpus mine.tsv   # like translate.py

See `translate.py` for the files that a run writes and how to resume it.
"""

import dataclasses
import random
from pathlib import Path
from typing import Literal

import translate
from corpora.hindi_phrasebook import phrasebook

from kerasrnn import data
from kerasrnn import models
from kerasrnn import training
from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import FastGRUCell
from kerasrnn.tokenizers import WordTokenizer

NAMES = ("phrasebook", "guha", "tatoeba", "tourism_health", "wiki_dev")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.TranslationSettings):
    saved = training.TranslationSettings.saved | {"model"}
    not_identity = training.TranslationSettings.not_identity | {"corpus"}

    output: Path = Path("saved_models/nmt_hindi")
    corpus: str = "phrasebook"
    """phrasebook, guha, tatoeba, tourism_health, wiki_dev, a path, or several
    joined by +."""
    dev_corpora: training.Count = 1
    """Number of corpora, the first ones, of which pairs are held out."""
    model: Literal["translate", "guha"] = "translate"
    """The model of translate.py, or that of Guha's report."""
    # Hindi has another script, in which an English word is wrong.
    copy_unknown: bool = False

    def without_effect(self):
        if self.model == "translate" or self.start_from:
            return super().without_effect()
        return super().without_effect() | {
            *("dev_size", "dev_corpora"),
            *("tokenizer", "vocabulary_size", "subword_sampling"),
            *("source_vectors", "target_vectors"),
            *("cell", "depth", "bidirectional", "dropout", "word_dropout"),
            *("lexical", "lexicon", "shortlist", "attention", "copy_unknown"),
        }


BEST = Settings(
    corpus="guha",
    lowercase=True,
    strip_punctuation=True,
    tokenizer="word",
    units=256,
    epochs=26,
    dtype="auto",
    # A model of few pairs repeats itself; without that, it is too brief.
    length_penalty=2.0,
    no_repeat_ngram=3,
)
SUBWORDS = dataclasses.replace(BEST, tokenizer="unigram", vocabulary_size=4000)
PRESETS = {
    "phrasebook": Settings(
        lowercase=True,
        units=128,
        vocabulary_size=1000,
        attention="additive",
        epochs=16,
        batch_size=48,
        learning_rate=3e-3,
    ),
    "best": BEST,
    "all": dataclasses.replace(
        BEST,
        corpus="guha+tourism_health+tatoeba+wiki_dev",
        dev_corpora=2,
        epochs=12,
        batch_size=64,
    ),
    "subwords": SUBWORDS,
    "bpe": dataclasses.replace(SUBWORDS, tokenizer="bpe"),
    "one-way": dataclasses.replace(BEST, bidirectional=False),
    "no-dropout": dataclasses.replace(BEST, dropout=0.0, word_dropout=0.0),
    "no-lexical": dataclasses.replace(BEST, lexical=False),
    "no-lexicon": dataclasses.replace(BEST, lexicon=False),
    # The report of Guha: the first 100 pairs, with all of their words.
    "guha": Settings(
        corpus="guha",
        model="guha",
        limit=100,
        lowercase=True,
        tokenizer="word",
        units=1024,
        bidirectional=False,
        lexical=False,
        lexicon=False,
        attention="additive",
        dropout=0.0,
        word_dropout=0.0,
        label_smoothing=0.0,
        epochs=100,
        batch_size=64,
        learning_rate=1e-3,
    ),
    # A corpus of your own.
    "own": Settings(),
}


def names(corpus):
    """The names or paths of corpora joined by +; a path may contain one."""
    return [corpus] if Path(corpus).exists() else corpus.split("+")


def load_pairs(settings):
    """Returns the pairs for training and for validation.

    Third are the validation pairs of each corpus, if there are several.
    """
    chosen = names(settings.corpus)
    # The report has no validation pairs; it shows those that were learnt.
    all_learnt = settings.model == "guha" and not settings.start_from
    if all_learnt and len(chosen) > 1:
        raise ValueError(
            f"The report has one corpus. Received: corpus={settings.corpus!r}"
        )
    corpora = {name: read(name, settings) for name in chosen}
    if all_learnt:
        [pairs] = corpora.values()
        return pairs, pairs, {}
    if settings.dev_corpora > len(corpora):
        raise ValueError(
            "`dev_corpora` must be at most the number of corpora, "
            f"{len(corpora)}. Received: dev_corpora={settings.dev_corpora}"
        )
    held_out = {}
    for name in list(corpora)[: settings.dev_corpora]:
        corpora[name], held_out[name] = data.hold_out_pairs(
            corpora[name], settings.dev_size, settings.seed
        )
    dev = sum(held_out.values(), [])
    train = sum((data.drop_overlap(x, dev) for x in corpora.values()), [])
    if len(held_out) == 1:
        return train, dev, {}
    # Some are scored after every epoch: of each corpus.
    random.Random(settings.seed).shuffle(dev)
    return train, dev, held_out


def read(name, settings):
    """The pairs of a corpus, given by its name or path."""
    if name == "phrasebook":
        return phrasebook()[: settings.limit]
    path = data.find_corpus(name, settings.data_dir)
    return data.read_parallel_corpus(path, limit=settings.limit).pairs


def guha_tokenizers(settings, pairs):
    """Tokenizers with all words, without padding and unknown words."""
    options = settings.pick(*settings.text_options)
    sides, specials = zip(*pairs, strict=True), ((), ("<s>", "</s>"))
    return [
        WordTokenizer.train(texts, specials=special, **options)
        for texts, special in zip(sides, specials, strict=True)
    ]


def guha_model(settings, source, target):
    """A GRU encoder, and a GRU decoder after additive attention with biases."""
    cell = FastGRUCell(settings.units, reset_after=False)
    return models.Translator(
        models.Encoder(
            source.vocabulary_size,
            cell,
            embedding_dim=256,
            bidirectional=False,
            pad_id=source.pad_id,
        ),
        models.Decoder(
            target.vocabulary_size,
            cell,
            embedding_dim=256,
            attention=BahdanauAttention(settings.units, use_bias=True),
            placement="before",
            bridge="copy",
        ),
    )


def preset_for(corpus):
    """The default preset for a corpus."""
    first = names(corpus or "phrasebook")[0]
    if first not in NAMES:
        return "own"
    return "phrasebook" if first == "phrasebook" else "best"


def main():
    settings = training.read_settings(PRESETS, preset_for, __doc__)
    parts = {"load_pairs": load_pairs}
    if settings.model == "guha":
        parts["build_tokenizers"] = guha_tokenizers
        parts["build_model"] = guha_model
    translate.run(settings, languages=("English", "Hindi"), **parts)


if __name__ == "__main__":
    main()
