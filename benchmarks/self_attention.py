"""Speed and memory of `SelfAttentionRNN`, for every kind of attention.

    python benchmarks/self_attention.py
    python benchmarks/self_attention.py --lengths 35 --repeats 20

The cell inside gives back its input, so that attention is all the work: the
outputs of all steps, and the gradients of the inputs and of all weights.
Each row is a process of its own. Times are the least of some turns; memory is
the peak of the process over its peak after a sequence of one step.
"""

import argparse
import functools
import multiprocessing
import os
import resource
import time

STYLES = ("dot", "scaled_dot", "general", "additive", "multi_head")
TOKENS = 4480  # In a batch of the longer sequences; of the shorter, fewer.


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--backend", default="tensorflow", choices=("tensorflow", "jax"))
    add("--lengths", nargs="+", type=int, default=[35, 2240])
    add("--batch", type=int, default=20, help="at most, and TOKENS in all")
    add("--units", type=int, default=600)
    add("--window", type=int, default=32)
    add("--repeats", type=int, default=7)
    add("--threads", type=int, default=2)
    return parser.parse_args()


def make_layer(style, units, window):
    import keras

    from kerasrnn.layers import SelfAttentionCell
    from kerasrnn.layers import SelfAttentionRNN

    class EchoCell(keras.layers.Layer):
        """A cell whose output is its input."""

        can_run_at_once = True

        def __init__(self, units):
            super().__init__()
            self.state_size = self.output_size = units

        def call(self, inputs, states):
            return inputs, [inputs]

        def run(self, sequence, states, mask=None, training=False):
            return sequence, [sequence[-1]]

    cell = SelfAttentionCell(EchoCell(units), style, window)
    return SelfAttentionRNN(cell, return_sequences=True)


def set_threads(threads):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def gradients_on_tensorflow(layer):
    import tensorflow as tf

    @tf.function
    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(layer(x) ** 2)
        variables = [v.value for v in layer.trainable_variables]
        # Not slices for an optimizer: dense.
        found = map(tf.convert_to_tensor, tape.gradient(loss, [x, *variables]))
        return list(found)

    return lambda x: gradients(tf.constant(x))[0].numpy()


def gradients_on_jax(layer):
    import jax

    others = [v.value for v in layer.non_trainable_variables]

    @jax.jit
    @functools.partial(jax.grad, argnums=(0, 1))
    def gradients(weights, x):
        outputs, _ = layer.stateless_call(weights, others, x)
        return (outputs**2).sum()

    weights = [v.value for v in layer.trainable_variables]
    return lambda x: jax.block_until_ready(gradients(weights, x))


def measure(style, length, args):
    """Least wall and CPU milliseconds, and the peak in MiB."""
    os.environ["KERAS_BACKEND"] = args.backend
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import numpy as np

    if args.backend == "tensorflow":
        set_threads(args.threads)
    layer = make_layer(style, args.units, args.window)
    layer.build((None, None, args.units))
    gradients = {
        "tensorflow": gradients_on_tensorflow,
        "jax": gradients_on_jax,
    }[args.backend](layer)
    size = max(1, min(args.batch, TOKENS // length))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(size, length, args.units)).astype("float32") / 10
    gradients(x[:, :1])
    before = peak_memory()
    times = []
    for _ in range(args.repeats + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        gradients(x)
        wall = time.perf_counter() - wall
        times.append((1e3 * wall, 1e3 * (time.process_time() - cpu)))
    wall, cpu = np.min(times[1:], axis=0)
    return size, wall, cpu, peak_memory() - before


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    args = parse_args()
    print(
        f"{args.units} units, a window of {args.window}, {args.threads} "
        f"threads, on {args.backend}\n"
    )
    for length in args.lengths:
        print(f"| {length} steps | batch | wall ms | CPU ms | peak MiB |")
        print("|---|--:|--:|--:|--:|")
        for style in STYLES:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                size, *figures = pool.apply(measure, (style, length, args))
            figures = " | ".join(f"{x:,.1f}" for x in figures)
            print(f"| {style} | {size} | {figures} |", flush=True)
        print()


if __name__ == "__main__":
    main()
