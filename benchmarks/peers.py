"""Compares recurrent layers with those of Keras and PyTorch, in one run.

    python benchmarks/peers.py        # pip install torch torchrecurrent

Prints the minimum CPU milliseconds of a training step (forward pass, and
gradients of all weights and of the input) and of inference, on one thread. The
layers run alternately in one process. Keras's layers and ours are compiled as
graphs of TensorFlow. Rows with a mask read sequences of different lengths.
"""

import sys

import speeds

ARGS = speeds.prepare(speeds.argument_parser(__doc__, threads=1).parse_args())

import keras  # noqa: E402
import numpy as np  # noqa: E402
import timed_steps  # noqa: E402
import torch  # noqa: E402
import torch_cells  # noqa: E402

from kerasrnn import layers  # noqa: E402

# Steps, batch, units, width of the input.
SHAPES = [(35, 20, 200, 200), (100, 32, 256, 64), (35, 20, 792, 792)]


def of_torch(layer, x):
    """Returns the same as `timed_steps.functions` for a PyTorch layer."""
    layer = torch_cells.Outputs(layer)
    x = torch.tensor(x).transpose(0, 1).contiguous().requires_grad_()

    def train():
        layer.zero_grad()
        x.grad = None
        layer(x).sum().backward()

    def infer():
        with torch.no_grad():
            layer(x)

    return train, infer


def systems(shape):
    """Returns layer name -> functions, with the same kinds together."""
    steps, batch, units, width = shape
    x = np.random.default_rng(0).normal(size=(batch, steps, width))
    x = x.astype("float32")
    lengths = np.linspace(steps, 1, batch)[:, None, None]
    padded = np.where(np.arange(steps)[:, None] < lengths, x, np.float32(0))
    found = {}

    def add(name, kind):
        layer = kind(units, return_sequences=True)
        found[name] = timed_steps.functions(layer, x)
        layer = kind(units, return_sequences=True)
        masked = keras.Sequential([keras.layers.Masking(), layer])
        found[f"{name}, mask"] = timed_steps.functions(masked, padded)

    for kind in ("LSTM", "GRU", "PeepholeLSTM"):
        ours = kind if hasattr(layers, kind) else f"Fast{kind}"
        add(ours, getattr(layers, ours))
        if hasattr(torch.nn, kind):
            add(f"keras.layers.{kind}", getattr(keras.layers, kind))
            layer = getattr(torch.nn, kind)(width, units)
            found[f"torch.nn.{kind}"] = of_torch(layer, x)
    try:
        import torchrecurrent
    except ImportError:
        print("torchrecurrent is not installed", file=sys.stderr)
    else:
        layer = torchrecurrent.PeepholeLSTM(width, units)
        found["torchrecurrent.PeepholeLSTM"] = of_torch(layer, x)
    return found


def main():
    speeds.set_threads(ARGS)
    for shape in SHAPES:
        found = systems(shape)
        times = [
            timed_steps.least(x, ARGS.repeats)
            for x in zip(*found.values(), strict=True)
        ]
        rows = zip(found, *times, strict=True)
        speeds.print_table(
            [", ".join(map(str, shape)), "training", "inference"],
            [[f"`{x}`", f"{y:.1f}", f"{z:.1f}"] for x, y, z in rows],
        )


if __name__ == "__main__":
    main()
