"""Compares recurrent layers with those of Keras and PyTorch, in one run.

    python benchmarks/peers.py        # pip install torch torchrecurrent

Prints the minimum CPU milliseconds of a training step (forward pass, and
gradients of all weights and of the input) and of inference, on one thread. The
layers run alternately in one process. Keras's layers and ours are compiled as
graphs of TensorFlow.
"""

import argparse
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
import timed_steps
import torch
import torch_cells

from kerasrnn import layers

# Steps, batch, units, width of the input.
SHAPES = [(35, 20, 200, 200), (100, 32, 256, 64), (35, 20, 792, 792)]


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7, help="turns of each")
    return parser.parse_args()


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
    found = {}
    for kind in ("LSTM", "GRU", "PeepholeLSTM"):
        ours = kind if hasattr(layers, kind) else f"Fast{kind}"
        layer = getattr(layers, ours)(units, return_sequences=True)
        found[ours] = timed_steps.functions(layer, x)
        if hasattr(torch.nn, kind):
            layer = getattr(keras.layers, kind)(units, return_sequences=True)
            found[f"keras.layers.{kind}"] = timed_steps.functions(layer, x)
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
    args = parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.get_logger().setLevel("ERROR")
    torch.set_num_threads(1)
    for shape in SHAPES:
        print(f"| {', '.join(map(str, shape))} | training | inference |")
        print("|---|--:|--:|")
        found = systems(shape)
        rows = [
            timed_steps.least(x, args.repeats)
            for x in zip(*found.values(), strict=True)
        ]
        for name, train, infer in zip(found, *rows, strict=True):
            print(f"| `{name}` | {train:.1f} | {infer:.1f} |", flush=True)
        print()


if __name__ == "__main__":
    main()
