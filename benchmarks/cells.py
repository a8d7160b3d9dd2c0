"""Compares the speed of recurrent layers with Keras and PyTorch.

    pip install torch                              # for the rows of PyTorch
    python benchmarks/cells.py
    python benchmarks/cells.py --backend jax       # where a GPU is

Every system is a language model: an embedding, a recurrent layer, and a softmax
over 10,000 words. A training step includes an update by gradient descent. All
run alternately in one process, on the same number of threads. Medians of wall
and CPU seconds are printed. Systems with the same cell start from the same
weights, except those of `torch.nn`, so their first losses agree. Run it on an
idle machine. On a GPU, PyTorch also uses the GPU, each step is synchronized,
and CPU seconds, which mean nothing there, are left out.
"""

import functools
import time

import speeds

LAYERS = ("RHN", "GAMRHN", "SelfAttention(GAMRHN)")
COMPILED = "PyTorch, compiled"


def read_arguments():
    parser = speeds.argument_parser(__doc__)
    add = parser.add_argument
    add("--dtypes", nargs="+", default=["float32", "bfloat16"])
    add("--layers", nargs="+", default=LAYERS, choices=LAYERS)
    add("--compile", action="store_true", help="also use torch.compile (slow)")
    add("--small", action="store_true", help="toy sizes, to try it")
    return speeds.prepare(parser.parse_args())


ARGS = read_arguments()

import devices  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from language_model_steps import ids_and_targets  # noqa: E402
from language_model_steps import keras_steps  # noqa: E402
from language_model_steps import language_model  # noqa: E402
from language_model_steps import torch_steps  # noqa: E402
from timed_steps import take_turns  # noqa: E402

from kerasrnn import layers  # noqa: E402

try:
    import torch
    import torch_cells
except ImportError:
    torch = None

BATCH, TIME, RHN, GAM_RHN = speeds.TOY if ARGS.small else speeds.PUBLISHED
VOCABULARY, WINDOW = (50, 3) if ARGS.small else (10_000, 32)
ACCELERATOR = devices.accelerator()
if torch is not None and ACCELERATOR and not torch.cuda.is_available():
    torch = None
TORCH_DEVICE = "cpu" if ACCELERATOR is None else "cuda"


def recurrent_layers():
    """Returns name -> functions that make our layer, and `RNN` of its cell."""

    def attending():
        cell = layers.GAMRHNCell(**GAM_RHN)
        attention = layers.BahdanauAttention(GAM_RHN["units"])
        return layers.SelfAttentionCell(cell, attention, WINDOW)

    rnn = functools.partial(keras.layers.RNN, return_sequences=True)
    return {
        "RHN": (
            lambda: layers.RHN(**RHN, return_sequences=True),
            lambda: rnn(layers.RHNCell(**RHN)),
        ),
        "GAMRHN": (
            lambda: layers.GAMRHN(**GAM_RHN, return_sequences=True),
            lambda: rnn(layers.GAMRHNCell(**GAM_RHN)),
        ),
        "SelfAttention(GAMRHN)": (
            lambda: layers.SelfAttentionRNN(attending(), return_sequences=True),
            lambda: rnn(attending()),
        ),
    }


def torch_model(model, name, compiled=False):
    """The PyTorch counterpart of a Keras model, with its weights."""
    embedding, layer, dense = model.layers[1:]

    def named(weights):
        return {w.name: np.asarray(w, "float32") for w in weights}

    if name == "RHN":
        recurrent = torch_cells.RHN(named(layer.weights), compiled)
    elif name == "GAMRHN":
        recurrent = torch_cells.GAMRHN(named(layer.weights), compiled)
    else:
        attention = layer.cell.attention
        weights = named([layer.cell.attending.kernel])
        for part in ("query", "memory", "score"):
            (kernel,) = getattr(attention, f"{part}_projection").weights
            weights[part] = np.asarray(kernel, "float32")
        recurrent = torch_cells.SelfAttention(
            torch_cells.GAMRHN(named(layer.cell.cell.weights), compiled),
            weights,
            WINDOW,
        )
    return torch_cells.LanguageModel(
        *embedding.get_weights(), recurrent, *dense.get_weights()
    )


def lstm_of(count, input_dim, units):
    """Returns number of layers and width of an LSTM of about `count` weights.

    Returns the pair whose width is nearest to `units`.
    """

    def weights(depth, width):
        first = 4 * width * (input_dim + width + 1)
        return first + (depth - 1) * 4 * width * (2 * width + 1)

    pairs = []
    for depth in range(1, 5):
        width = next(w for w in range(1, 9999) if weights(depth, w) >= count)
        pairs.append((depth, width))
    return min(pairs, key=lambda pair: abs(pair[1] - units))


def systems(name, makers, dtype):
    """Returns system name -> its training and inference step."""
    keras.utils.set_random_seed(0)
    keras.config.set_dtype_policy(speeds.policy(dtype))
    width = (RHN if name == "RHN" else GAM_RHN)["units"]
    fast, slow = (
        language_model([make()], width, VOCABULARY) for make in makers
    )
    slow.set_weights(fast.get_weights())
    recurrent = fast.layers[2].count_params()
    cell = type(fast.layers[2].cell).__name__
    found = {
        f"**kerasrnn {name}**": keras_steps(fast),
        f"keras RNN({cell})": keras_steps(slow),
    }
    if torch is not None:
        peer = torch_model(fast, name)
        found["PyTorch"] = torch_steps(peer, dtype, TORCH_DEVICE)
        if ARGS.compile:
            peer = torch_model(fast, name, compiled=True)
            found[COMPILED] = torch_steps(peer, dtype, TORCH_DEVICE)
    depth, units = lstm_of(recurrent, width, width)
    for kind in (layers.FastLSTM, layers.FastGRU):
        found |= fast_and_known(kind, width, depth, units, dtype)
    return found


def fast_and_known(fast_class, width, depth, units, dtype):
    """Returns our `Fast...` layer, and those of Keras and PyTorch."""
    kind = fast_class.__name__.removeprefix("Fast")
    known, fast = (
        language_model(
            [layer(units, return_sequences=True) for _ in range(depth)],
            *(width, VOCABULARY),
        )
        for layer in (getattr(keras.layers, kind), fast_class)
    )
    fast.set_weights(known.get_weights())
    title = f"{kind}, {depth} x {units}"
    steps = {}
    if torch is not None:
        peer = torch_cells.LanguageModel(
            *known.layers[1].get_weights(),
            torch_cells.Outputs(getattr(torch.nn, kind)(width, units, depth)),
            *known.layers[-1].get_weights(),
        )
        steps[f"torch.nn.{title}"] = torch_steps(peer, dtype, TORCH_DEVICE)
    steps[f"keras {title}"] = keras_steps(known)
    steps[f"**kerasrnn Fast{title}**"] = keras_steps(fast)
    return steps


def first_steps(found, arrays):
    """Returns system -> its first loss, and wall seconds with compilation.

    Removes systems from `found` that cannot be compiled: `torch.compile` needs
    a C compiler or Triton.
    """
    firsts = {}
    for system, (train, _) in list(found.items()):
        start = time.perf_counter()
        try:
            loss = train(*arrays)
        except Exception as error:
            if system != COMPILED:
                raise
            reason = str(error).strip().partition("\n")[0]
            print(f"Without {system}: {type(error).__name__}: {reason}\n")
            del found[system]
        else:
            firsts[system] = loss, time.perf_counter() - start
    return firsts


def table_of(name, dtype):
    """Returns speeds of a layer, its peers, and LSTMs and GRUs of its size."""
    arrays = ids_and_targets(BATCH, TIME, VOCABULARY)
    tokens = arrays[0].size
    clocks = ["wall"] if ACCELERATOR else ["wall", "CPU"]
    header = [dtype, "first loss", "first step, s"]
    header += [f"training step, {clock} s" for clock in clocks]
    header += [f"tokens/{clock} s" for clock in clocks]
    header += [f"inference, tokens/{clock} s" for clock in clocks]
    found = systems(name, recurrent_layers()[name], dtype)
    firsts = first_steps(found, arrays)
    steps = [
        functools.partial(step, *arrays)
        for pair in found.values()
        for step in pair
    ]
    times = [
        seconds[: len(clocks)] for seconds in take_turns(steps, ARGS.repeats)
    ]
    rows = []
    for index, (system, (loss, first)) in enumerate(firsts.items()):
        train, infer = times[2 * index : 2 * index + 2]
        row = [system, f"{loss:.5f}", f"{first:.1f}"]
        row += [f"{seconds:.4f}" for seconds in train]
        row += [f"{tokens / s:,.0f}" for s in (*train, *infer)]
        rows.append(row)
    speeds.print_table(header, rows)


def place():
    """Describes hardware and software in words."""
    words = devices.place(ARGS.threads)
    if torch is None:
        words.append("no rows of PyTorch, which is not installed for it")
    else:
        words.append(f"torch {torch.__version__} on {TORCH_DEVICE}")
    words += [f"{dtype}: {devices.precision(dtype)}" for dtype in ARGS.dtypes]
    return ", ".join(words)


def main():
    speeds.set_threads(ARGS)
    if torch is not None:
        # As JAX and TensorFlow do on a GPU; it has no effect on a CPU.
        torch.set_float32_matmul_precision("high")
    print(place(), "\n")
    for dtype in ARGS.dtypes:
        for name in ARGS.layers:
            table_of(name, dtype)


if __name__ == "__main__":
    main()
