"""Metrics of language models and translations."""

from kerasrnn.metrics.corpus_scores import corpus_scores
from kerasrnn.metrics.token_metrics import BitsPerCharacter
from kerasrnn.metrics.token_metrics import Perplexity
from kerasrnn.metrics.token_metrics import TokenAccuracy

__all__ = ["BitsPerCharacter", "Perplexity", "TokenAccuracy", "corpus_scores"]
