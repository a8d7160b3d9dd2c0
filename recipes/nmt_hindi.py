"""Trains and exports English-to-Hindi translators: presets of `translate.py`.

    python recipes/nmt_hindi.py                     # built-in phrasebook
    python recipes/nmt_hindi.py --corpus guha       # a real corpus
    python recipes/nmt_hindi.py --preset all        # four corpora
    python recipes/nmt_hindi.py --corpus mine.tsv   # like translate.py

All flags except those of the corpus are those of `translate.py`.
"""

import dataclasses
import random
from pathlib import Path

import translate
from corpora.hindi_phrasebook import phrasebook

from kerasrnn import data
from kerasrnn import training

NAMES = ("phrasebook", "guha", "tatoeba", "tourism_health", "wiki_dev")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.TranslationSettings):
    not_identity = training.TranslationSettings.not_identity | {"corpus"}

    output: Path = Path("saved_models/nmt_hindi")
    corpus: str = "phrasebook"
    """phrasebook, guha, tatoeba, tourism_health, wiki_dev, a path, or several
    joined by +."""
    dev_corpora: training.Count = 1
    """Number of corpora, from the first, from which pairs are held out."""
    # Hindi has another script, so copied English words would be wrong.
    copy_unknown: bool = False


BEST = Settings(
    corpus="guha",
    lowercase=True,
    strip_punctuation=True,
    tokenizer="word",
    units=256,
    epochs=26,
    dtype="auto",
    # With few pairs, a model repeats itself; without repetitions, it is too
    # brief.
    length_penalty=2.0,
    no_repeat_ngram=3,
)
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
    "subwords": dataclasses.replace(
        BEST, tokenizer="unigram", vocabulary_size=4000
    ),
    # A corpus of your own.
    "own": Settings(),
}


def names(corpus):
    """Splits names or paths of corpora at +; a path may contain +."""
    return [corpus] if Path(corpus).exists() else corpus.split("+")


def load_pairs(settings):
    """Returns the pairs for training and for validation.

    The third item has the validation pairs of each of several corpora.
    """
    corpora = {name: read(name, settings) for name in names(settings.corpus)}
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
    # Some pairs of each corpus are scored after every epoch.
    random.Random(settings.seed).shuffle(dev)
    return train, dev, held_out


def read(name, settings):
    """Returns the pairs of a corpus, given by its name or path."""
    if name == "phrasebook":
        return phrasebook()[: settings.limit]
    path = data.find_corpus(name, settings.data_dir)
    return data.read_parallel_corpus(path, limit=settings.limit).pairs


def preset_for(corpus):
    """The default preset for a corpus."""
    first = names(corpus or "phrasebook")[0]
    if first not in NAMES:
        return "own"
    return "phrasebook" if first == "phrasebook" else "best"


def main():
    settings = training.read_settings(PRESETS, preset_for, __doc__)
    translate.run(settings, load_pairs, languages=("English", "Hindi"))


if __name__ == "__main__":
    main()
