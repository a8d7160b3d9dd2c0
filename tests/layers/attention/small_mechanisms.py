"""A small mechanism of every style, and inputs for it."""

import numpy as np

from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import CoverageAttention
from kerasrnn.layers import DotAttention
from kerasrnn.layers import GeneralAttention
from kerasrnn.layers import LocalAttention
from kerasrnn.layers import LocationAttention
from kerasrnn.layers import MonotonicAttention
from kerasrnn.layers import MultiHeadDotAttention
from kerasrnn.layers import MultiScaleAttention
from kerasrnn.layers import ScaledDotAttention
from tests import helpers

# Dot products want query and memory equally wide; the others do not.
WIDTHS = {"dot": (4, 4), "scaled_dot": (4, 4)}
MECHANISMS = {
    "dot": DotAttention,
    "scaled_dot": ScaledDotAttention,
    "general": GeneralAttention,
    "scaled_general": lambda **kwargs: GeneralAttention(
        use_scale=True, **kwargs
    ),
    "additive": lambda **kwargs: BahdanauAttention(5, **kwargs),
    "additive_bias": lambda **kwargs: BahdanauAttention(5, True, **kwargs),
    "normalized": lambda **kwargs: BahdanauAttention(
        5, normalize=True, **kwargs
    ),
    "multi_head": lambda **kwargs: MultiHeadDotAttention(3, 2, 7, **kwargs),
    "multi_scale": lambda **kwargs: MultiScaleAttention(
        (1, 2, 3), 2, 2, **kwargs
    ),
    "local_p": lambda **kwargs: LocalAttention(
        BahdanauAttention(5, dtype=kwargs.get("dtype")),
        radius=2,
        units=3,
        **kwargs,
    ),
    "local_m": lambda **kwargs: LocalAttention(
        radius=1, alignment="monotonic", **kwargs
    ),
    "location": lambda **kwargs: LocationAttention(9, **kwargs),
    "location_of_few": lambda **kwargs: LocationAttention(3, **kwargs),
    "coverage": lambda **kwargs: CoverageAttention(5, **kwargs),
    "coverage_sum": lambda **kwargs: CoverageAttention(5, None, **kwargs),
    "monotonic": lambda **kwargs: MonotonicAttention(5, noise=0.0, **kwargs),
}
# The short names, with the class and some arguments for a width of 8.
NAMES = {
    "dot": (DotAttention, {}),
    "scaled_dot": (ScaledDotAttention, {}),
    "general": (GeneralAttention, {"use_scale": False}),
    "luong": (GeneralAttention, {"use_scale": False}),
    "scaled_luong": (GeneralAttention, {"use_scale": True}),
    "additive": (BahdanauAttention, {"units": 8, "normalize": False}),
    "bahdanau": (BahdanauAttention, {"units": 8, "normalize": False}),
    "concat": (BahdanauAttention, {"units": 8, "normalize": False}),
    "normed_bahdanau": (BahdanauAttention, {"units": 8, "normalize": True}),
    "multi_head": (MultiHeadDotAttention, {"num_heads": 4, "head_dim": 2}),
    "multi_scale": (
        MultiScaleAttention,
        {"spans": (1, 2, 4, 8), "head_dim": 2, "blocks": 16},
    ),
    "local_p": (LocalAttention, {"alignment": "predictive", "radius": 10}),
    "local_m": (LocalAttention, {"alignment": "monotonic", "radius": 10}),
    "location": (LocationAttention, {"max_positions": 100}),
    "coverage": (CoverageAttention, {"units": 8, "fertility": 2.0}),
    "monotonic": (
        MonotonicAttention,
        {"units": 8, "noise": 1.0, "energy_bias": -4.0},
    ),
}
# Those that need the steps before, or positions in their order.
NEW_STYLES = ["local_p", "local_m", "location", "coverage", "monotonic"]
# Of four sentences one has gaps, one a single word, and one none.
MASK = np.array(
    [[1, 1, 1, 1, 1], [1, 0, 1, 1, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]], bool
)


def inputs_of(name, queries=4):
    """A query and a memory of five positions, for four sentences."""
    query_dim, memory_dim = WIDTHS.get(name, (4, 6))
    return {
        "query": helpers.random(4, queries, query_dim, seed=2),
        "memory": helpers.random(4, 5, memory_dim, seed=3),
    }


def make(name, **kwargs):
    """A mechanism with random weights, and inputs for it."""
    mechanism = MECHANISMS[name](**kwargs)
    inputs = inputs_of(name)
    mechanism.build(*(x.shape for x in inputs.values()))
    mechanism.built = True
    helpers.randomize(mechanism)
    return mechanism, inputs


def make_all(**kwargs):
    """All of them, by their names."""
    return {name: make(name, **kwargs) for name in MECHANISMS}
