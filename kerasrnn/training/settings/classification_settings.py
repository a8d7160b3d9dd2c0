"""The settings that the recipes of classification share."""

import dataclasses
import typing

from kerasrnn.training.settings.encoder_settings import EncoderSettings
from kerasrnn.training.settings.setting_types import AttentionName
from kerasrnn.training.settings.setting_types import Count
from kerasrnn.training.settings.setting_types import Existing
from kerasrnn.training.settings.setting_types import Positive
from kerasrnn.training.settings.setting_types import Rate

_TEXT = {
    *("lowercase", "clean_reviews", "special", "drop_stop_words"),
    *("vocabulary_size", "vectors", "train_vectors"),
}
# A saved language model determines them.
_LEARNT = _TEXT | {"cell", "units", "depth", "bidirectional", "embedding_dim"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassificationSettings(EncoderSettings):
    """Settings of the model and the training of a classifier of texts.

    See `Settings`. A recipe adds where its texts come from.

    Attributes:
        language_model: Path of a saved language model, or `None`. What it has
            learnt from cannot be set beside it.

    Raises:
        ValueError: when the summary needs an attention and has none, or one
            direction and there are two.

    Example:

    >>> settings = ClassificationSettings(output=pathlib.Path("out"))
    >>> settings.summary, settings.attention
    ('attention', 'additive')
    """

    saved = EncoderSettings.saved | {
        *_TEXT,
        *("max_tokens", "summary", "attention"),
        *("embedding_dim", "ngrams", "language_model", "backwards_model"),
    }
    not_identity = EncoderSettings.not_identity | {
        *("calibrate", "tune_thresholds"),
    }
    needs = {
        **EncoderSettings.needs,
        "attention": ("summary", "attention", "decoder"),
        "embedding_dim": ("vectors", None, "skip-gram", "cbow"),
        "train_vectors": ("vectors",),
        "backwards_model": ("language_model",),
        "tune_thresholds": ("multi_label",),
    }

    multi_label: bool = False
    """Whether a text may have several labels: a list, or columns of 0 and 1."""
    dev_size: Count = 2500
    """Texts to hold out for validation: at most a fifth of them."""
    lowercase: bool = False
    """Whether the model works in lower case."""
    clean_reviews: bool = False
    """Whether to remove HTML and spell out abbreviations (u, imho)."""
    special: typing.Literal["apart", "drop", "keep"] = "apart"
    """Punctuation and symbols: separate words, removed, or kept."""
    drop_stop_words: bool = False
    """Whether to remove frequent English words, which include negations."""
    vocabulary_size: Count | None = 30_000
    """Number of most frequent words to keep; None for all."""
    max_tokens: Count = 400
    """Truncate texts to this many words."""
    vectors: typing.Literal["skip-gram", "cbow"] | Existing | None = None
    """Word vectors: trained on all texts, or a file of word2vec or GloVe."""
    train_vectors: bool = True
    """Whether to train the word vectors further."""
    language_model: Existing | None = None
    """Saved language model to start from: its tokenizer, cells and weights."""
    backwards_model: Existing | None = None
    """The same with --backwards-of it: the encoder then reads both ways."""
    summary: typing.Literal["last", "pooled", "attention", "decoder"] = (
        "attention"
    )
    """How to reduce a text to one vector; see `TextClassifier`."""
    attention: AttentionName | None = "additive"
    """Attention of a summary by attention or decoder."""
    embedding_dim: Count = 100
    """Width of the embeddings, also of word vectors that are trained."""
    ngrams: Count | None = None
    """Embeddings for so many pairs and triples of words that occur 5 times."""
    dropout: Rate = 0.5
    label_smoothing: Rate = 0.0
    """Share of each label that is spread over all classes."""
    calibrate: bool = True
    """Whether held-out texts set the temperature of the probabilities."""
    tune_thresholds: bool = False
    """Whether they set the thresholds of several labels, for the best F1."""
    schedule: typing.Literal["cosine", "constant"] = "cosine"
    """Schedule of the learning rate."""
    learning_rate: Positive = 1e-3
    clip: Positive = 5.0

    def without_effect(self) -> frozenset[str]:
        idle = super().without_effect()
        return idle | _LEARNT if self.language_model else idle

    def __post_init__(self):
        super().__post_init__()
        one_way = self.language_model or self.start_from
        if self.summary == "decoder" and self.bidirectional and not one_way:
            raise ValueError(
                "`summary` decoder needs an encoder that reads forwards alone: "
                "`bidirectional` must be False. Received: bidirectional=True"
            )
        if self.summary == "attention" and self.attention is None:
            raise ValueError(
                "`summary` needs one. Expected: an `attention`. "
                "Received: summary='attention', attention=None"
            )
