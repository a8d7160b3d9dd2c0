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

import speeds

# Steps, batch, tags.
SHAPES = [(100, 32, 50), (30, 32, 9), (400, 16, 20)]


def read_arguments():
    parser = speeds.argument_parser(__doc__, repeats=15, threads=1)
    parser.add_argument("--jit", action="store_true", help="XLA, on TensorFlow")
    return speeds.prepare(parser.parse_args())


ARGS = read_arguments()

import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import ops  # noqa: E402
from timed_steps import CLOCK  # noqa: E402
from timed_steps import functions  # noqa: E402
from timed_steps import least  # noqa: E402

from kerasrnn import layers  # noqa: E402

try:
    import torch
    import torchcrf
except ImportError:
    torchcrf = None


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


class OfEmissions(keras.layers.Layer):
    """A function of the emissions that uses the weights of a CRF."""

    def __init__(self, crf, function):
        super().__init__()
        self.crf, self.function = crf, function

    def call(self, emissions, training=False):
        return self.function(emissions)


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


def milliseconds(systems):
    found = least(list(systems.values()), ARGS.repeats)
    return dict(zip(systems, found, strict=True))


def measure(shape):
    """Returns the milliseconds of training steps and of searches, by name."""
    emissions, tags, mask = example(shape)
    crf = made(shape[-1])
    steps = {
        name: functions(OfEmissions(crf, loss), emissions, ARGS.jit)[0]
        for name, loss in losses(crf, tags, mask).items()
    }
    search = OfEmissions(crf, lambda x: crf.decode(x, mask)[0])
    searches = {"search, CRF": functions(search, emissions, ARGS.jit)[1]}
    if torchcrf:
        step, decode = torch_functions(crf, emissions, tags, mask)
        steps["pytorch-crf"], searches["search, pytorch-crf"] = step, decode
    values = [float(step()[0]) for step in steps.values()]
    np.testing.assert_allclose(values, values[0], rtol=1e-4)
    return milliseconds(steps) | milliseconds(searches)


def main():
    speeds.set_threads(ARGS)
    measured = {", ".join(map(str, shape)): measure(shape) for shape in SHAPES}
    header = [f"{CLOCK} ms: T, B, tags", *next(iter(measured.values()))]
    rows = [
        [shape, *(f"{value:.1f}" for value in found.values())]
        for shape, found in measured.items()
    ]
    speeds.print_table(header, rows)


if __name__ == "__main__":
    main()
