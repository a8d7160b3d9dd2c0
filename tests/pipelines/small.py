"""A tiny pipeline of each kind, on a few made-up texts."""

import keras
import numpy as np
import pandas

from kerasrnn.data import id_rows
from kerasrnn.data import translation_lexicon
from kerasrnn.data.series.times import calendar_names
from kerasrnn.decoding import GreedySearch
from kerasrnn.layers import CRF
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import AttentionSummary
from kerasrnn.models import CharacterReader
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Forecaster
from kerasrnn.models import LanguageModel
from kerasrnn.models import Lexicon
from kerasrnn.models import NgramEmbedding
from kerasrnn.models import Shortlist
from kerasrnn.models import Tagger
from kerasrnn.models import TextClassifier
from kerasrnn.models import Translator
from kerasrnn.pipelines import SeriesForecaster
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines import TextLanguageModel
from kerasrnn.pipelines import TextTagger
from kerasrnn.pipelines import TextTranslator
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import ReviewTokenizer
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import WordTokenizer
from tests.helpers import randomize

PAIRS = [
    ("the red book.", "Lal kitab, sahib."),
    ("who knows?", "Kise pata?"),
    ("a blue house.", "Nila ghar."),
    ("who is there?", "Kaun hai?"),
] * 2
SOURCES = [source for source, _ in PAIRS]
REVIEWS = ["a fine film", "dull", "not a fine story", "long and dull"]
CLASSES = ["good", "bad", "fair", "bad"]


def translator():
    source = SentencePieceTokenizer.train(SOURCES, 40)
    target = WordTokenizer.train(
        [target for _, target in PAIRS],
        lowercase=False,
        separate_punctuation=True,
    )
    sizes = source.vocabulary_size, target.vocabulary_size
    lexicon = Lexicon(*sizes, translations=4)
    lexicon.assign(*translation_lexicon(PAIRS, source, target, translations=4))
    cell = keras.layers.GRUCell(8)
    model = Translator(
        Encoder(sizes[0], cell, 8), Decoder(sizes[1], cell, 8, lexicon=lexicon)
    )
    randomize(model)
    # Words come first and the end later.
    bias = model.decoder.output_projection.bias
    bias.assign(bias - 3.0 * (np.arange(sizes[1]) < 4))
    search = GreedySearch(max_length=12, min_length=1)
    shortlist = Shortlist(lexicon, size=10, frequent=4)
    return TextTranslator(
        model, source, target, search, max_length=20, shortlist=shortlist
    )


def labeller():
    tokenizer = ReviewTokenizer.train(REVIEWS, special="apart")
    ngrams = NgramEmbedding(8, 3, rank=2)
    ngrams.adapt(id_rows(REVIEWS, tokenizer), min_count=2)
    encoder = Encoder(
        tokenizer.vocabulary_size,
        keras.layers.GRUCell(4),
        3,
        pad_id=tokenizer.pad_id,
        ngrams=ngrams,
    )
    model = TextClassifier(
        encoder, AttentionSummary("additive", 4), num_classes=3
    )
    model.build((None, None))
    randomize(model)
    return TextLabeller(model, tokenizer, ["bad", "fair", "good"], 3)


def language():
    tokenizer = WordTokenizer.train(SOURCES, specials=("</s>", "<unk>"))
    model = LanguageModel(
        tokenizer.vocabulary_size, keras.layers.GRUCell(4), batch_size=2
    )
    model.build()
    randomize(model)
    return TextLanguageModel(model, tokenizer, window=3)


TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
NAMES = "Anna/B-PER Maria/I-PER lives/O in/O Rome/B-LOC ./O"
OTHER = "दिल्‍ली/B-LOC and/O Bob/B-PER 😀/O"


def sentence(text):
    """The pairs of `word/tag`."""
    return [tuple(word.split("/")) for word in text.split()]


SENTENCES = 6 * [sentence(NAMES), sentence(OTHER)]


def tagger(scheme="IOB2", tags=TAGS, more=()):
    """A tagger of the names in `SENTENCES`, untrained."""
    specials = {"specials": ("<pad>", "<unk>")}
    texts = [word for row in SENTENCES[:2] for word, _ in row] + [*more]
    words = WordTokenizer.train(texts, **specials)
    characters = CharacterTokenizer.train(texts, lowercase=False, **specials)
    model = Tagger(
        words.vocabulary_size,
        len(tags),
        FastGRUCell(8),
        8,
        CharacterReader(characters.vocabulary_size, filters=6),
        crf=CRF(tags, scheme) if scheme else None,
        dropout=0.1,
    )
    model.build()
    return TextTagger(model, words, tags, characters, scheme)


def series(count=160, gaps=0.0, step="h"):
    """A DataFrame of two days' waves in two columns, some of it missing."""
    rng = np.random.default_rng(0)
    hours = np.arange(count)
    load = 500 + 90 * np.sin(2 * np.pi * hours / 24) + rng.normal(0, 5, count)
    temp = 15 + 4 * np.cos(2 * np.pi * hours / 24) + rng.normal(0, 0.2, count)
    times = pandas.date_range("2024-05-01", periods=count, freq=step)
    frame = pandas.DataFrame({"date": times, "load": load, "temp": temp})
    for column in ("load", "temp"):
        frame.loc[rng.random(count) < gaps, column] = np.nan
    return frame


def forecaster(head="mae", **options):
    """A forecaster of `series`, untrained: a day from two days."""
    options = {"segment": 6, "window": "last", "dropout": 0.1, **options}
    model = Forecaster(FastGRUCell(8), 12, 2, head=head, **options)
    known = calendar_names(["hour"])[: model.known]
    static = ["size"][: model.static]
    return SeriesForecaster(
        model, ["load", "temp"], 48, "h", 24, known=known, static=static
    )
