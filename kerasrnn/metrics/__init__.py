"""Metrics of language models, translations, phrases, forecasts and music."""

from kerasrnn.metrics.corpus_scores import corpus_scores
from kerasrnn.metrics.corpus_scores import sentence_chrf
from kerasrnn.metrics.forecast_errors import ForecastError
from kerasrnn.metrics.label_scores import phrase_scores
from kerasrnn.metrics.piano_roll_metrics import NegativeLogLikelihood
from kerasrnn.metrics.token_metrics import BitsPerCharacter
from kerasrnn.metrics.token_metrics import Perplexity
from kerasrnn.metrics.token_metrics import TokenAccuracy

__all__ = [
    "BitsPerCharacter",
    "ForecastError",
    "NegativeLogLikelihood",
    "Perplexity",
    "TokenAccuracy",
    "corpus_scores",
    "phrase_scores",
    "sentence_chrf",
]
