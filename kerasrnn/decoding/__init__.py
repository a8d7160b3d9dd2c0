"""Search over a step function."""

from kerasrnn.decoding.beam_search import BeamSearch
from kerasrnn.decoding.greedy_search import GreedySearch
from kerasrnn.decoding.search import Hypotheses

__all__ = ["BeamSearch", "GreedySearch", "Hypotheses"]
