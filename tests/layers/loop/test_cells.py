import functools
import itertools

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import StackedRNNCells

from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import GAMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SHACell
from kerasrnn.layers import ZoneoutCell
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.cells import clone_cell
from kerasrnn.layers.loop.cells import draw_dropout_masks
from kerasrnn.layers.loop.cells import reset_dropout_masks
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import Translator
from tests import helpers
from tests.layers.own_cells import MinimalRNNCell
from tests.layers.own_cells import ProjectedCell


@pytest.mark.parametrize(
    "cell", [GRUCell(3), LSTMCell(3), StackedRNNCells([GRUCell(3)])]
)
def test_a_cell_passes(cell):
    cells.check_cell(cell, "Anything")


class Forgetful(RHNCell):
    def __init__(self, units=3, **kwargs):
        super().__init__(units, **kwargs)

    def get_config(self):
        config = super().get_config()
        return {name: config[name] for name in ("name", "dtype")}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                lambda cell=cell: cells.check_cell(cell, "Owner"),
                "Owner expects `cell`.*Received: ",
            )
            for cell in (
                *("gru", None, keras.layers.Dense(3), GRUCell),
                keras.layers.RNN(GRUCell(3)),
            )
        ),
        (
            lambda: clone_cell(Forgetful(4)),
            r"Forgetful.get_config.*\(3, \[3\]\)",
        ),
    ],
)
def test_cells_that_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_cell_need_not_make_its_initial_state():
    class Bare(keras.layers.Layer):
        state_size = [3, 2]
        output_size = 3

    states = cells.initial_state(Bare(dtype="float16"), 4)
    assert [x.shape for x in states] == [(4, 3), (4, 2)]
    assert {str(keras.backend.standardize_dtype(x.dtype)) for x in states} == {
        "float16"
    }
    assert all(np.all(x == 0) for x in helpers.as_numpy(states))


@pytest.mark.parametrize(
    ("size", "width"), [(3, 3), ([3, 2], 3), ([(2, 3), 2], (2, 3))]
)
def test_an_output_is_as_wide_as_the_first_state_by_default(size, width):
    class Bare:
        state_size = size

    assert cells.output_size(Bare()) == width
    Bare.output_size = 7
    assert cells.output_size(Bare()) == 7


@pytest.mark.parametrize(
    "around",
    [ZoneoutCell, SelfAttentionCell, SHACell, lambda cell: [cell, GRUCell(4)]],
)
def test_a_cell_without_output_size_is_wrapped(around):
    layer = FastRNN(around(MinimalRNNCell(4)), return_sequences=True)
    assert layer(np.ones((2, 5, 3), "float32")).shape == (2, 5, 4)


def test_a_cell_without_output_size_translates():
    cell = MinimalRNNCell(4)
    model = Translator(Encoder(9, cell), Decoder(9, cell))
    ids = np.ones((2, 3), "int32")
    assert model({"source": ids, "target": ids}).shape == (2, 3, 9)


RUNS = {
    "gru": (lambda: GRUCell(3), False),
    "stacked": (lambda: StackedRNNCells([RHNCell(5), LSTMCell(3)]), False),
    "rhn": (lambda: RHNCell(3, depth=2), True),
    "zoned_out": (lambda: ZoneoutCell(RHNCell(3, depth=2), 0.1), True),
    "relu": (lambda: RHNCell(3, activation="relu"), True),
    "gam": (lambda: GAMCell(3, 2, 4), True),
    "gam_rhn": (lambda: GAMRHNCell(3, 1, 4, 2, 5), True),
    "projected": (lambda: ProjectedCell(4, 3), False),
    "stacked_rhn": (lambda: StackedRNNCells([RHNCell(5), RHNCell(3)]), True),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("masked", [False, True])
def test_a_run_is_step_after_step(name, masked):
    make, at_once = RUNS[name]
    cell = make()
    assert (cells.slow_because(cell) is None) == at_once
    cell.build((None, 2))
    helpers.randomize(cell)
    sequence = keras.ops.convert_to_tensor(helpers.random(4, 3, 2))
    mask = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 0], [1, 0, 0]], bool)
    start = states = keras.tree.map_structure(
        lambda x: keras.ops.ones_like(x) / 2, cells.initial_state(cell, 3)
    )
    expected, before = [], None
    for x, here in zip(sequence, mask[..., None], strict=True):
        after = cells.step(cell, x, states)
        if masked and before is not None:
            after = keras.tree.map_structure(
                lambda new, old, here=here: ops.where(here, new, old),
                after,
                before,
            )
        output, states = before = after
        expected.append(output)
    mask = ops.cast(mask[..., None], "float32") if masked else None
    outputs, last = cells.run(cell, sequence, start, mask)
    helpers.assert_close(outputs, keras.ops.stack(expected))
    keras.tree.assert_same_structure(last, start)
    helpers.assert_close(last, states)


def test_masks_are_drawn_for_every_cell_and_dropped():
    inner = [GRUCell(5, dropout=0.5), GRUCell(3, recurrent_dropout=0.5)]
    stack = StackedRNNCells(inner)
    inputs = keras.ops.ones((4, 2))
    draw_dropout_masks(stack, inputs)
    first = inner[0].get_dropout_mask(inputs)
    second = inner[1].get_recurrent_dropout_mask(None)
    masks = keras.tree.flatten([first, second])
    assert {tuple(mask.shape) for mask in masks} == {(4, 2), (4, 3)}
    again = keras.tree.flatten(inner[0].get_dropout_mask(inputs))
    helpers.assert_close(again, first, 0, 0)
    reset_dropout_masks(stack)
    assert inner[0]._dropout_mask is None
    assert inner[1]._recurrent_dropout_mask is None


def test_a_cell_may_have_other_cells():
    """Such as a number of them, as in the block of an LSTM of 1997."""

    class Block(RHNCell):
        cells = 4

    cell = Block(3, dropout=0.5)
    draw_dropout_masks(cell, np.ones((2, 3), "float32"))
    assert cell._dropout_mask is not None
    reset_dropout_masks(cell)
    assert cell._dropout_mask is None


def test_masks_of_cells_in_cells_in_cells_are_dropped():
    inner = RHNCell(3, dropout=0.5)
    outer = keras.layers.StackedRNNCells(
        [keras.layers.StackedRNNCells([inner]), RHNCell(3)]
    )
    draw_dropout_masks(outer, np.ones((2, 3), "float32"))
    assert inner._dropout_mask is not None
    reset_dropout_masks(outer)
    assert inner._dropout_mask is None


def test_a_clone_has_the_configuration_but_not_the_weights():
    cell = LSTMCell(3, activation="relu", dropout=0.2, name="first")
    cell.build((None, 2))
    clone = clone_cell(cell)
    assert not clone.built
    for name in cell.get_config():
        if not name.endswith("initializer"):
            assert clone.get_config()[name] == cell.get_config()[name]
    clone.build((None, 2))
    assert np.any(clone.get_weights()[0] != cell.get_weights()[0])


def test_a_clone_may_have_another_dtype():
    ones = keras.initializers.Constant(np.ones((2, 12)))
    cell = ZoneoutCell(GRUCell(4, bias_initializer=ones), 0.1)
    clone = clone_cell(cell, dtype="mixed_bfloat16")
    for each in (clone, clone.cell):
        assert each.compute_dtype == "bfloat16"
        assert each.variable_dtype == "float32"
    clone.build((None, 3))
    assert any(np.all(x == 1) for x in clone.get_weights())
    assert clone_cell(clone).compute_dtype == "bfloat16"


def test_clones_of_a_seeded_cell_draw_different_numbers():
    cell = LSTMCell(
        3,
        dropout=0.5,
        seed=4,
        kernel_initializer=keras.initializers.GlorotUniform(seed=7),
    )
    clones = [clone_cell(cell, i) for i in (0, 0, 1)]
    for clone in clones:
        clone.build((None, 50))
    same, again, other = (clone.get_weights()[0] for clone in clones)
    assert np.all(same == again) and np.all(same != other)
    ones = np.ones((1, 50))
    same, again, other = (
        keras.ops.convert_to_numpy(clone.get_dropout_mask(ones))
        for clone in clones
    )
    assert np.all(same == again) and np.any(same != other)


@pytest.mark.parametrize(
    "new, count",
    [
        (LSTMCell, 1),
        (functools.partial(RHNCell, depth=3), 3),
        (lambda *a, **b: StackedRNNCells([LSTMCell(*a, **b) for _ in "ab"]), 2),
    ],
    ids=["lstm", "rhn", "stack"],
)
def test_the_layers_of_a_model_start_from_different_kernels(new, count):
    """No kernel of a layer is a kernel of another one, or of another model."""
    seeded = keras.initializers.Orthogonal(seed=7)
    cell = new(4, recurrent_initializer=seeded)
    language = LanguageModel(9, cell, depth=2)
    language.build((None, None))
    translator = Translator(
        Encoder(9, cell, depth=2), Decoder(9, cell, depth=2)
    )
    kernels = [
        helpers.as_numpy(weight.value)
        for model in (language, translator.encoder, translator.decoder)
        for weight in model.weights
        if "recurrent_kernel" in weight.name
    ]
    assert len(kernels) == (2 + 4 + 2) * count
    for one, other in itertools.combinations(kernels, 2):
        assert np.all(np.any(one != other, axis=-1))


def test_encoder_and_decoder_draw_different_masks():
    cell = LSTMCell(4, dropout=0.5, seed=0)
    encoder = Encoder(9, cell, bidirectional=False)
    masks = [
        helpers.as_numpy(each.get_dropout_mask(np.ones((8, 50))))
        for each in (encoder.cell, Decoder(9, cell).cell)
    ]
    assert 0.3 < (masks[0] == masks[1]).mean() < 0.7


def test_a_clone_of_a_wrapper_that_ran_fits_any_width():
    cell = ZoneoutCell(LSTMCell(3), 0.1)
    keras.layers.RNN(cell)(np.ones((1, 2, 5)))
    clone = clone_cell(cell)
    assert keras.layers.RNN(clone)(np.ones((1, 2, 7))).shape == (1, 3)


@pytest.mark.slow_on_jax
def test_copies_made_while_a_file_is_loaded_share_nothing(tmp_path):
    """Keras takes two objects for one if they had the same address."""
    seeded = keras.initializers.GlorotUniform(seed=7)
    cell = FastLSTMCell(4, kernel_initializer=seeded)
    inputs = keras.Input((None,), dtype="int32")
    model = keras.Model(inputs, LanguageModel(9, cell, depth=3)(inputs))
    loaded = helpers.reloaded(model, tmp_path).layers[-1]
    found = [x for x in loaded._flatten_layers() if isinstance(x, FastLSTMCell)]
    initializers = [x.kernel_initializer for x in found]
    assert len({id(x) for x in initializers}) == 3
    assert len({x.seed for x in initializers}) == 3
