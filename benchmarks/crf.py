"""Times the training step of a CRF and its search for the best path.

    pip install torch pytorch-crf
    python benchmarks/crf.py
    python benchmarks/crf.py --backend jax

Prints the minimum CPU milliseconds of each system on one thread; systems run
alternately in one process. On a GPU, prints wall milliseconds of ours. A
training step is the loss and its gradients with respect to the emissions and to
all weights. "as in fit" also finds the best path, which the layer returns and
metrics use. "Keras loop" is the forward recursion as in TensorFlow Addons: a
cell of a `keras.layers.RNN` that adds logarithms. Without `pytorch-crf` its
columns are left out.
"""

import argparse
import os

# Steps, batch, tags.
SHAPES = [(100, 32, 50), (30, 32, 9), (400, 16, 20)]


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--backend", default="tensorflow", choices=("tensorflow", "jax"))
    add("--jit", action="store_true", help="XLA, on TensorFlow")
    add("--repeats", type=int, default=15, help="repetitions of each system")
    return parser.parse_args()


ARGS = parse_args()
os.environ["KERAS_BACKEND"] = ARGS.backend
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import devices  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import ops  # noqa: E402

from kerasrnn import layers  # noqa: E402

try:
    import torch
    import torchcrf
except ImportError:
    torchcrf = None

CLOCK, now = devices.clock()


class AddedLogs(keras.layers.Layer):
    """The forward recursion as a cell, whose state is the partial log sums."""

    def __init__(self, transitions):
        super().__init__()
        self.transitions = transitions
        self.state_size = self.output_size = transitions.shape[0]

    def call(self, inputs, states):
        moves = states[0][:, :, None] + self.transitions
        sums = ops.logsumexp(moves, axis=1) + inputs
        return sums, [sums]


def example(shape):
    """Returns emissions, tags, and a mask for rows of different lengths."""
    steps, batch, tags = shape
    rng = np.random.default_rng(0)
    emissions = rng.normal(size=(batch, steps, tags)).astype("float32")
    chosen = rng.integers(0, tags, (batch, steps))
    lengths = rng.integers(steps // 2, steps + 1, (batch, 1))
    return emissions, chosen.astype("int32"), np.arange(steps) < lengths


def made(tags):
    crf = layers.CRF()
    crf.build((None, None, tags))
    rng = np.random.default_rng(1)
    for weight in crf.weights:
        weight.assign(rng.normal(size=weight.shape) * 0.1)
    return crf


def losses(crf, tags, mask):
    """Returns the losses to time, as functions of the emissions."""
    loop = keras.layers.RNN(AddedLogs(crf.transitions))

    def alone(emissions):
        return -ops.mean(crf.log_likelihood(emissions, tags, mask))

    def as_in_fit(emissions):
        return layers.CRFLoss(crf)(tags, crf(emissions, mask=mask))

    def by_loop(emissions):
        first = crf.start + emissions[:, 0]
        sums = loop(emissions[:, 1:], mask=mask[:, 1:], initial_state=[first])
        log_sum = ops.logsumexp(sums + crf.end, axis=-1)
        return ops.mean(log_sum - crf.score(emissions, tags, mask))

    return {"CRF": alone, "CRF, as in fit": as_in_fit, "Keras loop": by_loop}


def training_step(crf, loss, emissions):
    """Returns a function without arguments: loss and all gradients."""
    if ARGS.backend == "jax":
        return jax_step(crf, loss, emissions)
    import tensorflow as tf

    x = tf.constant(emissions)

    @tf.function(jit_compile=ARGS.jit)
    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = loss(x)
        weights = [weight.value for weight in crf.trainable_weights]
        return found, tape.gradient(found, [x, *weights])

    return step


def jax_step(crf, loss, emissions):
    import jax

    def stateless(values, x):
        pairs = zip(crf.trainable_variables, values, strict=True)
        with keras.StatelessScope(pairs):
            return loss(x)

    emissions = jax.device_put(emissions)
    step = jax.jit(jax.value_and_grad(stateless, argnums=(0, 1)))
    values = [weight.value for weight in crf.trainable_variables]
    return lambda: jax.block_until_ready(step(values, emissions))


def search(crf, emissions, mask):
    """Returns a function without arguments: the best paths."""
    if ARGS.backend == "jax":
        import jax

        decode = jax.jit(lambda x: crf.decode(x, mask))
        return lambda: jax.block_until_ready(decode(emissions))
    import tensorflow as tf

    x = tf.constant(emissions)
    return tf.function(lambda: crf.decode(x, mask), jit_compile=ARGS.jit)


def torch_functions(crf, emissions, tags, mask):
    """Returns training step and search of pytorch-crf, with equal weights."""
    other = torchcrf.CRF(emissions.shape[-1], batch_first=True)
    with torch.no_grad():
        for name, weight in (
            ("transitions", crf.transitions),
            ("start_transitions", crf.start),
            ("end_transitions", crf.end),
        ):
            value = torch.tensor(ops.convert_to_numpy(weight))
            getattr(other, name).copy_(value)
    x = torch.tensor(emissions, requires_grad=True)
    y, mask = torch.tensor(tags).long(), torch.tensor(mask)

    def step():
        other.zero_grad()
        x.grad = None
        loss = -other(x, y, mask, reduction="mean")
        loss.backward()
        return loss.detach(), [x.grad]

    def decode():
        with torch.no_grad():
            return other.decode(x, mask)

    return step, decode


def least(steps):
    """Returns the minimum milliseconds of functions that run alternately."""
    for step in steps.values():
        step()
        step()
    found = {name: [] for name in steps}
    for _ in range(ARGS.repeats):
        for name, step in steps.items():
            start = now()
            step()
            found[name].append(now() - start)
    return {name: 1000 * min(times) for name, times in found.items()}


def set_threads():
    if torchcrf:
        torch.set_num_threads(1)
    if ARGS.backend == "tensorflow":
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)


def measure(shape):
    """Returns the milliseconds of training steps and of searches."""
    emissions, tags, mask = example(shape)
    crf = made(shape[-1])
    steps = {
        name: training_step(crf, loss, emissions)
        for name, loss in losses(crf, tags, mask).items()
    }
    searches = {"CRF": search(crf, emissions, mask)}
    if torchcrf:
        steps["pytorch-crf"], searches["pytorch-crf"] = torch_functions(
            crf, emissions, tags, mask
        )
    values = [float(step()[0]) for step in steps.values()]
    np.testing.assert_allclose(values, values[0], rtol=1e-4)
    return least(steps), least(searches)


def main():
    set_threads()
    for shape in SHAPES:
        trained, searched = measure(shape)
        row = [*trained.values(), *searched.values()]
        if shape == SHAPES[0]:
            heads = [*trained, *(f"search, {name}" for name in searched)]
            print(f"| {CLOCK} ms: T, B, tags | " + " | ".join(heads) + " |")
            print("|---|" + "--:|" * len(heads))
        cells = " | ".join(f"{value:.1f}" for value in row)
        print(f"| {', '.join(map(str, shape))} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
