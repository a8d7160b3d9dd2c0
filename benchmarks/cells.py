"""Speed of the recurrent layers, beside their cells and PyTorch.

    pip install torch                 # for the rows of PyTorch
    python benchmarks/cells.py
    python benchmarks/cells.py --backend jax        # where a GPU is
    python benchmarks/cells.py --check              # are they the same models?

Every system is a language model: an embedding, a recurrent layer, a softmax
over 10,000 words; a training step ends with an update by gradient descent.
All run in one process on as many threads, in turns, and medians are printed,
of wall seconds and of CPU seconds. Run it on an idle machine. On a GPU, PyTorch
computes there, too, every step is waited for, and CPU seconds, which mean
nothing there, are left out.

Three tables measure layers alone, by the least CPU seconds of a training step,
or wall seconds on a GPU: "shares" compares a layer with its own matrix products
at their own shapes, "wrappers" `FastRNN` of cells with layer normalization or
zoneout with `keras.layers.RNN` of the same cells, and "linear" layers that are
linear in their state with others, against the length of the sequence.
"""

import argparse
import functools
import multiprocessing
import os
import platform
import resource
import time

VOCABULARY, BATCH, TIME = 10_000, 20, 35
RHN_SIZE = {"units": 830, "depth": 10}
GAM_RHN = {"units": 600, "depth": 5}
GAM_RHN |= {"num_groups": 600, "group_size": 3, "head_units": 300}
WINDOW = 32
LAYERS = ("RHN", "GAMRHN", "SelfAttention(GAMRHN)")
COMPILED = "PyTorch, compiled"
TABLES = ("layers", "shares", "wrappers", "length", "depth", "memory", "linear")


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--backend", default="tensorflow", choices=("tensorflow", "jax"))
    add("--repeats", type=int, default=7, help="turns of each system")
    add("--threads", type=int, default=2, help="threads of every library")
    add("--dtypes", nargs="+", default=["float32", "bfloat16"])
    add(
        "--tables",
        nargs="+",
        default=TABLES,
        choices=TABLES,
    )
    add("--layers", nargs="+", default=LAYERS, choices=LAYERS)
    add("--small", action="store_true", help="toy sizes, to try it")
    add("--compile", action="store_true", help="torch.compile, too (slow)")
    add("--check", action="store_true", help="compare the losses instead")
    return parser.parse_args()


ARGS = parse_args()
if ARGS.small:
    VOCABULARY, BATCH, TIME, WINDOW = 50, 4, 6, 3
    RHN_SIZE = {"units": 8, "depth": 2}
    GAM_RHN = {"units": 8, "depth": 2}
    GAM_RHN |= {"num_groups": 8, "group_size": 3, "head_units": 4}
os.environ["KERAS_BACKEND"] = ARGS.backend
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("OMP_NUM_THREADS", str(ARGS.threads))

import devices  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
import own_products  # noqa: E402
from keras import ops  # noqa: E402
from timed_steps import take_turns  # noqa: E402

from kerasrnn.layers import GAMRHN  # noqa: E402
from kerasrnn.layers import RGLRU  # noqa: E402
from kerasrnn.layers import RHN  # noqa: E402
from kerasrnn.layers import BahdanauAttention  # noqa: E402
from kerasrnn.layers import FastGRU  # noqa: E402
from kerasrnn.layers import FastGRUCell  # noqa: E402
from kerasrnn.layers import FastLSTM  # noqa: E402
from kerasrnn.layers import FastLSTMCell  # noqa: E402
from kerasrnn.layers import FastRNN  # noqa: E402
from kerasrnn.layers import GAMRHNCell  # noqa: E402
from kerasrnn.layers import MinGRU  # noqa: E402
from kerasrnn.layers import MinLSTM  # noqa: E402
from kerasrnn.layers import RHNCell  # noqa: E402
from kerasrnn.layers import SelfAttentionCell  # noqa: E402
from kerasrnn.layers import SelfAttentionRNN  # noqa: E402
from kerasrnn.layers import ZoneoutCell  # noqa: E402

try:
    import torch
    import torch_cells
except ImportError:
    torch = None

ACCELERATOR = devices.accelerator()
if torch is not None and ACCELERATOR and not torch.cuda.is_available():
    torch = None
# Of the wall and CPU seconds of a step, those that tables of one figure show.
CLOCK = ("CPU s", 1) if ACCELERATOR is None else ("wall s", 0)
TORCH_DEVICE = "cpu" if ACCELERATOR is None else "cuda"


def recurrent_layers():
    """Name -> functions that make our layer, and `RNN` around its cell."""

    def attending():
        cell = GAMRHNCell(**GAM_RHN)
        attention = BahdanauAttention(GAM_RHN["units"])
        return SelfAttentionCell(cell, attention, WINDOW)

    rnn = functools.partial(keras.layers.RNN, return_sequences=True)
    return {
        "RHN": (
            lambda: RHN(**RHN_SIZE, return_sequences=True),
            lambda: rnn(RHNCell(**RHN_SIZE)),
        ),
        "GAMRHN": (
            lambda: GAMRHN(**GAM_RHN, return_sequences=True),
            lambda: rnn(GAMRHNCell(**GAM_RHN)),
        ),
        "SelfAttention(GAMRHN)": (
            lambda: SelfAttentionRNN(attending(), return_sequences=True),
            lambda: rnn(attending()),
        ),
    }


def language_model(layers, width):
    """A Keras model from ids `(batch, time)` to logits."""
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(VOCABULARY, width)(ids)
    for layer in layers:
        x = layer(x)
    return keras.Model(ids, keras.layers.Dense(VOCABULARY)(x))


def mean_loss(targets, logits):
    logits = ops.cast(logits, "float32")
    return ops.mean(
        ops.sparse_categorical_crossentropy(targets, logits, from_logits=True)
    )


def keras_steps(model, rate=0.1):
    """Functions of ids and targets: a training step, and the loss alone."""
    if ARGS.backend == "jax":
        return jax_steps(model, rate)
    import tensorflow as tf

    @tf.function
    def train(ids, targets):
        with tf.GradientTape() as tape:
            loss = mean_loss(targets, model(ids, training=True))
        variables = [v.value for v in model.trainable_variables]
        for variable, gradient in zip(
            variables, tape.gradient(loss, variables), strict=True
        ):
            gradient = tf.convert_to_tensor(gradient)
            variable.assign_sub(rate * gradient)
        return loss

    @tf.function
    def infer(ids, targets):
        return mean_loss(targets, model(ids, training=False))

    def timed(step):
        return lambda *arrays: float(step(*map(tf.constant, arrays)))

    return timed(train), timed(infer)


def jax_steps(model, rate):
    import jax

    def loss(weights, others, training, ids, targets):
        logits, _ = model.stateless_call(
            weights, others, ids, training=training
        )
        return mean_loss(targets, logits)

    @jax.jit
    def update(weights, others, ids, targets):
        value, gradients = jax.value_and_grad(loss)(
            weights, others, True, ids, targets
        )
        return value, [
            w - rate * g for w, g in zip(weights, gradients, strict=True)
        ]

    forward = jax.jit(loss, static_argnums=2)
    others = [v.value for v in model.non_trainable_variables]
    weights = [v.value for v in model.trainable_variables]

    def train(ids, targets):
        nonlocal weights
        value, weights = jax.block_until_ready(
            update(weights, others, ids, targets)
        )
        return float(value)

    def infer(ids, targets):
        return float(forward(weights, others, False, ids, targets))

    return train, infer


def torch_model(model, name, compiled=False):
    """The PyTorch counterpart of a Keras model, with its weights."""
    embedding, *layers, dense = model.layers[1:]
    (layer,) = layers

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


def torch_steps(model, dtype, rate=0.1):
    model = model.to(TORCH_DEVICE)
    cast = torch.autocast(
        TORCH_DEVICE, torch.bfloat16, enabled=dtype != "float32"
    )
    descent = torch.optim.SGD(model.parameters(), rate)

    def train(ids, targets):
        descent.zero_grad(set_to_none=True)
        with cast:
            loss = model.loss(*tensors(ids, targets))
        loss.backward()
        descent.step()
        # On a GPU this waits for all that was begun before, the update too.
        return loss.item()

    def infer(ids, targets):
        with torch.inference_mode(), cast:
            return model.loss(*tensors(ids, targets)).item()

    def tensors(*arrays):
        return [torch.from_numpy(x).long().to(TORCH_DEVICE) for x in arrays]

    return train, infer


def lstm_of(count, input_dim, units):
    """Layers and width of an LSTM of about `count` weights, as wide as it can.

    Returns the pair whose width is nearest to `units`.
    """

    def weights(layers, width):
        first = 4 * width * (input_dim + width + 1)
        return first + (layers - 1) * 4 * width * (2 * width + 1)

    pairs = []
    for layers in range(1, 5):
        width = next(w for w in range(1, 9999) if weights(layers, w) >= count)
        pairs.append((layers, width))
    return min(pairs, key=lambda pair: abs(pair[1] - units))


def systems(name, makers, dtype):
    """System by name -> its two steps, in training and in inference."""
    keras.utils.set_random_seed(0)
    keras.config.set_dtype_policy(policy(dtype))
    width = (RHN_SIZE if name == "RHN" else GAM_RHN)["units"]
    fast, slow = (language_model([make()], width) for make in makers)
    slow.set_weights(fast.get_weights())
    recurrent = fast.layers[2].count_params()
    cell = type(fast.layers[2].cell).__name__
    found = {
        f"**kerasrnn {name}**": keras_steps(fast),
        f"keras RNN({cell})": keras_steps(slow),
    }
    if torch is not None:
        peer = torch_model(fast, name)
        found["PyTorch"] = torch_steps(peer, dtype)
        if ARGS.compile:
            peer = torch_model(fast, name, compiled=True)
            found[COMPILED] = torch_steps(peer, dtype)
    layers, units = lstm_of(recurrent, width, width)
    for kind in (FastLSTM, FastGRU):
        found |= fast_and_known(kind, width, layers, units, dtype)
    return found


def fast_and_known(fast_class, width, layers, units, dtype):
    """A layer called "Fast..." of ours, beside those of Keras and PyTorch."""
    kind = fast_class.__name__.removeprefix("Fast")
    known, fast = (
        language_model(
            [layer(units, return_sequences=True) for _ in range(layers)], width
        )
        for layer in (getattr(keras.layers, kind), fast_class)
    )
    fast.set_weights(known.get_weights())
    title = f"{kind}, {layers} x {units}"
    steps = {}
    if torch is not None:
        peer = torch_cells.LanguageModel(
            *known.layers[1].get_weights(),
            torch_cells.Outputs(getattr(torch.nn, kind)(width, units, layers)),
            *known.layers[-1].get_weights(),
        )
        steps[f"torch.nn.{title}"] = torch_steps(peer, dtype)
    steps[f"keras {title}"] = keras_steps(known)
    steps[f"**kerasrnn Fast{title}**"] = keras_steps(fast)
    return steps


def batch(size, steps, vocabulary=VOCABULARY):
    rng = np.random.default_rng(0)
    ids = rng.integers(0, vocabulary, (size, steps + 1)).astype("int32")
    return ids[:, :-1].copy(), ids[:, 1:].copy()


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|---|" + "---:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def first_steps(found, arrays):
    """System -> wall seconds of its first step, compiling included.

    Takes out of `found` what cannot be compiled: `torch.compile` needs a C
    compiler or Triton, which not every machine has.
    """
    seconds = {}
    for system, (train, _) in list(found.items()):
        start = time.perf_counter()
        try:
            train(*arrays)
        except Exception as error:
            if system != COMPILED:
                raise
            reason = str(error).strip().partition("\n")[0]
            print(f"Without {system}: {type(error).__name__}: {reason}\n")
            del found[system]
        else:
            seconds[system] = time.perf_counter() - start
    return seconds


def table_of_layers(dtype):
    arrays = batch(BATCH, TIME)
    tokens = arrays[0].size
    clocks = ["wall"] if ACCELERATOR else ["wall", "CPU"]
    header = [dtype, "first step, s"]
    header += [f"training step, {clock} s" for clock in clocks]
    header += [f"tokens/{clock} s" for clock in clocks]
    header += [f"inference, tokens/{clock} s" for clock in clocks]
    for name in ARGS.layers:
        found = systems(name, recurrent_layers()[name], dtype)
        firsts = first_steps(found, arrays)
        steps = [
            functools.partial(step, *arrays)
            for pair in found.values()
            for step in pair
        ]
        times = [
            seconds[: len(clocks)]
            for seconds in take_turns(steps, ARGS.repeats)
        ]
        rows = []
        for index, (system, first) in enumerate(firsts.items()):
            train, infer = times[2 * index : 2 * index + 2]
            row = [system, f"{first:.1f}"]
            row += [f"{seconds:.4f}" for seconds in train]
            row += [f"{tokens / s:,.0f}" for s in (*train, *infer)]
            rows.append(row)
        print_table(header, rows)


def policy(dtype):
    return "float32" if dtype == "float32" else f"mixed_{dtype}"


def table_of_shares(dtype):
    """Layers beside their own products, at the least seconds of each."""
    label, clock = CLOCK
    layers = {
        "RHN": RHN(**RHN_SIZE, return_sequences=True, dtype=policy(dtype)),
        "GAMRHN": GAMRHN(**GAM_RHN, return_sequences=True, dtype=policy(dtype)),
        "FastLSTM, 792": FastLSTM(
            792, return_sequences=True, dtype=policy(dtype)
        ),
        "FastGRU, 792": FastGRU(
            792, return_sequences=True, dtype=policy(dtype)
        ),
    }
    rows = []
    for name, layer in layers.items():
        sizes = (layer.units, BATCH, TIME)
        steps = [
            own_products.layer_step(layer, *sizes),
            own_products.products_step(layer.cell, *sizes, dtype),
        ]
        whole, products = (
            seconds[clock]
            for seconds in take_turns(steps, ARGS.repeats, np.min)
        )
        rows.append(
            [name, f"{whole:.3f}", f"{products:.3f}", f"{products / whole:.0%}"]
        )
    print_table([dtype, f"training step, {label}", "products", "share"], rows)


def wrapped_cells():
    """Name -> a function that makes a cell that once left the fast path."""
    return {
        "layer normalization, RHN": lambda: RHNCell(
            **RHN_SIZE, layer_norm=True
        ),
        "layer normalization, LSTM": lambda: FastLSTMCell(792, layer_norm=True),
        "layer normalization, GRU": lambda: FastGRUCell(792, layer_norm=True),
        "zoneout, RHN": lambda: ZoneoutCell(RHNCell(**RHN_SIZE), 0.1),
        "zoneout, LSTM": lambda: ZoneoutCell(FastLSTMCell(792), [0.05, 0.5]),
        "zoneout, GAMRHN": lambda: ZoneoutCell(GAMRHNCell(**GAM_RHN), 0.1),
    }


def table_of_wrappers(dtype):
    """`FastRNN` beside `keras.layers.RNN`, at the least seconds of each."""
    label, clock = CLOCK
    rows = []
    for name, make in wrapped_cells().items():
        keras.config.set_dtype_policy(policy(dtype))
        steps = [
            own_products.layer_step(
                kind(make(), return_sequences=True), 600, BATCH, TIME
            )
            for kind in (FastRNN, keras.layers.RNN)
        ]
        fast, loop = (
            seconds[clock]
            for seconds in take_turns(steps, ARGS.repeats, np.min)
        )
        rows.append([name, f"{fast:.3f}", f"{loop:.3f}", f"{loop / fast:.1f}"])
    print_table(
        [dtype, f"`FastRNN`, {label}", "`keras.layers.RNN`", "times"], rows
    )


def table_of_linear_cells():
    """Training steps on few long sequences, at the least seconds of each."""
    keras.config.set_dtype_policy("float32")
    layers = [MinGRU, MinLSTM, RGLRU, FastGRU, FastLSTM, keras.layers.LSTM]
    label, clock = CLOCK
    for batch_size in (1, 4):
        rows = []
        for length in LINEAR_LENGTHS:
            steps = [
                own_products.layer_step(
                    make(WIDTH, return_sequences=True),
                    WIDTH,
                    batch_size,
                    length,
                )
                for make in layers
            ]
            found = take_turns(steps, ARGS.repeats, np.min)
            rows.append(
                [f"{length:,}", *(f"{seconds[clock]:.3f}" for seconds in found)]
            )
        header = [f"{batch_size} x steps, {label}"]
        print_table([*header, *(f"`{make.__name__}`" for make in layers)], rows)


def small_model(make, **options):
    """A model of one layer, in which that layer is nearly all the work."""
    keras.config.set_dtype_policy("float32")
    keras.utils.set_random_seed(0)
    ids = keras.Input((None,), dtype="int32")
    x = make(**options)(keras.layers.Embedding(64, 128)(ids))
    return keras.Model(ids, keras.layers.Dense(64)(x))


SMALL = {
    "RHN": functools.partial(RHN, 128, return_sequences=True),
    "GAMRHN": functools.partial(
        GAMRHN,
        128,
        num_groups=128,
        group_size=3,
        head_units=64,
        return_sequences=True,
    ),
}
LENGTHS = (35, 70, 140, 280, 560, 1120, 2240)
LINEAR_LENGTHS, WIDTH = (256, 1024, 4096, 16_384), 128
if ARGS.small:
    LINEAR_LENGTHS, WIDTH = (8, 16), 4


def table_per_token(title, make, settings, size):
    """Time a token in training; settings are of depth and length by label."""
    steps, tokens = [], []
    for depth, length in settings.values():
        train, _ = keras_steps(small_model(make, depth=depth))
        arrays = batch(size, length, vocabulary=64)
        steps.append(functools.partial(train, *arrays))
        tokens.append(arrays[0].size)
    times = take_turns(steps, ARGS.repeats)
    rows = [
        [str(label), f"{1e6 * wall / count:.1f}", f"{1e6 * cpu / count:.1f}"]
        for label, count, (wall, cpu) in zip(
            settings, tokens, times, strict=True
        )
    ]
    print_table([title, "µs a token, wall", "CPU"], rows)


def peak_memory(name, length):
    """Most memory of a process that trains, in MiB."""
    set_threads()
    train, _ = keras_steps(small_model(SMALL[name], depth=3))
    for _ in range(2):
        train(*batch(8, length, vocabulary=64))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table_of_memory(name):
    """Each length in a process of its own: a peak never goes down."""
    rows = []
    for length in (1, *LENGTHS[4:]):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            peak = pool.apply(peak_memory, (name, length))
        rows.append([str(length), f"{peak:,.0f}"])
    print_table([f"{name}, depth 3, steps", "peak memory, MiB"], rows)


def check():
    """Losses before and after some steps of training, system by system."""
    arrays = batch(4, 8)
    for dtype in ARGS.dtypes:
        for name in ARGS.layers:
            makers = recurrent_layers()[name]
            for system, (train, _) in systems(name, makers, dtype).items():
                losses = [f"{train(*arrays):.5f}" for _ in range(3)]
                print(dtype, name, system, *losses, flush=True)


def set_threads():
    if torch is not None:
        torch.set_num_threads(ARGS.threads)
        # As JAX and TensorFlow do on a GPU; it has no effect on a CPU.
        torch.set_float32_matmul_precision("high")
    if ARGS.backend == "tensorflow":
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(ARGS.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)


def place():
    """Where the systems run, and on what, in words."""
    place = f"{platform.machine()}, {ARGS.threads} threads"
    words = [ACCELERATOR or place, f"keras {keras.__version__} on"]
    words[-1] += f" {ARGS.backend}"
    if torch is None:
        words.append("no rows of PyTorch, which is not installed for it")
    else:
        words.append(f"torch {torch.__version__} on {TORCH_DEVICE}")
    words += [f"{dtype}: {devices.precision(dtype)}" for dtype in ARGS.dtypes]
    return ", ".join(words)


def main():
    set_threads()
    print(place(), "\n")
    if ARGS.check:
        check()
        return
    if "layers" in ARGS.tables:
        for dtype in ARGS.dtypes:
            table_of_layers(dtype)
    for table, print_it in (
        ("shares", table_of_shares),
        ("wrappers", table_of_wrappers),
    ):
        for dtype in ARGS.dtypes if table in ARGS.tables else ():
            print_it(dtype)
    if "linear" in ARGS.tables:
        table_of_linear_cells()
    for name, make in SMALL.items():
        if "length" in ARGS.tables:
            settings = {length: (3, length) for length in LENGTHS}
            table_per_token(f"{name}, depth 3, steps", make, settings, 8)
        if "depth" in ARGS.tables:
            settings = {depth: (depth, TIME) for depth in (1, 2, 3, 5, 10)}
            title = f"{name}, {TIME} steps, depth"
            table_per_token(title, make, settings, BATCH)
        if "memory" in ARGS.tables:
            table_of_memory(name)


if __name__ == "__main__":
    main()
