"""Trains and exports a language model, on any text.

    python recipes/language_model.py                    # built-in sentences
    python recipes/language_model.py --corpus mine.txt  # a sentence a line
    python recipes/language_model.py --corpus a.txt --from OTHER/language.keras
    python recipes/language_model.py --corpus a.txt \
        --backwards-of OTHER/language.keras --output BACKWARDS

A run writes `language.keras`, a SavedModel in `OUTPUT/VERSION/` and
`card.json`. The same command resumes an interrupted run, and continues a
finished one if `--epochs` is increased.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import dataclasses
from pathlib import Path
from typing import Literal

import keras
from corpora.hindi_phrasebook import english_sentences

from kerasrnn import layers
from kerasrnn import metrics
from kerasrnn import models
from kerasrnn import training


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.Settings):
    saved = training.Settings.saved | {
        *("tokens", "vocabulary_size", "cell", "units", "micro_steps", "depth"),
        *("attention", "memory", "blocks", "embedding_dim", "tie_embeddings"),
        *("frequencies", "uniform", "dropout", "recurrent_dropout", "window"),
        *("word_dropout", "augmented_loss", "loss_temperature", "batch_size"),
        *("residual", "sampled_words", "backwards_of"),
    }
    not_identity = training.Settings.not_identity | {
        *("corpus", "dev", "test", "dynamic"),
    }
    needs = training.Settings.needs | {
        **training.cell_needs(),
        "memory": ("attention",),
        "blocks": ("attention", "transformer"),
        "loss_temperature": ("augmented_loss",),
    }

    output: Path = Path("saved_models/language_model")
    corpus: str = "phrasebook"
    """phrasebook, ptb, or the path of a text or a table of texts."""
    text_column: str | None = None
    """Column of the texts of a table; default: review, text or sentence."""
    dev: Path | None = None
    """Validation text; default: the last tenth of the corpus."""
    test: Path | None = None
    """Test text, scored at the end."""
    tokens: Literal["words", "characters", "subwords"] = "words"
    """Units to predict; words are separated by spaces."""
    vocabulary_size: training.Count = 10_000
    """Maximum number of tokens."""
    cell: training.CellName = "rhn"
    """Recurrent cell."""
    units: training.Count = 348
    """Width of the cell."""
    micro_steps: training.Count | None = 5
    """Micro-steps of an RHN or GAM-RHN in a time step."""
    depth: training.Count = 1
    """Number of recurrent layers."""
    residual: bool = False
    """Whether each layer is a residual block around the cell."""
    attention: training.PastAttentionName | None = None
    """Attention to earlier outputs, or transformer or sha blocks."""
    memory: training.Count = 32
    """Number of earlier steps that attention can see."""
    blocks: training.Count = 1
    """Transformer blocks above each recurrent layer."""
    embedding_dim: training.Count | None = None
    """Width of the embeddings; default: the width of the cell."""
    tie_embeddings: bool = True
    """Whether the output layer shares the weights of the embeddings."""
    frequencies: bool = True
    """Whether the output bias starts at the log token frequencies."""
    uniform: training.Positive | None = None
    """Bound of uniform initial embeddings; default: normal embeddings."""
    dropout: training.Rate = 0.3
    """Dropout rate of embeddings, between layers and of outputs."""
    recurrent_dropout: training.Rate = 0.2
    """Dropout rate of the state."""
    word_dropout: training.Rate = 0.1
    """Dropout rate of whole words."""
    augmented_loss: training.NotNegative = 0.0
    """Weight of the augmented loss, which also rewards similar words."""
    loss_temperature: training.Positive = 10.0
    """Temperature of the augmented loss."""
    sampled_words: training.Count | None = None
    """Words sampled per batch for the softmax; default: all words."""
    backwards_of: training.Existing | None = None
    """Saved forward model, from which to train one that reads backwards."""
    epochs: training.Count = 12
    batch_size: training.Count = 20
    """Rows in a batch."""
    window: training.Count = 35
    """Steps of truncated backpropagation."""
    learning_rate: training.Positive = 2e-3
    dynamic: bool = True
    """Whether to report dynamic evaluation as well."""
    xla: bool = False
    """Export programs for XLA: faster predictions, but the first start takes
    minutes."""

    def __post_init__(self):
        super().__post_init__()
        self.need_own_corpus("phrasebook", "dev", "test", "text_column")
        self.need_other_folder("backwards_of")

    def without_effect(self):
        idle = super().without_effect()
        if self.backwards_of:
            idle |= self.saved - {"backwards_of"}
        return idle


PRESETS = {
    "phrasebook": Settings(units=128, micro_steps=3, epochs=5, window=20),
    "own": Settings(
        tokens="subwords", vocabulary_size=4000, dtype="auto", ema=0.998
    ),
}


def load_corpus(settings):
    """Returns the lines for training, validation and test."""
    from kerasrnn import data

    if settings.corpus != "phrasebook":
        path = data.find_corpus(settings.corpus, settings.data_dir)
        others = settings.pick("dev", "test", "limit", "text_column").values()
        return data.read_text_corpus(path, *others)
    lines = english_sentences(settings.seed)
    return data.split_text_corpus(lines[: settings.limit])


def build_tokenizer(settings, lines):
    from kerasrnn import data
    from kerasrnn import tokenizers

    size, options = settings.vocabulary_size, {"lowercase": False}
    if settings.tokens == "subwords":
        lines = data.sample_rows(lines)
        return tokenizers.SentencePieceTokenizer.train(lines, size, **options)
    words = settings.tokens == "words"
    kind = tokenizers.WordTokenizer if words else tokenizers.CharacterTokenizer
    return kind.train(lines, size, specials=("</s>", "<unk>"), **options)


def build_model(settings, tokenizer):
    parts = settings.cell, settings.units, settings.micro_steps
    cell = training.build_cell(*parts, **settings.pick("recurrent_dropout"))
    if settings.residual:
        # Matrix memories have gates and projections of their own.
        has_gate = settings.cell in ("gated_delta", "mlstm", "mamba2")
        cell = layers.ResidualBlockCell(cell, gate=not has_gate)
    past = settings.pick("memory", "blocks", "dropout")
    cell = training.add_attention(cell, settings.attention, **past)
    names = "depth", "tie_embeddings", "dropout", "word_dropout", "batch_size"
    losses = "augmented_loss", "loss_temperature", "sampled_words"
    options = settings.pick(*names, *losses)
    if bound := settings.uniform:
        uniform = keras.initializers.RandomUniform(-bound, bound)
        options |= {"embedding_scale": 1.0, "embeddings_initializer": uniform}
    size, width = tokenizer.vocabulary_size, settings.embedding_dim
    model = models.LanguageModel(size, cell, width, **options)
    model.build()
    return model


def build_language(settings, corpus, build_tokenizer):
    """Returns the model as a pipeline."""
    # Imported here, because presets and models do not need TensorFlow.
    from kerasrnn import data
    from kerasrnn import pipelines

    if settings.start_from:
        return pipelines.TextLanguageModel.open(settings.start_from)
    if settings.backwards_of:
        forwards = pipelines.TextLanguageModel.open(settings.backwards_of)
        if forwards.go_backwards:
            raise data.CorpusError(
                "The model of `backwards_of` must read forwards. "
                f"Received: {settings.backwards_of}, which reads backwards"
            )
        return forwards.opposite()
    tokenizer = build_tokenizer(settings, corpus.train)
    model = build_model(settings, tokenizer)
    language = pipelines.TextLanguageModel(model, tokenizer, settings.window)
    if settings.frequencies:
        language.assign_frequencies(corpus.train)
    return language


def run(settings, load_corpus=load_corpus, build_tokenizer=build_tokenizer):
    """Trains, evaluates and exports; other recipes pass their own texts."""
    from kerasrnn import data
    from kerasrnn import pipelines

    with pipelines.Run(settings, ("tensorflow", "jax")) as this_run:
        corpus = load_corpus(settings)
        language = build_language(settings, corpus, build_tokenizer)
        for name, lines in corpus._asdict().items():
            # For a saved pipeline, `fit` warns of the training set.
            if lines and not (settings.start_from and name == "train"):
                some = data.sample_rows(lines)
                data.warn_of_unseen(some, language.tokenizer, name)
        batches = language.batches(corpus.train)
        optimizer = training.build_optimizer(settings, len(batches), 200)
        loss, costs = training.TokenCrossentropy(-1), metrics.Perplexity(-1)
        language.compile(optimizer, loss, [costs, metrics.TokenAccuracy(-1)])
        train, dev, test = corpus
        this_run.fit(language, train, dev, batches.prefetch(2))
        this_run.finish(
            *(language, dev, test),
            scoring=settings.pick("dynamic"),
            showing=settings.pick("seed"),
            lengths=data.length_table(corpus),
        )


def main():
    run(training.read_settings(PRESETS, description=__doc__))


if __name__ == "__main__":
    main()
