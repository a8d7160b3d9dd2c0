"""Settings that several recipes share."""

import dataclasses
import typing

from kerasrnn.training.cells_by_name import CellName
from kerasrnn.training.settings import AttentionName
from kerasrnn.training.settings import Count
from kerasrnn.training.settings import Existing
from kerasrnn.training.settings import NotNegative
from kerasrnn.training.settings import Positive
from kerasrnn.training.settings import Rate
from kerasrnn.training.settings import Settings
from kerasrnn.training.settings import Whole
from kerasrnn.typing import Config


@dataclasses.dataclass(frozen=True, kw_only=True)
class EncoderSettings(Settings):
    """Settings of a recipe whose model has an `Encoder`.

    See `Settings`.

    Attributes:
        units, epochs, batch_size: Positive integers, or `None`, for which
            `by_size` chooses values by the size of the corpus.

    Example:

    >>> @dataclasses.dataclass(frozen=True, kw_only=True)
    ... class ReviewSettings(EncoderSettings):
    ...     learning_rate: Positive = 1e-3
    >>> ReviewSettings(output=pathlib.Path("out"), units=64).cell
    'gru'
    """

    saved = Settings.saved | {
        *("cell", "units", "depth", "bidirectional"),
        *("dropout", "word_dropout"),
    }

    cell: CellName = "gru"
    """Recurrent cell."""
    units: Count | None = None
    """Width of the cells; default: by the size of the corpus."""
    depth: Count = 1
    """Number of recurrent layers."""
    bidirectional: bool = True
    """Whether the encoder reads in both directions."""
    dropout: Rate = 0.3
    """Dropout rate of units after each layer."""
    word_dropout: Rate = 0.1
    """Dropout rate of whole words."""
    xla: bool = False
    """Export programs for XLA: faster predictions, but the first start takes
    minutes."""
    # `by_size` replaces `None` in the next two fields before they are read.
    epochs: Count | None = None  # type: ignore[assignment]
    batch_size: Count | None = None  # type: ignore[assignment]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BackboneSettings(EncoderSettings):
    """Settings of a recipe whose model can have a pretrained backbone.

    See `Settings`.

    Attributes:
        backbone: String, the name of a preset or the path of a folder, or
            `None`.

    Example:

    >>> settings = BackboneSettings(
    ...     output=pathlib.Path("out"), backbone="bert", learning_rate=1e-3
    ... )
    >>> settings.backbone_options["trainable"]
    False
    """

    saved = EncoderSettings.saved | {
        *("backbone", "backbone_layers", "layers_as", "backbone_rate"),
    }
    needs = {
        **EncoderSettings.needs,
        "backbone_layers": ("backbone",),
        "layers_as": ("backbone",),
        "backbone_rate": ("backbone",),
    }

    backbone: str | None = None
    """Pretrained transformer below the recurrent layers: a KerasHub preset,
    which is downloaded, or a folder."""
    backbone_layers: Count = 4
    """Number of last layers of the backbone to read."""
    layers_as: typing.Literal["concatenation", "mean"] = "concatenation"
    """How to combine these layers of the backbone."""
    backbone_rate: Positive | None = None
    """Peak learning rate of the backbone; default: it is frozen, and reads
    each text once."""

    @property
    def backbone_options(self) -> Config:
        """The arguments of `kerasrnn.pipelines.load_backbone`."""
        return {
            "trainable": self.backbone_rate is not None,
            "rate_factor": (self.backbone_rate or 0) / self.learning_rate,
            "last_layers": self.backbone_layers,
            "layers_as": self.layers_as,
        }


_TEXT = {
    *("lowercase", "clean_reviews", "special", "drop_stop_words"),
    *("vocabulary_size", "vectors", "train_vectors"),
}
# A saved language model determines these settings.
_LEARNT = _TEXT | {"cell", "units", "depth", "bidirectional", "embedding_dim"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassificationSettings(BackboneSettings):
    """Settings of the model and the training of a text classifier.

    See `Settings`. A recipe adds the settings of its data.

    Attributes:
        language_model: Path of a saved language model, or `None`. Settings that
            it determines cannot be given with it.

    Raises:
        ValueError: when the summary needs an attention mechanism that is
            missing, or a unidirectional encoder.

    Example:

    >>> settings = ClassificationSettings(output=pathlib.Path("out"))
    >>> settings.summary, settings.attention
    ('attention', 'additive')
    """

    saved = BackboneSettings.saved | {
        *_TEXT,
        *("max_tokens", "summary", "attention"),
        *("embedding_dim", "ngrams", "language_model", "backwards_model"),
    }
    not_identity = BackboneSettings.not_identity | {
        *("calibrate", "tune_thresholds"),
    }
    needs = {
        **BackboneSettings.needs,
        "attention": ("summary", "attention", "decoder"),
        "embedding_dim": ("vectors", None, "skip-gram", "cbow"),
        "train_vectors": ("vectors",),
        "backwards_model": ("language_model",),
        "tune_thresholds": ("multi_label",),
    }

    multi_label: bool = False
    """Whether a text may have several labels: a list, or columns of 0 and 1."""
    dev_size: Count = 2500
    """Texts to hold out for validation; at most a fifth of all texts."""
    lowercase: bool = False
    """Whether the model works in lower case."""
    clean_reviews: bool = False
    """Whether to remove HTML and spell out abbreviations (u, imho)."""
    special: typing.Literal["apart", "drop", "keep"] = "apart"
    """Punctuation and symbols: separate words, removed, or kept."""
    drop_stop_words: bool = False
    """Whether to remove frequent English words, which include negations."""
    vocabulary_size: Count | None = 30_000
    """Size of the vocabulary (most frequent words); None for all words."""
    max_tokens: Count = 400
    """Truncate texts to this many words."""
    vectors: typing.Literal["skip-gram", "cbow"] | Existing | None = None
    """Word vectors: trained on all texts, or a word2vec or GloVe file."""
    train_vectors: bool = True
    """Whether to fine-tune the word vectors."""
    language_model: Existing | None = None
    """Saved language model to start from: its tokenizer, cells and weights."""
    backwards_model: Existing | None = None
    """Backwards language model (language_model.py --backwards-of), to read in
    both directions."""
    summary: typing.Literal["last", "pooled", "attention", "decoder"] = (
        "attention"
    )
    """Vector of a text: last outputs; these with maximum and mean (pooled);
    mean weighted by attention; or a step of a decoder."""
    attention: AttentionName | None = "additive"
    """Attention mechanism of the summaries attention and decoder."""
    embedding_dim: Count = 100
    """Width of the embeddings, and of word vectors that are trained."""
    ngrams: Count | None = None
    """Number of embeddings for frequent pairs and triples of words."""
    dropout: Rate = 0.5
    label_smoothing: Rate = 0.0
    """Label smoothing: probability mass spread over all classes."""
    calibrate: bool = True
    """Whether to calibrate the probabilities on held-out texts."""
    tune_thresholds: bool = False
    """Whether to choose the threshold of each label that maximizes F1."""
    learning_rate: Positive = 1e-3
    clip: Positive = 5.0

    def without_effect(self) -> frozenset[str]:
        idle = super().without_effect()
        if self.backbone:
            idle |= _TEXT | {"embedding_dim", "ngrams", "language_model"}
        return idle | _LEARNT if self.language_model else idle

    def __post_init__(self):
        super().__post_init__()
        one_way = self.language_model or self.start_from
        if self.summary == "decoder" and self.bidirectional and not one_way:
            raise ValueError(
                "`summary` decoder needs an encoder that only reads forwards. "
                "Expected: bidirectional=False. Received: bidirectional=True"
            )
        if self.summary == "attention" and self.attention is None:
            raise ValueError(
                "`summary` attention needs an attention mechanism. Expected: "
                "an `attention`. Received: attention=None"
            )


_SUBWORDS = "unigram", "bpe", "unigram-word"


@dataclasses.dataclass(frozen=True, kw_only=True)
class TranslationSettings(EncoderSettings):
    """Settings of the model, the search and the training of a translator.

    See `Settings`. A recipe adds the settings of its data. If it has fields
    `old` and `alignments`, they are used here.

    Attributes:
        text_options: Names of the fields that are arguments of the tokenizers.

    Raises:
        ValueError: when several workers would train an ensemble.

    Example:

    >>> settings = TranslationSettings(output=pathlib.Path("out"))
    >>> settings.pick(*settings.text_options)["lowercase"]
    False
    """

    saved = EncoderSettings.saved | {
        *("max_tokens", "lowercase", "strip_punctuation"),
        *("separate_punctuation", "tokenizer", "vocabulary_size"),
        *("subword_sampling", "source_vectors", "target_vectors"),
        *("lexical", "lexicon", "shortlist", "attention", "copy_unknown"),
        *("beam_width", "length_penalty", "no_repeat_ngram", "members"),
    }
    not_identity = EncoderSettings.not_identity | {
        *("beam_width", "length_penalty", "no_repeat_ngram", "members"),
        *("shortlist", "copy_unknown"),
    }
    needs = {
        **EncoderSettings.needs,
        "vocabulary_size": ("tokenizer", *_SUBWORDS),
        "subword_sampling": ("tokenizer", *_SUBWORDS),
        # Files of word vectors have no vectors of subwords.
        "source_vectors": ("tokenizer", "word"),
        "target_vectors": ("tokenizer", "word", "unigram-word"),
        "shortlist": ("lexicon",),
        # Subword tokenizers can generate words that are not in the corpus.
        "copy_unknown": ("tokenizer", "word", "unigram-word"),
    }
    text_options: typing.ClassVar[tuple[str, ...]] = (
        *("lowercase", "strip_punctuation", "separate_punctuation"),
    )

    dev_size: Count = 500
    """Pairs to hold out without --dev; at most a tenth of all pairs."""
    max_words: Count | None = None
    """Skip training pairs with more words than this on a side."""
    max_tokens: Count = 100
    """Truncate longer sentences to this many tokens."""
    lowercase: bool = False
    """Whether the model works in lower case."""
    strip_punctuation: bool = False
    """Whether the model works without punctuation."""
    separate_punctuation: bool = False
    """Whether punctuation marks are separate words for the model."""
    tokenizer: typing.Literal["unigram", "bpe", "word", "unigram-word"] = (
        "unigram"
    )
    """Subwords (unigram, bpe), words that occur at least twice, or subwords
    for the source and words for the target (unigram-word)."""
    vocabulary_size: Count | None = None
    """Subwords of each language; default: by the size of the corpus."""
    subword_sampling: Rate = 0.0
    """Split words at random in training: exponent of the unigram
    probabilities, or fraction of BPE merges to skip; 0 for never."""
    source_vectors: Existing | None = None
    """Word vectors of the source: a word2vec, GloVe or fastText file."""
    target_vectors: Existing | None = None
    """Word vectors of the target; the softmax uses them, too."""
    lexical: bool = True
    """Whether attention also reads the embeddings of the source."""
    lexicon: bool = True
    """Whether to add a lexicon estimated from the corpus to the output."""
    shortlist: Count | None = None
    """Words to score per sentence, chosen by the lexicon; default: all."""
    attention: AttentionName | None = "multi_head"
    """Attention mechanism of the decoder."""
    copy_unknown: bool = True
    """Copy unknown words from the source by attention, instead of choosing
    only known words."""
    alignment_weight: NotNegative = 0.1
    """Weight of the alignment loss of the attention."""
    label_smoothing: Rate = 0.1
    """Label smoothing: probability mass spread over the vocabulary."""
    batch_size: Count = 32
    """Examples in a batch."""
    learning_rate: Positive = 2e-3
    average: Whole = 1
    """Average the weights of the last N epochs; 0 for the best epoch."""
    beam_width: Count = 5
    """Hypotheses of the beam search."""
    length_penalty: NotNegative = 1.0
    """Length penalty: exponent of the length that divides scores."""
    no_repeat_ngram: Whole = 0
    """Length of n-grams that may not repeat in a translation; 0: no limit."""
    members: Count = 1
    """Models of the ensemble; a finished run trains only missing ones."""

    @property
    def trains_on_old(self) -> bool:
        """Whether the pairs include those that a saved translator has learnt.

        A recipe gives them in its field `old`. The lexicon is then estimated
        again from all pairs.
        """
        return bool(getattr(self, "old", None))

    @property
    def has_alignments(self) -> bool:
        """Whether the pairs have word alignments."""
        return getattr(self, "alignments", None) is not None

    def without_effect(self) -> frozenset[str]:
        idle = super().without_effect()
        if not self.has_alignments:
            idle |= {"alignment_weight"}
        return idle if self.attention else idle | {"copy_unknown"}

    def __post_init__(self):
        super().__post_init__()
        if self.members > 1 and self.distribute == "workers":
            raise ValueError(
                "Several workers cannot train an ensemble: `members` must be "
                f"1. Received: members={self.members}"
            )
