"""A fast layer computes what `keras.layers.RNN` of its cell does."""

import inspect
import itertools

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import RHN
from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import ResidualBlockCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SHACell
from kerasrnn.layers import ZoneoutCell
from tests import helpers
from tests.layers import small_layers
from tests.layers.own_cells import ProjectedCell
from tests.layers.own_cells import own_cells

FAST = [name for name, (_, layer, _) in small_layers.LAYERS.items() if layer]
DROPOUT = {"dropout": 0.4, "recurrent_dropout": 0.3, "seed": 3}
# Padding on the right, gaps and a masked first step, and no step at all.
MASK = np.array([[1, 1, 1, 0, 0], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0]], bool)
# On JAX the loop of Keras takes the first state for the output before a masked
# step.
MASK_IN_KERAS = MASK.copy()
MASK_IN_KERAS[:, [0, -1]] |= helpers.ON_JAX
SEQUENCE = helpers.random(3, 5, 2)

every_layer = pytest.mark.parametrize("name", FAST)
# What is not of the cell: a loop of several states, and a scan.
each_way_to_run = pytest.mark.parametrize("name", ["slstm", "min_gru"])


def both(name, rnn=None, **options):
    return [
        make(name, rnn, **options)
        for make in (small_layers.loop, small_layers.fast)
    ]


def check(loop, fast, mask=None, **kwargs):
    """Compares outputs, states, and the gradients of all there is."""
    arrays = [SEQUENCE, small_layers.some_states(loop.cell, batch_size=3)]
    if mask is not None:
        kwargs["mask"] = ops.convert_to_tensor(mask)
    # Both are called once, so that both draw the same masks.
    shapes = fast.compute_output_shape(SEQUENCE.shape)
    shapes = shapes if fast.return_state else [shapes]
    cotangents = [
        helpers.random(*shape, seed=5 + i) for i, shape in enumerate(shapes)
    ]
    found, expected = (
        small_layers.backpropagate(layer, arrays, cotangents, **kwargs)
        for layer in (fast, loop)
    )
    assert len(keras.tree.flatten(found)) > len(shapes) + 2
    helpers.assert_close(found, expected, rtol=1e-4, atol=2e-6)


STATE, BACK = {"return_state": True}, {"go_backwards": True}
MASKED = {"mask": MASK_IN_KERAS}
# Arguments of the layer, of its cell, and of the call.
CASES = {
    "whole": (STATE, {}, {}),
    "masked": (STATE, {}, MASKED),
    "backwards": (STATE | BACK, {}, {}),
    "masked_backwards": (STATE | BACK, {}, MASKED),
    "zeros_for_what_is_masked": ({"zero_output_for_mask": True}, {}, MASKED),
    "dropped": ({}, DROPOUT, {"training": True}),
    "other_activations": (
        {},
        {"activation": "softsign", "recurrent_activation": "hard_sigmoid"},
        {},
    ),
}


@pytest.mark.parametrize("case", CASES)
@small_layers.one_of_each_way
def test_it_is_the_loop_of_keras(name, case):
    rnn, options, call = CASES[case]
    check(*both(name, rnn, **options), **call)


@pytest.mark.parametrize("unroll", [False, True])
def test_backwards_masked_steps_are_0(unroll):
    rnn = {"go_backwards": True, "zero_output_for_mask": True}
    layer = small_layers.fast("slstm", {"unroll": unroll, **rnn})
    outputs = helpers.as_numpy(
        layer(SEQUENCE, mask=ops.convert_to_tensor(MASK))
    )
    np.testing.assert_array_equal(outputs.any(-1), MASK[:, ::-1])


@each_way_to_run
def test_unrolled_it_is_the_loop(name):
    layers = [
        small_layers.fast(name, {"unroll": unroll}) for unroll in (True, False)
    ]
    assert "unroll" in layers[0].slow_because
    helpers.assert_close(*(layer(SEQUENCE) for layer in layers))


@helpers.slow_on_jax
@small_layers.one_of_a_kind
def test_layer_normalization_and_dropout(name):
    loop, fast = both(name, {"return_state": True}, layer_norm=True, **DROPOUT)
    check(loop, fast, training=True)


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("rhn", 3),
        ("rhn_own_carry", 1),
        ("gam_rhn", 1),
        ("gam_rhn_highway", 3),
    ],
)
def test_depth(name, depth):
    check(*both(name, depth=depth))


@small_layers.one_of_each_way
def test_one_step_and_the_last_output_alone(name):
    loop, fast = both(name, {"return_sequences": False})
    for sequence in (SEQUENCE[:, :1], SEQUENCE):
        found = fast(sequence)
        assert found.shape == (3, fast.cell.output_size)
        helpers.assert_close(found, loop(sequence))


@each_way_to_run
def test_two_stateful_halves_are_the_whole(name):
    whole = small_layers.fast(name)
    halves = small_layers.fast(name, {"stateful": True}, batch_size=3)
    expected = helpers.as_numpy(whole(SEQUENCE))
    for _ in range(2):
        found = [helpers.as_numpy(halves(SEQUENCE[:, :2]))]
        found.append(helpers.as_numpy(halves(SEQUENCE[:, 2:])))
        helpers.assert_close(np.concatenate(found, axis=1), expected)
        halves.reset_state()


@small_layers.one_of_a_kind
def test_inside_other_layers(name):
    _, layer_class, sizes = small_layers.LAYERS[name]
    new = layer_class(**sizes, return_sequences=True)
    width = new.cell.output_size
    both_ways = keras.layers.Bidirectional(new)
    assert both_ways(SEQUENCE).shape == (3, 5, 2 * width)
    each = keras.layers.TimeDistributed(layer_class(**sizes))
    assert each(helpers.random(2, 3, 5, 2)).shape == (2, 3, width)


@pytest.mark.slow
@pytest.mark.parametrize("name", helpers.one_now(FAST))
def test_a_model_learns_and_survives_its_file(name, tmp_path):
    keras.utils.set_random_seed(1)
    _, layer_class, sizes = small_layers.LAYERS[name]
    model = keras.Sequential(
        [
            keras.Input((None, 2)),
            layer_class(**sizes, **small_layers.known(name, DROPOUT)),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Adam(0.05), "mse")
    targets = SEQUENCE[:, -1:, 0]
    before = model.test_on_batch(SEQUENCE, targets)
    for _ in range(30):
        model.train_on_batch(SEQUENCE, targets)
    assert model.test_on_batch(SEQUENCE, targets) < 0.7 * before
    # Another length and another batch size.
    other = helpers.random(2, 7, 2, seed=8)
    model.train_on_batch(other, other[:, -1:, 0])
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(other), model(other))
    first, again = model.layers[0], helpers.copy_of(model.layers[0])
    assert type(again) is layer_class
    assert again.get_config() == first.get_config()


@small_layers.one_of_a_kind
def test_mixed_precision(name):
    plain = small_layers.fast(name)
    mixed = small_layers.fast(name, dtype="mixed_bfloat16")
    found = mixed(SEQUENCE)
    assert keras.backend.standardize_dtype(found.dtype) == "bfloat16"
    found = ops.cast(found, "float32")
    helpers.assert_close(found, plain(SEQUENCE), rtol=0, atol=0.05)


def test_states_that_keras_keeps_under_mixed_precision():
    """A stateful loop gives the cell its variables, which are in float32."""
    cell = RHNCell(3, dtype="mixed_bfloat16")
    layer = keras.layers.RNN(cell, stateful=True, dtype="mixed_bfloat16")
    mask = np.ones((3, 5), bool)
    mask[1, 2:] = False
    layer(SEQUENCE, mask=mask)
    found = layer(SEQUENCE, mask=mask)
    expected = FastRNN(cell, stateful=True)
    expected(SEQUENCE, mask=mask)
    helpers.assert_close(
        ops.cast(found, "float32"),
        ops.cast(expected(SEQUENCE, mask=mask), "float32"),
        rtol=0,
        atol=0.02,
    )


@pytest.mark.parametrize("name", ["slstm", "rhn"])
def test_dropout_of_the_state_under_mixed_precision(name):
    layers = both(name, dtype="mixed_bfloat16", **DROPOUT)
    cotangents = [ops.cast(helpers.random(3, 5, 3, seed=5), "bfloat16")]
    expected, found = (
        small_layers.backpropagate(layer, [SEQUENCE], cotangents, training=True)
        for layer in layers
    )
    helpers.assert_close(found, expected, rtol=0.05, atol=0.05)


def test_the_state_stays_in_float32_under_mixed_precision():
    # A carry so strong that each step moves the state by less than half of
    # what bfloat16 can tell apart.
    options = {"units": 4, "transform_bias": -7.0, "dtype": "mixed_bfloat16"}
    sequence = np.ones((1, 150, 2), "float32")
    start = [ops.ones((1, 4), "bfloat16")]
    layers = RHN(**options), keras.layers.RNN(RHNCell(**options))
    fast, loop = (
        helpers.as_numpy(ops.cast(layer(sequence, start), "float32"))
        for layer in layers
    )
    assert np.all(loop == 1)
    assert np.all(fast < 0.95)


@each_way_to_run
def test_one_layer_at_two_places(name):
    loop, fast = both(name)

    def twice(layer):
        def call(sequence):
            return layer(sequence) + layer(-sequence)

        cotangents = [helpers.random(3, 5, layer.cell.output_size, seed=5)]
        return small_layers.backpropagate(layer, [SEQUENCE], cotangents, call)

    helpers.assert_close(twice(fast), twice(loop), rtol=1e-4, atol=2e-6)


@helpers.slow_on_jax
@pytest.mark.parametrize(
    ("name", "policy"),
    helpers.some_now(
        itertools.product(["rhn", "gam", "gam_rhn"], ["float16", "bfloat16"]),
        [("rhn", "float16"), ("gam_rhn", "bfloat16")],
    ),
)
def test_a_narrow_dtype_throughout(name, policy):
    layer = small_layers.fast(name, dtype=policy)
    loop = small_layers.loop(name, dtype=policy)
    x = helpers.random(2, 4, 2)
    found, expected = (
        helpers.as_numpy(ops.cast(y, "float32")) for y in (layer(x), loop(x))
    )
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_sizes_may_be_integers_of_numpy():
    layer = RHN(np.int64(3), np.int32(2))
    assert layer(np.ones((2, 4, 5))).shape == (2, 3)
    assert type(layer.get_config()["units"]) is int


OWN = {
    **own_cells(2),
    "keras": lambda: keras.layers.LSTMCell(
        2, dropout=0.4, recurrent_dropout=0.4, seed=3
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_a_cell_of_ones_own_trains_as_in_keras(name):
    """Its output need not be a state, nor be what its base class gives."""
    cell = OWN[name]()
    loop = keras.layers.RNN(cell, return_sequences=True, return_state=True)
    loop.build(SEQUENCE.shape)
    helpers.randomize(loop)
    fast = FastRNN(cell, return_sequences=True, return_state=True)
    assert fast.slow_because
    cotangents = [
        helpers.random(*x.shape, seed=5 + i)
        for i, x in enumerate(keras.tree.flatten(loop(SEQUENCE)))
    ]
    found = []
    for layer in (fast, loop):
        for variable in cell.non_trainable_variables:
            variable.assign([7, 0])  # Both draw the same masks.
        found.append(
            small_layers.backpropagate(
                layer, [SEQUENCE], cotangents, training=True
            )
        )
    helpers.assert_close(*found)
    assert all(np.any(gradient) for gradient in found[0][1])
    assert np.abs(helpers.as_numpy(fast(SEQUENCE)[0])).max() > 0.1


def test_a_list_of_cells_is_a_stack():
    cells = [RHNCell(3), FastLSTMCell(4, dropout=0.5)]
    layer = FastRNN(cells, return_sequences=True)
    assert layer.slow_because is None
    loop = keras.layers.RNN(layer.cell, return_sequences=True)
    helpers.assert_close(layer(SEQUENCE), loop(SEQUENCE))
    halves = FastRNN(layer.cell, return_sequences=True, stateful=True)
    expected = helpers.as_numpy(layer(SEQUENCE))
    assert np.abs(layer(SEQUENCE, training=True) - expected).max() > 1e-3
    for _ in range(2):
        parts = [halves(SEQUENCE[:, :2]), halves(SEQUENCE[:, 2:])]
        found = np.concatenate(helpers.as_numpy(parts), axis=1)
        helpers.assert_close(found, expected)
        halves.reset_state()


@every_layer
def test_a_layer_shows_every_argument(name):
    cell_class, layer_class, sizes = small_layers.LAYERS[name]
    layer = layer_class(**sizes, dropout=0.1, **small_layers.ARGUMENTS)
    for argument, value in small_layers.ARGUMENTS.items():
        assert type(getattr(layer, argument)) is type(value), argument
    expected = inspect.signature(cell_class).parameters
    found = inspect.signature(layer_class).parameters
    assert [x for x in found if x in expected] == list(expected)
    for argument in found.keys() - {"kwargs"}:
        assert hasattr(layer, argument), argument
        if argument in expected:
            assert found[argument].default == expected[argument].default
    assert layer.dropout == 0.1
    with pytest.raises((TypeError, ValueError), match=layer_class.__name__):
        layer_class(**sizes, dropuot=0.1)


@small_layers.one_of_a_kind
def test_an_empty_batch(name):
    layer = small_layers.fast(name, {"return_state": True})
    outputs, *states = layer(np.ones((0, 5, 2), "float32"))
    assert outputs.shape == (0, 5, layer.cell.output_size)
    assert {state.shape[0] for state in states} == {0}


def test_inputs_of_two_axes_are_refused_before_the_cell_is_built():
    layer = RHN(4)
    with pytest.raises(ValueError, match="expected ndim=3, found ndim=2"):
        layer(np.ones((7, 3), "float32"))
    assert layer(np.ones((3, 5, 4), "float32")).shape == (3, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # Keras fails by an index out of bounds.
        *(
            (call, r"one step.*\(2, 0, 4\)")
            for call in (
                lambda: FastRNN(RHNCell(4))(np.ones((2, 0, 4))),
                lambda: FastRNN(RHNCell(4)).carry_on(np.ones((2, 0, 4)), []),
                lambda: AttentionRNN(AttentionCell(RHNCell(4)))(
                    np.ones((2, 0, 4)), np.ones((2, 3, 4))
                ),
            )
        ),
        *(
            (
                lambda cell=cell, shapes=shapes: FastRNN(cell(4))(
                    SEQUENCE,
                    initial_state=[helpers.random(*x) for x in shapes],
                ),
                r"`initial_state`.*Expected: \[\(3, 4\), \(3, 4\)\]",
            )
            for cell in (FastLSTMCell, keras.layers.LSTMCell)
            for shapes in ([(1, 4)] * 2, [(3, 4)], [(3, 5)] * 2)
        ),
    ],
)
def test_wrong_shapes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("unroll", [False, True])
def test_initial_states_of_a_stack_may_be_flat(unroll):
    layer = FastRNN([FastLSTMCell(4), FastGRUCell(3)], unroll=unroll)
    x, flat = helpers.random(2, 5, 4), [helpers.random(2, 4)] * 2
    flat.append(helpers.random(2, 3))
    loop = keras.layers.RNN(layer.cell)
    helpers.assert_close(
        layer(x, initial_state=flat),
        loop(x, initial_state=[flat[:2], flat[2:]]),
    )


def test_it_runs_in_the_dtype_of_its_cell():
    for cell in (
        PeepholeLSTMCell(3, dtype="mixed_bfloat16"),
        RHNCell(3, dtype="mixed_bfloat16"),
        keras.layers.GRUCell(3, dtype="mixed_bfloat16"),
        *(
            around(RHNCell(3, dtype="mixed_bfloat16"))
            for around in (
                *(ZoneoutCell, ResidualBlockCell, SHACell, SelfAttentionCell),
                lambda cell: [cell],
            )
        ),
    ):
        assert FastRNN(cell).compute_dtype == "bfloat16"


def test_outputs_of_another_width_than_the_cell_says():
    cell = ProjectedCell(3, 4)
    cell.output_size = 5
    with pytest.raises(ValueError, match="`step` must.*5.*Received.*4"):
        FastRNN(cell)(SEQUENCE)


def test_a_masked_output_may_be_wider_than_the_state():
    """Which the loop of Keras refuses on JAX."""
    layer = FastRNN(ProjectedCell(3, 4), return_sequences=True)
    outputs = helpers.as_numpy(layer(SEQUENCE, mask=MASK))
    helpers.assert_close(outputs[0, :3], layer(SEQUENCE[:1, :3])[0])
    helpers.assert_close(outputs[0, 3:], np.tile(outputs[0, 2], (2, 1)))


NODES = helpers.random(3, 4, 5, 2)


@keras.saving.register_keras_serializable("tests")
class GraphCell(keras.layers.Layer):
    """A cell of others, whose state is a matrix for each row."""

    def __init__(self, nodes, units, **kwargs):
        super().__init__(**kwargs)
        self.nodes, self.units = nodes, units
        self.output_size = (nodes, units)
        self.state_size = [self.output_size]

    def build(self, input_shape):
        self.kernel = self.add_weight((input_shape[-1], self.units))

    def get_initial_state(self, batch_size=None):
        return [ops.ones((batch_size, *self.output_size))]

    def call(self, inputs, states):
        state = ops.tanh(ops.matmul(inputs, self.kernel) + states[0])
        return state, [state]


@pytest.mark.parametrize("masked", [False, True])
def test_a_state_may_be_a_matrix(masked):
    mask = np.array([[1, 1, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]], bool)
    options = {"return_sequences": True, "return_state": True}
    cell = GraphCell(5, 6)
    fast = FastRNN(cell, **options)
    loop = keras.layers.RNN(cell, **options)
    kwargs = {"mask": mask} if masked else {}
    found, expected = fast(NODES, **kwargs), loop(NODES, **kwargs)
    if masked and helpers.ON_JAX:
        found, expected = ([x[::2] for x in y] for y in (found, expected))
    helpers.assert_close(found, expected)
    symbols = fast(keras.Input((4, 5, 2)))
    assert [x.shape for x in symbols] == [(None, 4, 5, 6), (None, 5, 6)]


def test_a_state_that_is_a_matrix_is_zoned_out():
    layer = FastRNN(ZoneoutCell(GraphCell(5, 6), 0.5, seed=1))
    found = helpers.as_numpy(layer(NODES[:, :1], training=True))
    assert 0.3 < (found == 1).mean() < 0.7  # the states at the start


def test_it_starts_and_is_reset_at_the_state_of_its_cell():
    layer = FastRNN(GraphCell(5, 2), stateful=True)
    first, second = (helpers.as_numpy(layer(NODES)) for _ in range(2))
    assert np.abs(first - second).max() > 1e-3
    layer.reset_state()
    helpers.assert_close(layer(NODES), first)


@each_way_to_run
def test_what_is_masked_may_be_nan(name):
    """Neither outputs nor any gradient may know of it."""
    x = np.where(MASK[..., None], SEQUENCE, np.nan)
    layer = small_layers.fast(name, {"return_state": True})
    shapes = [y.shape for y in layer(SEQUENCE)]
    cotangents = [np.ones(shape, "float32") for shape in shapes]
    found, expected = (
        small_layers.backpropagate(
            layer, [sequence], cotangents, mask=ops.convert_to_tensor(MASK)
        )
        for sequence in (x, SEQUENCE)
    )
    helpers.assert_close(found, expected, 0, 0)


def test_missing_measurements_train_no_weight_to_nan():
    x = np.where(MASK[..., None], SEQUENCE, np.nan)
    for cell in (RHNCell(3), keras.layers.GRUCell(3)):
        inputs = keras.Input((5, 2)), keras.Input((5,), dtype="bool")
        outputs = FastRNN(cell)(inputs[0], mask=inputs[1])
        model = keras.Model(inputs, keras.layers.Dense(1)(outputs))
        model.compile("sgd", "mse")
        model.train_on_batch((x, MASK), np.ones((3, 1)))
        assert all(np.all(np.isfinite(w)) for w in model.get_weights())


@pytest.mark.parametrize("others", [[], [~MASK & False]], ids=["one", "two"])
def test_a_mask_may_have_a_further_axis(others):
    layer = small_layers.fast("rhn")
    helpers.assert_close(
        layer(SEQUENCE, mask=np.stack([*others, MASK], -1)),
        layer(SEQUENCE, mask=MASK),
    )


def test_it_says_why_a_cell_is_slow():
    class Loud(RHNCell):
        def call(self, inputs, states, training=False):
            return super().call(inputs, states, training)

    assert FastRNN(RHNCell(3)).slow_because is None
    assert "`unroll=True`" in FastRNN(RHNCell(3), unroll=True).slow_because
    for cell, why in (
        (
            keras.layers.GRUCell(3),
            "GRUCell defines `call`, but no matching `run`",
        ),
        (Loud(3), "Loud defines `call`, but no matching `run`"),
        ([RHNCell(3), Loud(3)], "Loud"),
    ):
        assert why in FastRNN(cell).slow_because


def test_a_subclass_of_a_step_is_as_fast():
    class Damped(RHNCell):
        def step(self, states, given, product):
            (s,) = super().step(states, given, product)
            return [0.5 * s]

    layer = FastRNN(Damped(3, 2), return_sequences=True)
    assert layer.slow_because is None
    loop = keras.layers.RNN(layer.cell, return_sequences=True)
    helpers.assert_close(layer(SEQUENCE), loop(SEQUENCE))
    assert np.abs(helpers.as_numpy(layer(SEQUENCE))).max() < 0.5


def test_the_cell_of_a_subclass_counts():
    @keras.saving.register_keras_serializable("tests")
    class SignedRHNCell(RHNCell):
        """A cell with an argument of its own."""

        def __init__(self, units, sign=1, **kwargs):
            super().__init__(units, **kwargs)
            self.sign = sign

        def step(self, states, given, product):
            return [self.sign * s for s in super().step(states, given, product)]

    class SignedRHN(RHN):
        cell_class = SignedRHNCell

    layer = SignedRHN(3, sign=-1, kernel_regularizer="l2")
    assert layer.sign == -1
    assert type(layer.cell) is SignedRHNCell
    layer(SEQUENCE)
    assert len(layer.losses) == 1
    again = SignedRHN.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()


# What belongs to no input kernel, by a word of its name.
KINDS = {"recurrent": "recurrent", "next": "recurrent", "bias": "bias"}
KINDS |= {"gains": "none", "peepholes": "none", "decay": "none"}


def kind_of(weight):
    kinds = [KINDS[x] for x in weight.name.split("_") if x in KINDS]
    return [*kinds, "kernel"][0]


@small_layers.one_of_a_kind
def test_weights_start_as_told(name):
    """By any function, but for biases that keep the state at first."""
    first = {"kernel": 2, "recurrent": 3, "bias": 4}
    options = {
        f"{kind}_initializer": lambda shape, dtype=None, value=value: ops.full(
            shape, value, dtype
        )
        for kind, value in first.items()
    }
    cell = small_layers.new_cell(name, **options)
    cell.build((None, 2))
    for weight in cell.weights:
        value = first.get(kind_of(weight))
        found = set(helpers.as_numpy(weight.value).ravel())
        assert value in {None, *found}, weight.name
        assert kind_of(weight) in ("bias", "none") or len(found) == 1


@small_layers.one_of_a_kind
def test_regularizers_and_constraints(name):
    options = {
        argument: value
        for argument, value in small_layers.ARGUMENTS.items()
        if "initializer" not in argument
    }
    layer = small_layers.fast(name, **options)
    regularized = [w for w in layer.weights if w.regularizer is not None]
    assert len(layer.losses) == len(regularized) > 1
    for weight in layer.weights:
        for what in ("regularizer", "constraint"):
            expected = options.get(f"{kind_of(weight)}_{what}")
            assert type(getattr(weight, what)) is type(expected), weight.name


def test_a_cell_of_keras_with_dropout_trains_on_masked_steps():
    """On JAX, masks that are drawn in the loop could not leave it."""
    cell = keras.layers.LSTMCell(3, dropout=0.5, recurrent_dropout=0.5)
    model = keras.Sequential(
        [keras.layers.Embedding(5, 4, mask_zero=True), FastRNN(cell)]
    )
    model.compile("sgd", "mse")
    ids = np.array([[1, 2, 3, 0, 0], [2, 2, 2, 2, 2]])
    loss = model.train_on_batch(ids, np.ones((2, 3)))
    assert np.isfinite(loss)


def test_a_stack_that_carries_on_draws_its_masks_before_the_loop():
    """On JAX, masks that are drawn in the loop could not leave it."""
    cell = FastGRUCell(3, dropout=0.5, recurrent_dropout=0.5)
    calls = []
    call = cell.call

    def spy(*args, **kwargs):
        assert cell._dropout_mask is not None
        calls.append(None)
        return call(*args, **kwargs)

    # Unrolled, the loop calls the cell at each step.
    layer = FastRNN([keras.layers.GRUCell(4), cell], unroll=True)
    x = np.ones((2, 5, 4), "float32")
    layer(x)
    cell.call = spy
    layer.carry_on(x, layer.get_initial_state(2), training=True)
    assert len(calls) >= 5
    assert cell._dropout_mask is None


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="SavedModels"
)
@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_stateful_layer_is_exported(batch_size, tmp_path):
    import tensorflow as tf

    rows = SEQUENCE[:batch_size]
    model = keras.Sequential(
        [
            keras.Input(batch_shape=(batch_size, None, 2)),
            keras.layers.Masking(),
            FastLSTM(3, stateful=True),
        ]
    )
    model.export(tmp_path / "model", verbose=False)
    served = tf.saved_model.load(tmp_path / "model")
    for steps in (rows[:, :2], rows[:, 2:]):
        helpers.assert_close(served.serve(steps), model(steps))
