"""What models are measured by."""

from kerasrnn.metrics.corpus_scores import corpus_scores

__all__ = ["corpus_scores"]
