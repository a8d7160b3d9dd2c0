"""Trains and exports a text classifier, on any labelled texts.

    python recipes/classify.py                       # generated film reviews
    python recipes/classify.py --corpus mine.csv --text-column body

See `translate.py` for the files that a run writes and how to resume it.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import dataclasses
import math
from pathlib import Path
from typing import Literal

import keras
from corpora.generated_reviews import generated_reviews
from corpora.movie_reviews import read_movie_reviews
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from kerasrnn import data
from kerasrnn import models
from kerasrnn import pipelines
from kerasrnn import tokenizers
from kerasrnn import training


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.ClassificationSettings):
    """Settings of data, model and training; `SIZES` replaces `None`."""

    not_identity = training.ClassificationSettings.not_identity | {
        *("corpus", "test", "class_weight"),
    }
    needs = training.ClassificationSettings.needs | {
        "label_separator": ("multi_label",),
        "class_weight": ("multi_label", False),
    }

    output: Path = Path("saved_models/classify")
    corpus: str = "generated"
    """generated, imdb, or the path of a table or a folder of folders."""
    text_column: str | None = None
    """Column of the texts; default: review, text or sentence."""
    label_column: tuple[str, ...] = ()
    """Label column, or one column of 0 and 1 per label; default: sentiment or
    label."""
    label_separator: str | None = None
    """Separator of several labels in a cell, such as a comma."""
    group_column: str | None = None
    """Column such as author or product, whose texts are held out together."""
    test: training.Existing | None = None
    """File of labelled test texts, scored at the end."""
    class_weight: Literal["balanced"] | None = None
    """Class weights; balanced: all labels have the same total weight."""

    def __post_init__(self):
        super().__post_init__()
        if len(self.label_column) > 1 and not self.multi_label:
            raise ValueError(
                "Several columns as `label_column` need `multi_label`. "
                f"Received: label_column={self.label_column}"
            )
        own = "test", "text_column", "label_column", "group_column"
        self.need_own_corpus("generated", *own, "multi_label")


SIZES = {  # for a corpus of up to this many texts
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
    path = data.find_corpus(settings.corpus, settings.data_dir)
    if path.name.endswith((".tgz", ".tar.gz")):
        return read_movie_reviews(path, settings.limit, names)
    return data.read_labelled_corpus(
        *(path, settings.text_column, columns, settings.limit, names),
        settings.test,
        **settings.pick("group_column", "multi_label", "label_separator"),
    )


def load_parts(settings):
    """Returns the corpus and held-out validation texts."""
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


def build_ngrams(settings, tokenizer, texts, width):
    """Returns embeddings of frequent n-grams, or `None`."""
    if not settings.ngrams:
        return None
    ngrams = models.NgramEmbedding(settings.ngrams, width, dropout=0.3)
    count = ngrams.adapt(data.id_rows(texts, tokenizer, settings.max_tokens))
    print(f"{count:,} pairs and triples of words have embeddings.")
    return ngrams


def build_encoder(settings, tokenizer, corpus, backbone=None):
    """Returns a new encoder, with the backbone or word vectors if any."""
    width, texts = settings.embedding_dim, corpus.train.texts
    if settings.vectors:
        vectors, _ = data.load_word_vectors(
            *(settings.vectors, tokenizer, texts + corpus.unlabelled),
            *(settings.output, width, settings.seed),
        )
        width = vectors.shape[1]
    encoder = models.Encoder(
        tokenizer.vocabulary_size,
        training.build_cell(settings.cell, settings.units),
        width,
        dropout=settings.dropout if settings.depth > 1 else 0.0,
        embedding_dropout=0.0,
        pad_id=tokenizer.pad_id,
        ngrams=build_ngrams(settings, tokenizer, texts, width),
        backbone=backbone,
        factorized=backbone is not None,
        **settings.pick("depth", "bidirectional", "word_dropout"),
    )
    encoder.build((None, None))
    if settings.vectors:
        encoder.embedding.assign_vectors(vectors)
        encoder.embedding.trainable = settings.train_vectors
    return encoder


def learnt_encoder(settings, texts):
    """Returns the tokenizer and an encoder of saved language models."""
    language, backwards = (
        path and pipelines.TextLanguageModel.open(path)
        for path in (settings.language_model, settings.backwards_model)
    )
    if language.go_backwards or (backwards and not backwards.go_backwards):
        raise data.CorpusError(
            "`language_model` must read forwards, and `backwards_model` "
            "backwards. Received: "
            f"{settings.language_model}, {settings.backwards_model}"
        )
    model, tokenizer = language.model, language.tokenizer
    encoder = models.Encoder.from_language_model(
        model,
        backwards and backwards.model,
        pad_id=tokenizer.pad_id,
        ngrams=build_ngrams(settings, tokenizer, texts, model.embedding_dim),
        dtype=keras.config.dtype_policy(),  # A saved model has float32.
        **settings.pick("word_dropout"),
    )
    return tokenizer, encoder


def build_model(settings, encoder, classes):
    summary = settings.summary
    if summary == "attention":
        units = encoder.cell.output_size
        summary = models.AttentionSummary(settings.attention, units)
    elif summary == "decoder":
        summary = models.DecoderSummary(encoder.cell, settings.attention)
    model = models.TextClassifier(
        encoder,
        summary,
        num_classes=classes if settings.multi_label or classes > 2 else 1,
        # An encoder of several layers already has dropout after each layer.
        dropout=0.0 if encoder.dropout else settings.dropout,
    )
    model.build((None, None))
    return model


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
    if settings.language_model:
        tokenizer, encoder = learnt_encoder(settings, texts)
    elif settings.backbone:
        tokenizer, reader = pipelines.load_backbone(
            settings.backbone, **settings.backbone_options
        )
        encoder = build_encoder(settings, tokenizer, corpus, reader)
    else:
        tokenizer = build_tokenizer(settings, texts)
        encoder = build_encoder(settings, tokenizer, corpus)
    model = build_model(settings, encoder, len(names))
    given = model, tokenizer, names, settings.max_tokens
    return pipelines.TextLabeller(*given, multi_label=settings.multi_label)


def run(settings, load_parts=load_parts, build_labeller=build_labeller):
    """Trains, evaluates and exports; the studies call it."""
    with pipelines.Run(settings) as this_run:
        corpus, dev = load_parts(settings)
        count, own = len(corpus.train.texts), settings.corpus != "generated"
        held_out = data.how_held_out(corpus, dev, advise=own)
        settings = this_run.by_size(count, SIZES)
        labeller = build_labeller(settings, corpus)
        loss = labeller.default_loss(settings.label_smoothing)
        steps = math.ceil(count / settings.batch_size)
        labeller.compile(training.build_optimizer(settings, steps), loss)
        # Word vectors are also trained on unlabelled texts.
        more = {"unlabelled": training.fingerprint(corpus.unlabelled)}
        more |= settings.pick("class_weight")
        this_run.fit(labeller, corpus.train, dev, **more)
        if settings.calibrate:
            labeller.task().calibrate(dev)
        if settings.tune_thresholds:
            labeller.task().tune_thresholds(dev)
        return this_run.finish(labeller, dev, corpus.test, held_out=held_out)


def main():
    run(training.read_settings(PRESETS, description=__doc__))


if __name__ == "__main__":
    main()
