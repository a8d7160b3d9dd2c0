"""Greedy search, beam search and sampling over a step function."""

from kerasrnn.decoding.beam_search import BeamSearch
from kerasrnn.decoding.beams import tile_memory
from kerasrnn.decoding.greedy_search import GreedySearch
from kerasrnn.decoding.sampling_search import SamplingSearch
from kerasrnn.decoding.search import Hypotheses
from kerasrnn.decoding.search import Search

__all__ = [
    "BeamSearch",
    "GreedySearch",
    "Hypotheses",
    "SamplingSearch",
    "Search",
    "tile_memory",
]
