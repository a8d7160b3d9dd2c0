"""Measures time and memory of layers over sequences of up to 16,384 steps.

    python benchmarks/long_sequences.py

Prints, for sequences of 256 inputs, the minimum CPU milliseconds of a
training step (forward pass and all gradients) divided by the number of steps,
and the peak memory beyond that of 64 steps, in MiB. On a GPU, the time is wall
time, and the memory is that of the host. Each figure comes from its own
process. `Attention` is causal attention of four heads.
"""

import multiprocessing
import resource

import speeds

WIDTH = 256
LAYERS = "FastLSTM", "MinGRU", "GatedDelta", "MLSTM", "Attention"


def read_arguments():
    parser = speeds.argument_parser(__doc__, repeats=3, threads=1)
    add = parser.add_argument
    add("--layers", nargs="+", default=LAYERS, choices=LAYERS)
    add("--batch", type=int, default=1, help="sequences")
    add("--lengths", type=int, nargs="+", default=[1024, 4096, 16384])
    return speeds.prepare(parser.parse_args())


ARGS = read_arguments()

import keras  # noqa: E402
import numpy as np  # noqa: E402
import timed_steps  # noqa: E402

from kerasrnn import layers  # noqa: E402


class Attention(keras.layers.Layer):
    """Causal self-attention."""

    def __init__(self):
        super().__init__()
        self.attention = keras.layers.MultiHeadAttention(4, WIDTH // 4)

    def build(self, shape):
        self.attention.build(shape, shape)

    def call(self, x):
        return self.attention(x, x, use_causal_mask=True)


def measure(name, steps):
    """Returns milliseconds per step, and the peak memory in MiB."""
    speeds.set_threads(ARGS)
    if name == "Attention":
        layer = Attention()
    else:
        layer = getattr(layers, name)(WIDTH, return_sequences=True)
    x = np.random.default_rng(0).normal(size=(ARGS.batch, steps, WIDTH))
    train, _ = timed_steps.functions(layer, x.astype("float32"))
    (milliseconds,) = timed_steps.least([train], ARGS.repeats)
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return milliseconds / steps, kibibytes / 1024


def rows():
    """Yields time and memory of each layer and length, as text."""
    for name in ARGS.layers:
        _, before = in_a_process(name, 64)
        for steps in ARGS.lengths:
            time, peak = in_a_process(name, steps)
            yield [f"{name}, {steps:,}", f"{time:.3f}", f"{peak - before:,.0f}"]


def in_a_process(*arguments):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, arguments)


def main():
    clock = timed_steps.CLOCK
    speeds.print_table(["steps", f"{clock} ms per step", "MiB"], rows())


if __name__ == "__main__":
    main()
