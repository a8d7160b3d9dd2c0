"""The settings that the recipes of translation share."""

import dataclasses
import typing

from kerasrnn.training.settings.encoder_settings import EncoderSettings
from kerasrnn.training.settings.setting_types import AttentionName
from kerasrnn.training.settings.setting_types import Count
from kerasrnn.training.settings.setting_types import Existing
from kerasrnn.training.settings.setting_types import NotNegative
from kerasrnn.training.settings.setting_types import Positive
from kerasrnn.training.settings.setting_types import Rate
from kerasrnn.training.settings.setting_types import Whole

_SUBWORDS = "unigram", "bpe", "unigram-word"


@dataclasses.dataclass(frozen=True, kw_only=True)
class TranslationSettings(EncoderSettings):
    """Settings of the model, the search and the training of a translator.

    See `Settings`. A recipe adds where its pairs come from: fields of its own,
    of which `old` and `alignments` have a meaning here.

    Attributes:
        text_options: Names of the fields that are arguments of a tokenizer.

    Raises:
        ValueError: when several workers are to train an ensemble.

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
        # Subwords have no vectors in a file of words.
        "source_vectors": ("tokenizer", "word"),
        "target_vectors": ("tokenizer", "word", "unigram-word"),
        "shortlist": ("lexicon",),
        # Other tokenizers write words that the corpus lacks.
        "copy_unknown": ("tokenizer", "word", "unigram-word"),
    }
    text_options: typing.ClassVar[tuple[str, ...]] = (
        *("lowercase", "strip_punctuation", "separate_punctuation"),
    )

    dev_size: Count = 500
    """Pairs to hold out if --dev is not given: at most a tenth of them."""
    max_words: Count | None = None
    """Leave out training pairs with more words on a side."""
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
    """Subwords (unigram, bpe), words that occur twice, or subwords to words."""
    vocabulary_size: Count | None = None
    """Number of subwords of each language."""
    subword_sampling: Rate = 0.0
    """Split words at random in training: exponent of the probabilities of
    unigram subwords, or share of the merges that BPE skips; 0 for never."""
    source_vectors: Existing | None = None
    """Word vectors of the source, a file of word2vec, GloVe or fastText."""
    target_vectors: Existing | None = None
    """The same for the target; its softmax uses them, too."""
    lexical: bool = True
    """Whether attention reads embeddings as well as the encoder's outputs."""
    lexicon: bool = True
    """Whether a lexicon estimated from the corpus is added to the output."""
    shortlist: Count | None = None
    """Words from the lexicon that a search is limited to; None for all."""
    attention: AttentionName | None = "multi_head"
    """Attention of the decoder to the source."""
    copy_unknown: bool = True
    """Copy words that the target vocabulary lacks from the source, by
    attention; otherwise only known words are chosen."""
    alignment_weight: NotNegative = 0.1
    """Weight of the loss between attention and alignments."""
    label_smoothing: Rate = 0.1
    """Share of each label that is spread over the vocabulary."""
    batch_size: Count = 32
    learning_rate: Positive = 2e-3
    warmup: Count | None = None
    """Steps in which the rate rises; default: at most a tenth of all."""
    average: Whole = 1
    """Average the weights of the last N epochs; 0 for the best epoch."""
    beam_width: Count = 5
    """Hypotheses of the beam search."""
    length_penalty: NotNegative = 1.0
    """Exponent of the length by which scores are divided."""
    no_repeat_ngram: Whole = 0
    """Length of n-grams that occur only once in a translation; 0: no limit."""
    members: Count = 1
    """Models of an ensemble; a finished run trains those that are missing."""

    @property
    def trains_on_old(self) -> bool:
        """Whether the pairs hold those that a saved translator has learnt.

        They are the field `old` of a recipe. Its lexicon is then estimated
        anew, from all pairs.
        """
        return bool(getattr(self, "old", None))

    @property
    def has_alignments(self) -> bool:
        """Whether the pairs have `alignments` of their words."""
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
                "`members` must be 1 if several workers train the model. "
                f"Received: members={self.members}"
            )
