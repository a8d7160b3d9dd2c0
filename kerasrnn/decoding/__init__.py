"""Searches and forced decoding with a step function."""

from kerasrnn.decoding.beam_search import BeamSearch
from kerasrnn.decoding.beams import tile_memory
from kerasrnn.decoding.forced import ForcedDecoding
from kerasrnn.decoding.forced import forced_decoding
from kerasrnn.decoding.independent_search import GreedySearch
from kerasrnn.decoding.independent_search import SamplingSearch
from kerasrnn.decoding.search import Hypotheses
from kerasrnn.decoding.search import Search

__all__ = [
    "BeamSearch",
    "ForcedDecoding",
    "GreedySearch",
    "Hypotheses",
    "SamplingSearch",
    "Search",
    "forced_decoding",
    "tile_memory",
]
