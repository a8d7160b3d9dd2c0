import itertools

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import RGLRU
from kerasrnn.layers import FastRNN
from kerasrnn.layers import LinearCell
from kerasrnn.layers import MinGRU
from kerasrnn.layers import MinGRUCell
from kerasrnn.layers import MinLSTM
from kerasrnn.layers import ZoneoutCell
from kerasrnn.layers.loop import run_loop
from tests import helpers
from tests.layers import small_layers

LENGTHS = [1, 15, 16, 17, 50]
EVERY = [MinGRU, MinLSTM, RGLRU]

every_layer = pytest.mark.parametrize("layer_class", EVERY)


@keras.saving.register_keras_serializable("tests")
class Average(LinearCell):
    def build(self, input_shape):
        self.build_gates(input_shape[-1], 1)

    def coefficients(self, inputs):
        x = self.gates(inputs)
        return ops.full_like(x, 0.9), 0.1 * x


class Doubled(MinGRUCell):
    def step(self, states, given, product):
        (h,) = super().step(states, given, product)
        return [2 * h]


class Squared(MinGRUCell):
    def read_out(self, states, inputs):
        return states[0] ** 2


def random_weights(layer):
    layer.build((None, None, 2))
    helpers.randomize(layer)
    return layer


@pytest.mark.parametrize("cell_class", [Average, Doubled, Squared])
@pytest.mark.parametrize("training", [False, True])
def test_what_a_subclass_says_is_what_it_runs(cell_class, training):
    options = {"return_sequences": True, "return_state": True}
    fast = random_weights(FastRNN(cell_class(3), **options))
    loop = random_weights(keras.layers.RNN(fast.cell, **options))
    assert fast.slow_because is None
    x = helpers.random(2, 20, 2)
    mask = np.arange(20) < [[20], [4]]
    found = fast(x, mask=mask, training=training)
    helpers.assert_close(found, loop(x, mask=mask, training=training))


def test_a_cell_says_its_coefficients():
    layer = FastRNN(LinearCell(3))
    with pytest.raises(NotImplementedError, match="override `coefficients"):
        layer(helpers.random(2, 5, 2))


@every_layer
def test_it_refuses_what_it_cannot_drop(layer_class):
    match = "no `recurrent_dropout`.*ZoneoutCell.*Received.*0.25"
    with pytest.raises(ValueError, match=match):
        layer_class(3, recurrent_dropout=0.25)


@pytest.mark.parametrize(
    ("name", "training"),
    helpers.some_now(
        itertools.product(small_layers.LINEAR, [False, True]),
        [("min_gru", True), ("rg_lru", False)],
    ),
)
def test_zoneout_takes_the_loop(name, training):
    cell = small_layers.cell(name)
    layer = FastRNN(ZoneoutCell(cell, 0.5, seed=1), return_sequences=True)
    assert layer.slow_because is None
    x = helpers.random(2, 6, 2)
    found = helpers.as_numpy(layer(x, training=training))
    plain = FastRNN(cell, return_sequences=True)(x)
    assert np.abs(found - helpers.as_numpy(plain)).max() > 0.01
    if training:
        kept = found[:, 1:] == found[:, :-1]
        assert 0.1 < kept.mean() < 0.9
    else:
        h = np.zeros((2, cell.units), "float32")
        for step in range(6):
            (new,) = small_layers.step(cell, x[:, step], [h])
            h = (h + new) / 2
            helpers.assert_close(found[:, step], h)


@pytest.mark.parametrize(
    ("name", "last_only"),
    helpers.some_now(
        itertools.product(small_layers.LINEAR, [False, True]),
        [("min_gru", True), ("rg_lru", False)],
    ),
)
def test_inference_in_blocks(name, last_only, monkeypatch):
    layer = small_layers.fast(
        name, {"return_sequences": not last_only, "return_state": True}
    )
    x, mask = helpers.random(2, 50, 2), np.arange(50) < [[50], [37]]
    whole = layer(x, mask=mask)
    monkeypatch.setattr(run_loop, "_ROWS", 14)
    helpers.assert_close(layer(x, mask=mask), whole)


@pytest.mark.slow
@pytest.mark.parametrize("layer_class", helpers.one_now(EVERY))
def test_lengths_that_differ_in_training(layer_class):
    model = keras.Sequential(
        [
            keras.Input((None, 2)),
            keras.layers.Masking(),
            keras.layers.Bidirectional(
                layer_class(2, return_sequences=True, dropout=0.1)
            ),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Adam(0.05), "mse")

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            x = helpers.random(2 + index % 2, 3 + 17 * (index % 2), 2)
            return x, x[..., :1]

    losses = model.fit(Batches(), epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    for time in (3, 20):
        x = helpers.random(2, time, 2)
        padded = np.pad(x, ((0, 0), (0, 5), (0, 0)))
        found = model.predict(padded, verbose=0)[:, :time]
        helpers.assert_close(found, model(x))


@every_layer
def test_a_thousand_steps_and_more(layer_class):
    """Weights that multiply to 0, and states that are kept."""
    layer = random_weights(layer_class(2, return_sequences=True))
    for scale in (1, 100):
        x = scale * helpers.random(2, 2000, 2)
        outputs, weights, (arrays,) = small_layers.backpropagate(
            layer, [x], [np.ones((2, 2000, 2), "float32")], training=True
        )
        assert all(np.all(np.isfinite(y)) for y in (*outputs, *weights, arrays))
        cell, h = layer.cell, np.zeros((2, 2), "float32")
        for step in range(1900, 2000):
            # From the state of the run, a hundred steps more.
            h = outputs[0][:, step - 1] if step == 1900 else h
            (h,) = small_layers.step(cell, x[:, step], [h])
        helpers.assert_close(h, outputs[0][:, -1], 1e-3, 1e-4)


def test_the_state_stays_in_float32_under_mixed_precision():
    layer = MinGRU(4, return_state=True, dtype="mixed_bfloat16")
    layer.build((None, None, 2))
    layer.cell.kernel.assign(np.zeros((2, 8)))
    layer.cell.bias.assign([-7.0] * 4 + [0.0] * 4)
    start = [ops.ones((1, 4), "bfloat16")]
    _, last = layer(np.ones((1, 400, 2), "float32"), initial_state=start)
    # Each step keeps 0.9991, which is 1 in bfloat16.
    expected = (1 - 1 / (1 + np.exp(7))) ** 400
    helpers.assert_close(
        ops.cast(last, "float32"), np.full((1, 4), expected), 0.01
    )


@keras.saving.register_keras_serializable("tests")
class Associative(keras.layers.Layer):
    """A cell of a user's own whose run is a scan of Keras."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight((input_shape[-1], self.units))

    def call(self, inputs, states):
        h = 0.5 * states[0] + ops.matmul(inputs, self.kernel)
        return h, [h]

    def run(self, sequence, states, mask=None, training=False):
        b = ops.matmul(sequence, self.kernel)
        a = ops.full_like(b, 0.5)
        b = ops.concatenate([b[:1] + a[:1] * states[0], b[1:]])
        _, h = ops.associative_scan(
            lambda x, y: (x[0] * y[0], x[1] * y[0] + y[1]), (a, b)
        )
        return h, [h[-1]]


@pytest.mark.skipif(
    keras.backend.backend() == "tensorflow"
    and keras.version().startswith("3.12."),
    reason="`associative_scan` of Keras 3.12 calls itself without end in a "
    "graph of TensorFlow",
)
@pytest.mark.parametrize("return_sequences", [False, True])
def test_a_scan_of_keras_in_a_cell_of_ones_own(return_sequences):
    """TensorFlow does not know the rank of what it returns."""
    cell = Associative(3)
    loop = keras.layers.RNN(cell, return_sequences)
    inputs = keras.Input((5, 2))
    model = keras.Model(inputs, FastRNN(cell, return_sequences)(inputs))
    model.compile("sgd", "mse")
    x = helpers.random(4, 5, 2)
    model.fit(x, np.zeros(loop(x).shape), batch_size=3, verbose=0)
    helpers.assert_close(model.predict(x, verbose=0), loop(x))
