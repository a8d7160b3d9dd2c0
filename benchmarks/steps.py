"""Compares single layers with the loop of Keras, at many shapes.

    python benchmarks/steps.py
    python benchmarks/steps.py --backend jax
    PYTHONPATH=../before python benchmarks/steps.py     # another version

Prints the minimum CPU milliseconds of a training step (forward pass and all
gradients) and of inference, for a layer and for `keras.layers.RNN` of its cell.
Both run alternately in one process. On a GPU, it prints wall milliseconds.
`Attention` is additive attention before a GRU, to as many positions as steps;
it is compared with the same attention around Keras's `GRUCell`. `--layers` can
also name the cells that the guides define.
"""

import speeds

# Layer: shapes of (steps, batch, units, input width).
SHAPES = {
    "FastLSTM": [
        (35, 20, 200, 200),
        (100, 32, 256, 64),
        (1000, 16, 256, 16),
        (35, 20, 830, 830),
    ],
    "FastGRU": [(35, 20, 200, 200), (100, 32, 256, 64)],
    "PeepholeLSTM": [(35, 20, 200, 200), (100, 32, 256, 64)],
    "RHN": [(35, 20, 200, 200), (100, 32, 256, 64), (1000, 16, 256, 16)],
    "RHN, depth 10": [(35, 20, 830, 830)],
    "GAM": [(35, 20, 200, 200)],
    "GAMRHN": [(35, 20, 200, 200), (35, 20, 600, 600)],
    "MinGRU": [(100, 32, 256, 256), (1000, 16, 256, 256)],
    "RGLRU": [(100, 32, 256, 256), (1000, 16, 256, 256)],
    "SLSTM": [(100, 32, 256, 256), (1000, 16, 256, 256)],
    "Attention": [(20, 32, 256, 256), (50, 32, 256, 256)],
}
OF_GUIDES = dict.fromkeys(
    ["ProjectingLSTM", "IndRNN", "Leaky", "Leaky, self-attention"],
    [(35, 20, 200, 200), (100, 32, 256, 64)],
)


def read_arguments():
    parser = speeds.argument_parser(__doc__, threads=1)
    add = parser.add_argument
    names = [*SHAPES, *OF_GUIDES]
    add("--layers", nargs="+", default=list(SHAPES), choices=names)
    return speeds.prepare(parser.parse_args())


ARGS = read_arguments()

import guide_cells  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
import timed_steps  # noqa: E402

from kerasrnn import layers  # noqa: E402


def make(name, units):
    """Creates a layer of `SHAPES`, or of a cell of the guides."""
    if name in OF_GUIDES:
        cell = guide_cells.cell(name, units)
        return layers.FastRNN(cell, return_sequences=True)
    kind, *deep = name.split(", ")
    sizes = {
        "RHN": {"units": units, "depth": 10 if deep else 3},
        "GAM": {"num_groups": units, "group_size": 3, "head_units": units // 2},
        "GAMRHN": speeds.gam_rhn(units, depth=5),
    }.get(kind, {"units": units})
    return getattr(layers, kind)(**sizes, return_sequences=True)


def systems(name, shape):
    """Returns a layer, the loop of Keras around its cell, and their input."""
    steps, batch, units, width = shape
    if name == "Attention":
        return attention(shape)
    layer = make(name, units)
    loop = keras.layers.RNN(layer.cell, return_sequences=True)
    shape = (batch, steps, width)
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    return [layer, loop], x


def attention(shape):
    """Returns attention around our cell and Keras's, and their input."""
    steps, batch, units, width = shape
    x = np.random.default_rng(0).normal(size=(batch, steps, width))

    def around(cell):
        rnn = layers.AttentionRNN(layers.AttentionCell(cell, "additive"))
        return AttentionToItself(rnn)

    cells = layers.FastGRUCell, keras.layers.GRUCell
    found = [around(cell(units)) for cell in cells]
    return found, x.astype("float32")


class AttentionToItself(keras.layers.Layer):
    """An `AttentionRNN` whose memory is its sequence."""

    def __init__(self, rnn):
        super().__init__()
        self.rnn = rnn

    def build(self, shape):
        self.rnn.build(shape, shape)

    def call(self, x, training=False):
        return self.rnn(x, x, training=training)


def rows():
    """Yields the times of each layer and shape, as text."""
    for name in ARGS.layers:
        for shape in (SHAPES | OF_GUIDES)[name]:
            found, x = systems(name, shape)
            both = [timed_steps.functions(layer, x) for layer in found]
            row = [f"{name}, {', '.join(map(str, shape))}"]
            for steps in zip(*both, strict=True):
                fast, slow = timed_steps.least(steps, ARGS.repeats)
                row += [f"{fast:.1f}", f"{slow:.1f}", f"{slow / fast:.2f}"]
            yield row


def main():
    speeds.set_threads(ARGS)
    heads = ["layer", "loop", "times", "inference", "loop", "times"]
    first = f"{timed_steps.CLOCK} ms: T, B, units, input"
    speeds.print_table([first, *heads], rows())


if __name__ == "__main__":
    main()
