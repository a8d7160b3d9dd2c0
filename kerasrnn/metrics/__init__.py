"""Metrics of language models, translations, phrases and piano rolls."""

from kerasrnn.metrics.corpus_scores import corpus_scores
from kerasrnn.metrics.corpus_scores import sentence_chrf
from kerasrnn.metrics.phrase_scores import phrase_scores
from kerasrnn.metrics.piano_roll_metrics import NegativeLogLikelihood
from kerasrnn.metrics.token_metrics import BitsPerCharacter
from kerasrnn.metrics.token_metrics import Perplexity
from kerasrnn.metrics.token_metrics import TokenAccuracy

__all__ = [
    "BitsPerCharacter",
    "NegativeLogLikelihood",
    "Perplexity",
    "TokenAccuracy",
    "corpus_scores",
    "phrase_scores",
    "sentence_chrf",
]
