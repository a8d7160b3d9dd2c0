"""Weights that Keras and PyTorch trained give the same results here."""

import itertools

import keras
import numpy as np
import pytest
from keras.layers import GRU
from keras.layers import LSTM
from keras.layers import Bidirectional

from kerasrnn.layers import FastGRU
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import PeepholeLSTM
from kerasrnn.layers import copy_weights
from kerasrnn.layers import load_torch_weights
from kerasrnn.layers import torch_weights
from tests import helpers
from tests import pages
from tests.reference.cells import sigmoid

WIDTH, UNITS = 3, 4
X = helpers.random(2, 6, WIDTH)
FAST = {"LSTM": FastLSTM, "GRU": FastGRU}
KERAS = {"LSTM": LSTM, "GRU": GRU}
ALL = {"return_sequences": True, "return_state": True}

every_kind = pytest.mark.parametrize("kind", FAST)
OPTIONS = [*itertools.product(FAST, [True, False], [False, True])]
# In which any two of them meet in each way.
HALF = [OPTIONS[i] for i in (1, 2, 4, 7)]

every_option = pytest.mark.parametrize(
    ("kind", "use_bias", "bidirectional"), helpers.some_now(OPTIONS, HALF)
)


def close(found, expected):
    helpers.assert_close(found, expected, rtol=0, atol=1e-5)


def make(layer_class, built=True, bidirectional=False, width=WIDTH, **options):
    """A layer with random weights, or without any yet."""
    layer = layer_class(**ALL | {"units": UNITS} | options)
    if bidirectional:
        layer = Bidirectional(layer)
    if built:
        layer.build((None, None, width))
        helpers.randomize(layer)
    return layer


def lstm_step(x, states, W_ih, W_hh, b_ih=0, b_hh=0):
    """The next `h` and `c`, from the documentation of `torch.nn.LSTM`."""
    h, c = states
    gates = W_ih @ x + b_ih + W_hh @ h + b_hh
    i, f, g, o = np.split(gates, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(c), c]


def gru_step(x, states, W_ih, W_hh, b_ih=0, b_hh=0):
    """The next `h`, from the documentation of `torch.nn.GRU`."""
    (h,) = states
    of_x, of_h = (np.split(a, 3) for a in (W_ih @ x + b_ih, W_hh @ h + b_hh))
    r = sigmoid(of_x[0] + of_h[0])
    z = sigmoid(of_x[1] + of_h[1])
    n = np.tanh(of_x[2] + r * of_h[2])
    return [(1 - z) * n + z * h]


def direction(kind, sequence, weights):
    """Outputs `(time, units)` and last states of a row, in one direction."""
    step = {"LSTM": lstm_step, "GRU": gru_step}[kind]
    states = [np.zeros(UNITS)] * {"LSTM": 2, "GRU": 1}[kind]
    outputs = []
    for x in sequence:
        states = step(x, states, *weights)
        outputs.append(states[0])
    return np.array(outputs), states


def module(kind, state, num_layers, bidirectional):
    """Outputs and last states of PyTorch's module, for the rows of `X`.

    The last states are one list: layer by layer, in it forwards before
    backwards, as ours are.
    """
    rows, lasts = [], []
    for sequence in X:
        last = []
        for n in range(num_layers):
            found = []
            for reverse in ["", "_reverse"][: 1 + bidirectional]:
                weights = [
                    state[name]
                    for of in ("weight", "bias")
                    for which in ("ih", "hh")
                    if (name := f"{of}_{which}_l{n}{reverse}") in state
                ]
                turn = -1 if reverse else 1
                outputs, states = direction(kind, sequence[::turn], weights)
                found.append(outputs[::turn])
                last += states
            sequence = np.concatenate(found, -1)
        rows.append(sequence)
        lasts.append(last)
    return [np.array(rows), *map(np.array, zip(*lasts, strict=True))]


def run(layers):
    """What a list of layers returns for `X`, as `module` does."""
    outputs, lasts = X, []
    for layer in layers:
        outputs, *states = layer(outputs)
        lasts += states
    return [outputs, *lasts]


def random_state(kind, num_layers=1, bidirectional=False, use_bias=True):
    """Weights as PyTorch names them and shapes them."""
    rows = {"LSTM": 4, "GRU": 3}[kind] * UNITS
    rng = np.random.default_rng(5)
    state = {}
    for n in range(num_layers):
        width = UNITS * (1 + bidirectional) if n else WIDTH
        for reverse in ["", "_reverse"][: 1 + bidirectional]:
            shapes = {"weight_ih": (rows, width), "weight_hh": (rows, UNITS)}
            if use_bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            for name, shape in shapes.items():
                values = rng.normal(size=shape).astype("float32") / 2
                state[f"{name}_l{n}{reverse}"] = values
    return state


@every_option
def test_keras_and_back(kind, use_bias, bidirectional):
    options = {"use_bias": use_bias, "bidirectional": bidirectional}
    theirs = make(KERAS[kind], **options)
    fast = make(FAST[kind], built=False, **options)
    copy_weights(theirs, fast)
    close(fast(X), theirs(X))
    back = make(KERAS[kind], **options)
    copy_weights(fast, back)
    for found, expected in zip(back.weights, theirs.weights, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_other_activations_and_reset_before_go_to_keras_too():
    options = {"activation": "relu", "reset_after": False}
    theirs, fast = make(GRU, **options), make(FastGRU, **options)
    copy_weights(fast, theirs)
    close(theirs(X), fast(X))


def test_layer_normalization_goes_from_fast_to_fast():
    first, second = (make(FastLSTM, layer_norm=True) for _ in range(2))
    helpers.randomize(second, seed=2)
    copy_weights(first, second)
    close(second(X), first(X))


@every_kind
def test_a_list_of_layers_and_cells(kind):
    theirs = [make(KERAS[kind]), make(KERAS[kind], width=UNITS)]
    cell = {"LSTM": FastLSTMCell, "GRU": FastGRUCell}[kind](UNITS)
    fast = [FastRNN(cell, **ALL), FAST[kind](UNITS, **ALL)]
    copy_weights(theirs, fast)
    close(run(fast), run(theirs))
    alone = {"LSTM": FastLSTMCell, "GRU": FastGRUCell}[kind](UNITS)
    copy_weights(theirs[0].cell, alone)
    zeros = [np.zeros((2, UNITS))] * len(keras.tree.flatten(cell.state_size))
    close(alone(X[:, 0], zeros)[0], theirs[0](X)[0][:, 0])


@helpers.slow_on_jax
def test_one_layer_of_two_in_both_directions():
    theirs = [make(GRU, bidirectional=True), make(LSTM, width=2 * UNITS)]
    fast = [Bidirectional(FastGRU(UNITS, **ALL)), FastLSTM(UNITS, **ALL)]
    copy_weights(theirs, fast)
    close(run(fast), run(theirs))


@pytest.mark.parametrize("num_layers", helpers.one_now([2, 1]))
@every_option
def test_pytorch_and_back(kind, use_bias, bidirectional, num_layers):
    """Against NumPy, with PyTorch's order of gates and names."""
    state = random_state(kind, num_layers, bidirectional, use_bias)
    layers = [
        make(
            FAST[kind],
            built=False,
            bidirectional=bidirectional,
            use_bias=use_bias,
        )
        for _ in range(num_layers)
    ]
    load_torch_weights(state, layers if num_layers > 1 else layers[0])
    expected = module(kind, state, num_layers, bidirectional)
    close(run(layers), expected)
    back = torch_weights(layers)
    assert list(back) == list(state)
    for name, array in back.items():
        assert array.dtype == "float32" and array.shape == state[name].shape
        assert array.flags.writeable and array.flags.c_contiguous
        if kind == "GRU" or "weight" in name:
            np.testing.assert_array_equal(array, state[name])
        elif "bias_hh" in name:
            np.testing.assert_array_equal(array, 0)
    close(module(kind, back, num_layers, bidirectional), expected)


@every_option
def test_a_module_of_pytorch_and_back(kind, bidirectional, use_bias):
    torch = pytest.importorskip("torch")
    modules = [
        getattr(torch.nn, kind)(
            WIDTH,
            UNITS,
            num_layers=2,
            bidirectional=bidirectional,
            bias=use_bias,
            batch_first=True,
        )
        for _ in range(2)
    ]
    layers = [
        make(
            FAST[kind],
            built=False,
            bidirectional=bidirectional,
            use_bias=use_bias,
        )
        for _ in range(2)
    ]
    load_torch_weights(modules[0], layers)
    state = torch_weights(layers)
    modules[1].load_state_dict(
        {name: torch.from_numpy(array) for name, array in state.items()}
    )
    ours, *our_last = run(layers)
    for module in modules:
        outputs, last = module(torch.from_numpy(X))
        close(ours, outputs.detach().numpy())
        last = last if kind == "LSTM" else [last]
        # Ours go by the direction, then by the state.
        last = np.stack([x.detach().numpy() for x in last], 1)
        close(our_last, list(last.reshape(-1, *last.shape[2:])))


def test_bfloat16_of_pytorch_and_weights_with_gradients():
    torch = pytest.importorskip("torch")
    module = torch.nn.LSTM(WIDTH, UNITS).bfloat16()
    layer = FastLSTM(UNITS)
    load_torch_weights(dict(module.named_parameters()), layer)
    found = torch_weights(layer)["weight_hh_l0"]
    expected = module.weight_hh_l0.detach().float().numpy()
    np.testing.assert_array_equal(found, expected)


def test_weights_in_bfloat16_are_given_in_float32():
    # TensorFlow has no orthogonal matrices in it.
    layer = make(FastGRU, dtype="bfloat16", recurrent_initializer="zeros")
    assert {x.dtype.name for x in torch_weights(layer).values()} == {"float32"}


def test_weights_below_a_prefix_of_a_model():
    state = random_state("GRU")
    model = {f"encoder.gru.{name}": x for name, x in state.items()}
    model |= {"embedding.weight": X, "head.bias": X}
    layer = FastGRU(UNITS)
    load_torch_weights(model, layer, prefix="encoder.gru.")
    np.testing.assert_array_equal(
        torch_weights(layer)["bias_hh_l0"], state["bias_hh_l0"]
    )
    with pytest.raises(
        ValueError, match=r"`prefix` could be one of \['encoder.gru.'\]"
    ):
        load_torch_weights(model, layer)


@pytest.mark.slow_on_jax
def test_the_page_runs_with_pytorch(tmp_path, monkeypatch):
    """`tests/test_docs.py` leaves out the code that needs it."""
    pytest.importorskip("torchcrf")
    monkeypatch.chdir(tmp_path)
    text = (pages.ROOT / "docs/guides/weights.md").read_text("utf-8")
    code = [block["code"] for block in pages.BLOCK.finditer(text)]
    assert any("import torch" in block for block in code)
    pages.run("\n".join(code), "weights.md")


def test_a_layer_of_keras_takes_weights_of_pytorch():
    state = random_state("GRU")
    layer = GRU(UNITS, **ALL)
    load_torch_weights(state, layer)
    close(layer(X), module("GRU", state, 1, False))


def without(name):
    state = random_state("LSTM")
    del state[name]
    return state


def shaped(name, *shape):
    return random_state("LSTM") | {name: np.zeros(shape)}


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (
            copy_weights,
            lambda: (make(LSTM), make(FastGRU)),
            "class=LSTM.*Received: class=GRU",
        ),
        (
            copy_weights,
            lambda: (make(LSTM), make(FastLSTM, use_bias=False)),
            "use_bias=True.*use_bias=False",
        ),
        (
            copy_weights,
            lambda: (make(LSTM), make(FastLSTM, activation="relu")),
            "activation=tanh.*activation=relu",
        ),
        (
            copy_weights,
            lambda: (
                make(LSTM),
                make(FastLSTM, recurrent_activation="hard_sigmoid"),
            ),
            "recurrent_activation=sigmoid.*recurrent_activation=hard_sigmoid",
        ),
        (
            copy_weights,
            lambda: (make(LSTM), make(FastLSTM, layer_norm=True)),
            "layer_norm=False.*layer_norm=True",
        ),
        (
            copy_weights,
            lambda: (make(LSTM), make(FastLSTM, width=2)),
            "input width=3.*input width=2",
        ),
        (
            copy_weights,
            lambda: (make(LSTM), make(FastLSTM, units=5)),
            "units=4 as `source` has.*units=5",
        ),
        (
            copy_weights,
            lambda: (make(GRU), make(FastGRU, reset_after=False)),
            "`target` must have reset_after=True.*Received: reset_after=False",
        ),
        (
            copy_weights,
            lambda: (
                [make(LSTM), make(LSTM, width=UNITS)],
                [make(FastLSTM), make(FastLSTM, width=UNITS, use_bias=False)],
            ),
            r"`target\[1\]` must have use_bias=True as `source\[1\]` has",
        ),
        (
            copy_weights,
            lambda: (
                make(LSTM, bidirectional=True),
                make(FastLSTM, bidirectional=True, activation="relu"),
            ),
            "target.forward_layer.*as `source.forward_layer`",
        ),
        (
            copy_weights,
            lambda: (make(LSTM), [FastLSTM(4)] * 2),
            r"\[1\]. Received: \[1, 1\]",
        ),
        (
            copy_weights,
            lambda: (make(LSTM), Bidirectional(LSTM(4))),
            r"\[1\]. Received: \[2\]",
        ),
        (
            copy_weights,
            lambda: (make(LSTM), PeepholeLSTM(4)),
            "an LSTM or GRU.*<PeepholeLSTM",
        ),
        (copy_weights, lambda: (make(LSTM), []), r"\[1\]. Received: \[\]"),
        (
            copy_weights,
            lambda: (LSTM(4), make(FastLSTM)),
            "`source` must be built.*<LSTM",
        ),
        (
            load_torch_weights,
            lambda: (without("weight_hh_l0"), make(FastLSTM)),
            r"Expected.*weight_hh_l0: \(16, 4\). Received: weight_hh_l0: none",
        ),
        (
            load_torch_weights,
            lambda: (random_state("LSTM", 2), make(FastLSTM)),
            r"weight_ih_l1: none.*Received.*weight_ih_l1: \(16, 4\)",
        ),
        (
            load_torch_weights,
            lambda: (random_state("LSTM", bidirectional=True), make(FastLSTM)),
            r"bias_hh_l0_reverse: none.*Received.*reverse: \(16,\)",
        ),
        (
            load_torch_weights,
            lambda: (random_state("LSTM"), make(FastLSTM, use_bias=False)),
            r"`use_bias`.*bias_ih_l0: none.*Received: bias_ih_l0: \(16,\)",
        ),
        (
            load_torch_weights,
            lambda: (random_state("LSTM", use_bias=False), make(FastLSTM)),
            r"Received: bias_ih_l0: none, bias_hh_l0: none",
        ),
        (
            load_torch_weights,
            lambda: (random_state("GRU"), make(FastLSTM)),
            r"`target`.*_ih_l0: \(16, 3\).*Received.*_ih_l0: \(12, 3\)",
        ),
        (
            load_torch_weights,
            lambda: (shaped("weight_ih_l0", 16, 2), make(FastLSTM)),
            r"\(16, 3\).*\(16, 2\)",
        ),
        (
            load_torch_weights,
            lambda: (shaped("weight_ih_l0"), make(FastLSTM)),
            r"\(16, 3\).*Received: weight_ih_l0: \(\)",
        ),
        (
            load_torch_weights,
            lambda: (shaped("bias_hh_l0", 12), make(FastLSTM)),
            r"bias_hh_l0: \(16,\).*bias_hh_l0: \(12,\)",
        ),
        (
            load_torch_weights,
            lambda: (shaped("weight_hr_l0", 2, 4), make(FastLSTM)),
            "`proj_size=0`.*weight_hr_l0",
        ),
        (
            load_torch_weights,
            lambda: ({"kernel": X}, make(FastLSTM)),
            "'weight_ih_l0'. Received: .*'kernel'",
        ),
        (
            load_torch_weights,
            lambda: (random_state("LSTM"), make(FastLSTM, layer_norm=True)),
            "layer_norm=True",
        ),
        (
            load_torch_weights,
            lambda: (random_state("LSTM"), make(FastLSTM, activation="relu")),
            "activation=relu",
        ),
        (
            load_torch_weights,
            lambda: (
                random_state("LSTM"),
                make(FastLSTM, recurrent_activation="hard_sigmoid"),
            ),
            "recurrent_activation=hard_sigmoid",
        ),
        (
            load_torch_weights,
            lambda: (random_state("GRU"), make(FastGRU, reset_after=False)),
            "reset_after=True, as PyTorch has",
        ),
        (
            torch_weights,
            lambda: [make(FastLSTM, layer_norm=True)],
            "layer_norm=False, as PyTorch has",
        ),
        (
            torch_weights,
            lambda: [make(FastLSTM, go_backwards=True)],
            "as in PyTorch.*go_backwards=True",
        ),
        (
            load_torch_weights,
            lambda: (
                random_state("LSTM"),
                [
                    keras.layers.Bidirectional(
                        make(FastLSTM, return_sequences=True), merge_mode="sum"
                    )
                ],
            ),
            "as in PyTorch.*with sum",
        ),
        (
            torch_weights,
            lambda: [make(FastGRU, reset_after=False)],
            "`source` must .*reset_after=True",
        ),
        (
            torch_weights,
            lambda: [[make(FastLSTM), make(FastGRU, width=UNITS)]],
            "class=LSTM, as one",
        ),
        (
            torch_weights,
            lambda: [[make(FastLSTM), make(FastLSTM)]],
            "input width=4.*input width=3",
        ),
        (
            torch_weights,
            lambda: [
                [make(FastGRU), make(FastGRU, width=UNITS, use_bias=False)]
            ],
            r"`source\[1\]` must have use_bias=True, as one module",
        ),
        (
            torch_weights,
            lambda: [[make(FastGRU, bidirectional=True), make(FastGRU)]],
            r"in `keras.layers.Bidirectional`, or none, .*\[2, 1\]",
        ),
        (
            torch_weights,
            lambda: [[make(FastGRU), FastGRU(4)]],
            r"`source\[1\]` must be built",
        ),
    ],
)
def test_what_is_refused_sets_no_weight(call, arguments, message):
    *source, target = arguments()
    layers = target if isinstance(target, list) else [target]
    before = [layer.get_weights() for layer in layers]
    with pytest.raises(ValueError, match=message):
        call(*source, target)
    after = [layer.get_weights() for layer in layers]
    keras.tree.map_structure(np.testing.assert_array_equal, after, before)
