"""The arguments that all cells have."""

import keras
import numpy as np
import pytest
from keras.layers import RNN

from kerasrnn.layers import CRF
from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import CoverageAttention
from kerasrnn.layers import GAMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import LocalAttention
from kerasrnn.layers import MultiHeadDotAttention
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SHACell
from kerasrnn.layers.recurrent._keras import DropoutRNNCell
from tests import helpers
from tests.layers import small_layers


@pytest.mark.parametrize(
    ("name", "argument", "bad"),
    [
        *(
            ("rhn", rate, bad)
            for rate in ("dropout", "recurrent_dropout")
            for bad in (-0.1, 1.0)
        ),
        *(
            (name, size, bad)
            for name in ("rhn", "gam", "gam_rhn", "peephole_lstm", "min_gru")
            for size in small_layers.LAYERS[name][2]
            for bad in (0, -1, True, 2.5, None)
        ),
    ],
)
def test_rates_and_sizes_are_checked(name, argument, bad):
    *both, sizes = small_layers.LAYERS[name]
    for make in both:
        with pytest.raises(ValueError, match=f"`{argument}`.*{argument}={bad}"):
            make(**sizes | {argument: bad})


SEQUENCE = helpers.random(3, 40, 2)


@small_layers.one_of_a_kind
def test_dropout_is_constant_over_time_and_new_for_each_batch(name):
    cell = small_layers.new_cell(
        name, dropout=0.5, recurrent_dropout=0.5, seed=1
    )
    masks = []
    get = cell.masks

    def spy(inputs, states, training=False):
        found = get(inputs, states, training)
        masks.append(found[0])
        return found

    cell.masks = spy
    layer = RNN(cell, unroll=True)
    for _ in range(2):
        layer(helpers.random(8, 4, 2), training=True)
    masks = helpers.as_numpy(masks)
    assert len(masks) == 8
    for mask in masks:
        assert set(np.unique(mask)) == {0, 2}
    for first in (0, 4):
        for mask in masks[first : first + 4]:
            np.testing.assert_array_equal(mask, masks[first])
    assert np.any(masks[0] != masks[4])


@small_layers.one_of_each_way
def test_nothing_is_dropped_in_inference(name):
    options = {"dropout": 0.5, "recurrent_dropout": 0.5}
    dropped, plain = small_layers.loop(name, **options), small_layers.loop(name)
    some = SEQUENCE[:, :4]
    helpers.assert_close(dropped(some), plain(some))


def test_keras_draws_and_resets_the_masks_of_our_cells():
    cell = RHNCell(3, dropout=0.5, recurrent_dropout=0.5)
    assert isinstance(cell, DropoutRNNCell)
    calls = []
    for name in (
        "get_dropout_mask",
        "get_recurrent_dropout_mask",
        "reset_dropout_mask",
        "reset_recurrent_dropout_mask",
    ):
        assert hasattr(DropoutRNNCell, name)

        def spy(*args, name=name):
            calls.append(name)
            return getattr(RHNCell, name)(cell, *args)

        setattr(cell, name, spy)
    RNN(cell)(SEQUENCE)
    assert calls[:2] == ["get_dropout_mask", "get_recurrent_dropout_mask"]
    assert calls[-2:] == ["reset_dropout_mask", "reset_recurrent_dropout_mask"]


@pytest.mark.parametrize("seed", [None, 5])
def test_no_two_weights_start_alike(seed):
    """With sizes that give several weights one shape."""
    same = keras.initializers.RandomNormal(seed=seed)
    one = {"kernel_initializer": same}
    both = {**one, "recurrent_initializer": same}
    for layer in (
        RHNCell(3, 4, **both),
        PeepholeLSTMCell(3, **both),
        GAMCell(6, 2, 4, **one),
        GAMRHNCell(6, 3, 6, 2, 12, **one),
        SHACell(RHNCell(4, **both), **one),
        BahdanauAttention(4, **one),
        CoverageAttention(4, 1.0, **one),
        LocalAttention(radius=3, **one),
        MultiHeadDotAttention(2, 2, **one),
        CRF(boundary_initializer=same),
    ):
        shape = None, getattr(layer, "output_size", 4)
        is_attention = type(layer).__name__.endswith("Attention")
        layer.build(*([shape, (None, *shape)] if is_attention else [shape]))
        kernels = [w for w in layer.get_weights() if w.ndim < 3 and w.std()]
        assert len(kernels) > 1
        for index, kernel in enumerate(kernels):
            for other in kernels[:index]:
                assert not np.any(kernel.flat[:4] == other.flat[:4])


@pytest.mark.parametrize("name", small_layers.LAYERS)
def test_gains_start_at_one(name):
    cell = small_layers.new_cell(name, layer_norm=True)
    cell.build((None, 2))
    gains = [x.value for x in cell.weights if "gains" in x.name]
    assert gains
    assert all(np.all(x == 1) for x in helpers.as_numpy(gains))
