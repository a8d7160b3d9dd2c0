"""Trains and exports a text classifier, on any labelled texts.

    python recipes/classify.py                       # generated film reviews
    python recipes/classify.py --corpus mine.csv --text-column body

See `translate.py` for the files that a run writes and how to resume it.
"""

import quiet  # noqa: F401  # isort: skip
import dataclasses
import math
from pathlib import Path
from typing import Literal

import keras
from corpora.generated_reviews import generated_reviews
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from kerasrnn import data
from kerasrnn import models
from kerasrnn import pipelines
from kerasrnn import tokenizers
from kerasrnn import training


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.EncoderSettings):
    """Settings of data, model and training; `SIZES` replaces `None`."""

    saved = training.EncoderSettings.saved | {
        *("lowercase", "clean_reviews", "special", "drop_stop_words"),
        *("vocabulary_size", "max_tokens", "vectors", "train_vectors"),
        *("summary", "attention", "embedding_dim"),
    }
    not_identity = training.Settings.not_identity | {
        *("corpus", "test", "calibrate", "tune_thresholds"),
    }
    needs = training.EncoderSettings.needs | {
        "attention": ("summary", "attention", "decoder"),
        "embedding_dim": ("vectors", None, "skip-gram", "cbow"),
        "train_vectors": ("vectors",),
        "label_separator": ("multi_label",),
        "tune_thresholds": ("multi_label",),
    }

    output: Path = Path("saved_models/classify")
    corpus: str = "generated"
    """generated, imdb, or the path of a table or a folder of folders."""
    text_column: str | None = None
    """Column of the texts; default: review, text or sentence."""
    label_column: tuple[str, ...] = ()
    """Column of the labels, default: sentiment or label; or a 0/1 one each."""
    multi_label: bool = False
    """Whether a text may have several labels: a list, or columns of 0 and 1."""
    label_separator: str | None = None
    """What separates several labels in a cell, such as a comma."""
    group_column: str | None = None
    """Column of what a text is about or by; no such group is split."""
    test: training.Existing | None = None
    """Labelled test texts, scored at the end."""
    dev_size: training.Count = 2500
    """Texts to hold out for validation: at most a fifth of them."""
    lowercase: bool = False
    """Whether the model works in lower case."""
    clean_reviews: bool = False
    """Whether to remove HTML and spell out abbreviations (u, imho)."""
    special: Literal["apart", "drop", "keep"] = "apart"
    """Punctuation and symbols: separate words, removed, or kept."""
    drop_stop_words: bool = False
    """Whether to remove frequent English words, which include negations."""
    vocabulary_size: training.Count | None = 30_000
    """Number of most frequent words to keep; None for all."""
    max_tokens: training.Count = 400
    """Truncate texts to so many words."""
    vectors: Literal["skip-gram", "cbow"] | training.Existing | None = None
    """Word vectors: trained on all texts, or a file of word2vec or GloVe."""
    train_vectors: bool = True
    """Whether to train the word vectors further."""
    summary: Literal["last", "pooled", "attention", "decoder"] = "attention"
    """How to reduce a text to one vector; see `TextClassifier`."""
    attention: training.AttentionName | None = "additive"
    """Attention of a summary by attention or decoder."""
    embedding_dim: training.Count = 100
    """Width of the embeddings, also of word vectors that are trained."""
    dropout: training.Rate = 0.5
    label_smoothing: training.Rate = 0.0
    """Share of each label that is spread over all classes."""
    calibrate: bool = True
    """Whether held-out texts set the temperature of the probabilities."""
    tune_thresholds: bool = False
    """Whether they set the thresholds of several labels, for the highest F1."""
    schedule: Literal["cosine", "constant"] = "cosine"
    """Schedule of the learning rate."""
    learning_rate: training.Positive = 1e-3
    clip: training.Positive = 5.0

    def __post_init__(self):
        super().__post_init__()
        if self.summary == "attention" and self.attention is None:
            raise ValueError("`summary` needs one. Expected: an `attention`.")
        if len(self.label_column) > 1 and not self.multi_label:
            raise ValueError("Several of `label_column` need `multi_label`.")
        own = "test", "text_column", "label_column", "group_column"
        for name in (*own, "multi_label"):
            if self.corpus == "generated" and getattr(self, name):
                raise ValueError(f"`{name}` needs a `corpus` of your own.")


SIZES = {  # for a corpus of up to so many texts
    4_000: {"units": 32, "batch_size": 16, "epochs": 12},
    20_000: {"units": 64, "batch_size": 32, "epochs": 5},
    math.inf: {"units": 128, "batch_size": 64, "epochs": 2},
}
PRESETS = {
    "generated": Settings(
        lowercase=True,
        clean_reviews=True,
        dev_size=400,
        embedding_dim=32,
        epochs=4,
        batch_size=32,
    ),
    "own": Settings(),
}


def load_corpus(settings):
    if settings.corpus == "generated":
        texts = generated_reviews(settings.limit or 4000, settings.seed)
        return data.LabelledCorpus(texts, None, [], ["negative", "positive"])
    saved, columns = settings.start_from, settings.label_column
    names = pipelines.TextLabeller.open(saved).labels if saved else None
    return data.read_labelled_corpus(
        data.find_corpus(settings.corpus, settings.data_dir),
        *(settings.text_column, columns, settings.limit, names, settings.test),
        **settings.pick("group_column", "multi_label", "label_separator"),
    )


def load_parts(settings):
    """Returns the corpus, and texts held out from it for validation."""
    corpus, seed = load_corpus(settings), settings.seed
    return data.split_labelled_corpus(corpus, settings.dev_size, seed)


def build_tokenizer(settings, texts):
    return tokenizers.ReviewTokenizer.train(
        texts,
        settings.vocabulary_size,
        specials=("<unk>", "<pad>", "</s>"),
        expand_abbreviations=settings.clean_reviews,
        strip_html=settings.clean_reviews,
        stop_words=ENGLISH_STOP_WORDS if settings.drop_stop_words else (),
        **settings.pick("lowercase", "special"),
    )


def build_model(settings, tokenizer, classes, embedding_dim):
    deep = settings.depth > 1  # one dropout after each layer
    cell = training.build_cell(settings.cell, settings.units)
    summary = settings.summary
    if summary == "attention":
        summary = models.AttentionSummary(settings.attention, settings.units)
    elif summary == "decoder":
        summary = models.DecoderSummary(cell, settings.attention)
    model = models.TextClassifier(
        models.Encoder(
            tokenizer.vocabulary_size,
            cell,
            embedding_dim,
            dropout=settings.dropout if deep else 0.0,
            embedding_dropout=0.0,
            pad_id=tokenizer.pad_id,
            **settings.pick("depth", "bidirectional", "word_dropout"),
        ),
        summary,
        num_classes=classes if settings.multi_label or classes > 2 else 1,
        dropout=0.0 if deep else settings.dropout,
    )
    model.build((None, None))
    return model


def build_optimizer(settings, texts):
    steps = settings.epochs * math.ceil(texts / settings.batch_size)
    rate = settings.learning_rate
    if settings.schedule == "cosine":
        rate = training.cosine_schedule(rate, steps, min(100, steps // 10))
    return keras.optimizers.Adam(rate, global_clipnorm=settings.clip)


def build_labeller(settings, corpus):
    """Returns the model as a pipeline, with word vectors if there are any."""
    texts, names = corpus.train.texts, corpus.label_names
    if settings.start_from:
        labeller = pipelines.TextLabeller.open(settings.start_from)
        saved = list(labeller.labels), labeller.multi_label
        if saved != (list(names), settings.multi_label):
            raise data.CorpusError(
                "Labels and `multi_label` must be those of the pipeline to "
                f"start from. Expected: {saved}. "
                f"Received: {names}, {settings.multi_label}"
            )
        return labeller
    tokenizer, width = build_tokenizer(settings, texts), settings.embedding_dim
    if settings.vectors:
        vectors, _ = data.load_word_vectors(
            *(settings.vectors, tokenizer, texts + corpus.unlabelled),
            *(settings.output, width, settings.seed),
        )
        width = vectors.shape[1]
    model = build_model(settings, tokenizer, len(names), width)
    if settings.vectors:
        model.encoder.embedding.assign_vectors(vectors)
        model.encoder.embedding.trainable = settings.train_vectors
    given = model, tokenizer, names, settings.max_tokens
    return pipelines.TextLabeller(*given, multi_label=settings.multi_label)


def run(settings, load_parts=load_parts, build_labeller=build_labeller):
    """Trains, evaluates and exports; the studies call it."""
    with pipelines.Run(settings) as this_run:
        corpus, dev = load_parts(settings)
        held_out = data.how_held_out(corpus, dev)
        settings = this_run.by_size(len(corpus.train.texts), SIZES)
        labeller = build_labeller(settings, corpus)
        labeller.compile(
            build_optimizer(settings, len(corpus.train.texts)),
            labeller.default_loss(settings.label_smoothing),
        )
        # Word vectors are trained on texts without a label, too.
        more = {"unlabelled": training.fingerprint(corpus.unlabelled)}
        this_run.fit(labeller, corpus.train, dev, **more)
        if settings.calibrate:
            labeller.task().calibrate(dev)
        if settings.tune_thresholds:
            labeller.task().tune_thresholds(dev)
        return this_run.finish(labeller, dev, corpus.test, held_out=held_out)


def preset_for(corpus):
    return "generated" if corpus in (None, "generated") else "own"


def main():
    run(training.read_settings(PRESETS, preset_for, __doc__))


if __name__ == "__main__":
    main()
