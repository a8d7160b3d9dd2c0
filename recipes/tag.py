"""Trains and exports a tagger of words: names, phrases, parts of speech.

    python recipes/tag.py                              # generated sentences
    python recipes/tag.py --corpus train.conll --dev dev.conll
    python recipes/tag.py --corpus vi-train.conllu     # parts of speech
    python recipes/tag.py --corpus more.conll --from OTHER/tagger.keras
    python recipes/tag.py --corpus train.conll --backbone bert_tiny_en_uncased

See `translate.py` for the files that a run writes and how to resume it.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import collections
import dataclasses
import itertools
import math
from pathlib import Path
from typing import Literal

from corpora.tagged_sentences import tagged_sentences

from kerasrnn import data
from kerasrnn import layers
from kerasrnn import models
from kerasrnn import pipelines
from kerasrnn import tokenizers
from kerasrnn import training

SPECIALS = ("<pad>", "<unk>")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.BackboneSettings):
    """Settings of data, model and training; `SIZES` replaces `None`."""

    saved = training.BackboneSettings.saved | {
        *("scheme", "lowercase", "min_count", "vectors", "embedding_dim"),
        *("characters", "character_units", "crf", "words_as"),
    }
    not_identity = training.Settings.not_identity | {
        *("corpus", "dev", "test", "class_weight"),
    }
    needs = training.BackboneSettings.needs | {
        "embedding_dim": ("vectors", None),
        "character_units": ("characters",),
        "dev_size": ("dev", None),
        "class_weight": ("crf", False),
        "words_as": ("backbone",),
    }

    output: Path = Path("saved_models/tagger")
    corpus: str = "generated"
    """generated, or a file: CoNLL, word TAB tag, CSV, JSON lines."""
    word_column: str | None = None
    """Word column, a name or a number from 1; default: the first."""
    tag_column: str | None = None
    """Tag column; default: the last, UPOS or ner_tags."""
    sentence_column: str | None = None
    """Column that identifies the sentence, if each row has one word."""
    dev: training.Existing | None = None
    """Validation sentences; default: held out from the corpus."""
    test: training.Existing | None = None
    """Test sentences, scored at the end."""
    dev_size: training.Count = 2000
    """Number of validation sentences to hold out, at most a fifth."""
    scheme: Literal["IOB1", "IOB2", "BIOES", "BILOU"] = "BIOES"
    """Tag scheme of the model; tags of the corpus are converted."""
    lowercase: bool = True
    """Whether to look up words in lower case; characters keep their case."""
    min_count: training.Count = 2
    """Words that occur less often than this share one embedding."""
    vectors: training.Existing | None = None
    """Word vectors, a file of word2vec, GloVe or fastText."""
    embedding_dim: training.Count = 100
    """Width of the embeddings of words."""
    characters: Literal["recurrent", "convolution"] | None = "recurrent"
    """Layer that reads the characters of each word."""
    character_units: training.Count = 32
    """Width of the layer for characters, in each direction."""
    crf: bool = True
    """Whether a CRF predicts the tags of a sentence jointly."""
    words_as: Literal["first", "mean"] = "first"
    """Vector of a word from the backbone: of its first subword, or the mean."""
    class_weight: Literal["balanced"] | None = None
    """Class weights; balanced: all tags have the same total weight."""
    dropout: training.Rate = 0.5
    word_dropout: training.Rate = 0.0
    cell: training.CellName = "lstm"
    learning_rate: training.Positive = 2e-3
    clip: training.Positive = 5.0

    def __post_init__(self):
        super().__post_init__()
        columns = "word_column", "tag_column", "sentence_column"
        self.need_own_corpus("generated", "dev", "test", *columns)


SIZES = {  # for a corpus of up to this many sentences
    4_000: {"units": 64, "batch_size": 16, "epochs": 15},
    math.inf: {"units": 128, "batch_size": 32, "epochs": 20},
}
PRESETS = {
    "generated": Settings(units=32, character_units=16, epochs=5),
    "own": Settings(),
}


def read(path, settings):
    """Returns the sentences of a file and their tag scheme."""
    columns = settings.word_column, settings.tag_column, None
    sentences = data.read_tagged_words(path, *columns, settings.sentence_column)
    sentences = sentences[: settings.limit]
    tags = ([tag for _, tag in sentence] for sentence in sentences)
    return sentences, data.tag_scheme(tags)


def has_tags(sentences):
    return any(tag != "O" for sentence in sentences for _, tag in sentence)


def load_parts(settings):
    """Returns training, validation and test sentences, and their tag scheme."""
    if settings.corpus == "generated":
        generated = tagged_sentences(settings.limit or 3000, settings.seed)
        parts = [(generated, "IOB2"), None, None]
    else:
        path = data.find_corpus(settings.corpus, settings.data_dir)
        files = path, settings.dev, settings.test
        parts = [file and read(file, settings) for file in files]
    found = [x[1] or "none" for x in parts if x and has_tags(x[0])]
    if "none" in found and len(set(found)) > 1:
        message = f"All files must tag phrases, or none. Received: {found}"
        raise data.CorpusError(message)
    scheme, wanted = parts[0][1], settings.scheme
    if settings.start_from:
        wanted = pipelines.TextTagger.open(settings.start_from).scheme
    if None in (scheme, wanted):
        print("The tags belong to single words, not to phrases.")
        wanted, parts = None, [part and part[0] for part in parts]
    else:
        print(f"The tags mark phrases ({scheme}). The model predicts {wanted}.")
        parts = [part and convert(part, scheme, wanted) for part in parts]
    if parts[1] is None:
        parts[:2] = hold_out(parts[0], settings)
    return parts, wanted


def hold_out(sentences, settings):
    """Returns training and validation sentences."""
    words = [[word for word, _ in sentence] for sentence in sentences]
    rows = data.Rows({"words": words, "sentence": sentences})
    size = max(1, min(settings.dev_size, len(sentences) // 5))
    parts = data.split_rows(rows, size, settings.seed, by="words")
    return [part["sentence"] for part in parts]


def convert(part, usual, wanted):
    """Converts the tags of sentences to the wanted scheme."""
    (sentences, scheme), converted, broken = part, [], 0
    for sentence in sentences:
        words, tags = zip(*sentence, strict=True)
        kept = data.convert_tags(tags, scheme or usual)
        broken += sum(a != b for a, b in zip(tags, kept, strict=True))
        tags = data.convert_tags(tags, wanted)
        converted.append(list(zip(words, tags, strict=True)))
    if broken:
        print(f"Tags corrected because they break {scheme}: {broken}.")
    return converted


def build_words(settings, texts):
    """Returns the vocabulary of words, which may contain spaces."""
    options = settings.pick("lowercase")
    texts = tokenizers.WordTokenizer(**options).normalize_all(texts)
    counts = collections.Counter(texts).most_common()
    frequent = [word for word, n in counts if word and n >= settings.min_count]
    return tokenizers.WordTokenizer([*SPECIALS, *frequent], **options)


def build_reader(settings, characters):
    """Returns the layer that reads the characters of words, or `None`."""
    if settings.characters is None:
        return None
    units, cell = settings.character_units, None
    if settings.characters == "recurrent":
        cell = training.build_cell(settings.cell, units)
    return models.CharacterReader(
        characters.vocabulary_size,
        cell,
        filters=2 * units,
        dropout=settings.dropout / 2,
        pad_id=characters.pad_id,
    )


def build_tagger(settings, sentences, others, scheme):
    """Returns the model as a pipeline, with word vectors if there are any."""
    if settings.start_from:
        return pipelines.TextTagger.open(settings.start_from)
    texts = [word for sentence in sentences for word, _ in sentence]
    everything = itertools.chain(sentences, *filter(None, others))
    tags = {tag for sentence in everything for _, tag in sentence}
    tags = sorted(tags, key=lambda tag: (tag != "O", *reversed(tag.split("-"))))
    words = build_words(settings, texts)
    train = tokenizers.CharacterTokenizer.train
    characters = train(texts, specials=SPECIALS, lowercase=False)
    vectors, width = None, settings.embedding_dim
    if settings.vectors:
        vectors, _ = data.load_word_vectors(
            settings.vectors, words, seed=settings.seed
        )
        width = vectors.shape[1]
    pieces = reader = None
    if settings.backbone:
        pieces, reader = pipelines.load_backbone(
            settings.backbone,
            **settings.backbone_options,
            **settings.pick("words_as"),
        )
    crf = layers.CRF(tags if scheme else None, scheme) if settings.crf else None
    model = models.Tagger(
        words.vocabulary_size,
        len(tags),
        training.build_cell(settings.cell, settings.units),
        width,
        build_reader(settings, characters),
        crf=crf,
        pad_id=words.pad_id,
        backbone=reader,
        factorized=reader is not None,
        **settings.pick("depth", "bidirectional", "dropout", "word_dropout"),
    )
    model.build()
    if vectors is not None:
        model.embedding.assign_vectors(vectors)
    read = characters if settings.characters else None
    return pipelines.TextTagger(model, words, tags, read, scheme, pieces=pieces)


def run(settings):
    """Trains, evaluates and exports."""
    with pipelines.Run(settings) as this_run:
        (train, dev, test), scheme = load_parts(settings)
        settings = this_run.by_size(len(train), SIZES)
        tagger = build_tagger(settings, train, [dev, test], scheme)
        steps = math.ceil(len(train) / settings.batch_size)
        tagger.compile(training.build_optimizer(settings, steps))
        weights = settings.pick("class_weight")
        this_run.fit(tagger, train, dev, **weights)
        return this_run.finish(tagger, dev, test)


def main():
    run(training.read_settings(PRESETS, description=__doc__))


if __name__ == "__main__":
    main()
