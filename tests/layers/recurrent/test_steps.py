"""A step of each cell, and all gradients of its layer, equal the oracle's."""

import numpy as np
import pytest

from kerasrnn.layers import positive
from tests import helpers
from tests.layers import small_layers
from tests.reference import recurrent_cells
from tests.reference.layers import step_of

NORMALIZED = {"layer_norm": True}
OWN_CARRY = {"couple_carry": False}
HIGHWAY = {"inner": "highway"}
CASES = [
    ("rhn", {"depth": 3}),
    ("rhn", {"depth": 3, **OWN_CARRY}),
    ("rhn", {"depth": 3, **NORMALIZED}),
    ("rhn", {"depth": 3, **OWN_CARRY, **NORMALIZED}),
    ("rhn", {"depth": 1}),
    ("rhn", {"depth": 1, **OWN_CARRY, **NORMALIZED}),
    ("gam", {}),
    ("gam", NORMALIZED),
    ("gam", {"head_norm": True}),
    ("gam_rhn", {"depth": 3}),
    ("gam_rhn", HIGHWAY),
    ("gam_rhn", NORMALIZED),
    ("gam_rhn", {"head_norm": True}),
    ("gam_rhn", {"depth": 1, **HIGHWAY, **NORMALIZED}),
    ("gam_rhn", {"depth": 1}),
    ("peephole_lstm", {}),
    ("peephole_lstm", NORMALIZED),
    ("slstm", {}),
    ("slstm", {"forget_gate": "exp"}),
    ("slstm", NORMALIZED),
    ("min_gru", {}),
    ("min_gru", {"activation": positive}),
    ("min_gru", NORMALIZED),
    ("min_lstm", {}),
    ("min_lstm", {"activation": positive}),
    ("min_lstm", NORMALIZED),
    ("rg_lru", {}),
    ("rg_lru", NORMALIZED),
]
some_cells = pytest.mark.parametrize(
    "name, options",
    CASES,
    ids=lambda x: x if isinstance(x, str) else " ".join(x),
)
DROPOUT = {"dropout": 0.5, "recurrent_dropout": 0.5, "seed": 2}


@some_cells
def test_a_step_equals_the_oracle(name, options):
    """Also in a compiled graph."""
    cell = small_layers.cell(name, **options)
    x, states = helpers.random(2, 2), small_layers.some_states(cell)
    expected = step_of(cell)(x, states)
    for step in (small_layers.step, small_layers.compiled_step):
        helpers.assert_close(step(cell, x, states), expected)


@pytest.mark.parametrize("name", small_layers.LAYERS)
def test_other_activations(name, monkeypatch):
    options = {"activation": "softsign", "recurrent_activation": "hard_sigmoid"}
    if name in small_layers.LINEAR:
        del options["activation"]
    elif name == "slstm":
        options["forget_gate"] = "exp"
    monkeypatch.setattr(np, "tanh", lambda x: x / (1 + np.abs(x)))
    monkeypatch.setattr(
        recurrent_cells, "sigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1)
    )
    cell = small_layers.cell(name, **options)
    if name == "rg_lru":  # Its decay is a sigmoid, whatever the gates are.
        cell.decay.assign(0 * cell.decay)
    x, states = helpers.random(2, 2), small_layers.some_states(cell)
    expected = step_of(cell)(x, states)
    helpers.assert_close(small_layers.step(cell, x, states), expected)


@pytest.mark.parametrize(
    "name, options",
    [
        ("rhn", {"depth": 1}),
        ("rhn", {"depth": 3}),
        ("rhn", {"depth": 3, **OWN_CARRY}),
        ("gam", {}),
        ("gam_rhn", {"depth": 1}),
        ("gam_rhn", {"depth": 3}),
        ("gam_rhn", {"depth": 3, **HIGHWAY}),
        ("peephole_lstm", {}),
        ("slstm", {}),
        ("min_gru", {}),
        ("rg_lru", {}),
    ],
    ids=str,
)
def test_dropout_meets_what_enters_a_product(name, options):
    cell = small_layers.cell(name, **DROPOUT, **options)
    x, states = helpers.random(6, 2), small_layers.some_states(cell, 6)
    found = small_layers.step(cell, x, states, training=True)
    masks = {"x_mask": cell.get_dropout_mask(x)}
    if name not in small_layers.LINEAR:
        masks["s_mask"] = cell.get_recurrent_dropout_mask(states[0])
    masks = helpers.as_numpy(masks)
    for mask in masks.values():
        assert set(np.unique(mask)) == {0, 2}
    helpers.assert_close(found, step_of(cell, **masks)(x, states))


@some_cells
def test_gradients_equal_finite_differences(name, options):
    options = {"dtype": small_layers.WIDEST, **options}
    layer = small_layers.fast(name, {"return_state": True}, **options)
    small_layers.check_gradients(layer)
