"""Training steps of recurrent layers alone, forward and all gradients.

    python benchmarks/layers_alone.py
    python benchmarks/layers_alone.py --tables shares --threads 1 --repeats 15

Three tables of the least CPU seconds of a step, or wall seconds on a GPU:
"shares" compares a layer with its own matrix products at their own shapes,
"wrappers" `FastRNN` of cells with layer normalization or zoneout with
`keras.layers.RNN` of the same cells, and "linear" layers that are linear in
their state with others, against the length of the sequence.
"""

import speeds

TABLES = ("shares", "wrappers", "linear")


def read_arguments():
    parser = speeds.argument_parser(__doc__)
    add = parser.add_argument
    add("--dtypes", nargs="+", default=["float32", "bfloat16"])
    add("--tables", nargs="+", default=TABLES, choices=TABLES)
    return speeds.prepare(parser.parse_args())


ARGS = read_arguments()

import devices  # noqa: E402
import keras  # noqa: E402
import own_products  # noqa: E402
from timed_steps import least  # noqa: E402

from kerasrnn import layers  # noqa: E402

BATCH, TIME, RHN, GAM_RHN = speeds.TOY if ARGS.small else speeds.PUBLISHED
UNITS, WIDTH = (8, 4) if ARGS.small else (792, 128)
LENGTHS = (8, 16) if ARGS.small else (256, 1024, 4096, 16_384)
CLOCK = f"{devices.clock()[0]} s"


def least_seconds(steps):
    return [found / 1000 for found in least(steps, ARGS.repeats)]


def table_of_shares(dtype):
    """Layers beside their own products."""
    options = {"return_sequences": True, "dtype": speeds.policy(dtype)}
    timed = {
        "RHN": layers.RHN(**RHN, **options),
        "GAMRHN": layers.GAMRHN(**GAM_RHN, **options),
        f"FastLSTM, {UNITS}": layers.FastLSTM(UNITS, **options),
        f"FastGRU, {UNITS}": layers.FastGRU(UNITS, **options),
    }
    rows = []
    for name, layer in timed.items():
        sizes = (layer.units, BATCH, TIME)
        whole, products = least_seconds(
            [
                own_products.layer_step(layer, *sizes),
                own_products.products_step(layer.cell, *sizes, dtype),
            ]
        )
        rows.append(
            [name, f"{whole:.3f}", f"{products:.3f}", f"{products / whole:.0%}"]
        )
    header = [dtype, f"training step, {CLOCK}", "products", "share"]
    speeds.print_table(header, rows)


def wrapped_cells():
    """Name -> a function that makes a cell with an option or a wrapper."""
    return {
        "layer normalization, RHN": lambda: layers.RHNCell(
            **RHN, layer_norm=True
        ),
        "layer normalization, LSTM": lambda: layers.FastLSTMCell(
            UNITS, layer_norm=True
        ),
        "layer normalization, GRU": lambda: layers.FastGRUCell(
            UNITS, layer_norm=True
        ),
        "zoneout, RHN": lambda: layers.ZoneoutCell(layers.RHNCell(**RHN), 0.1),
        "zoneout, LSTM": lambda: layers.ZoneoutCell(
            layers.FastLSTMCell(UNITS), [0.05, 0.5]
        ),
        "zoneout, GAMRHN": lambda: layers.ZoneoutCell(
            layers.GAMRHNCell(**GAM_RHN), 0.1
        ),
    }


def table_of_wrappers(dtype):
    """`FastRNN` beside `keras.layers.RNN`."""
    keras.config.set_dtype_policy(speeds.policy(dtype))
    rows = []
    for name, make in wrapped_cells().items():
        fast, loop = least_seconds(
            [
                own_products.layer_step(
                    kind(make(), return_sequences=True), 600, BATCH, TIME
                )
                for kind in (layers.FastRNN, keras.layers.RNN)
            ]
        )
        rows.append([name, f"{fast:.3f}", f"{loop:.3f}", f"{loop / fast:.1f}"])
    header = [dtype, f"`FastRNN`, {CLOCK}", "`keras.layers.RNN`", "times"]
    speeds.print_table(header, rows)


def table_of_linear_cells(batch_size):
    """Layers on few long sequences, in float32."""
    keras.config.set_dtype_policy("float32")
    timed = {
        name: getattr(layers, name)
        for name in ("MinGRU", "MinLSTM", "RGLRU", "FastGRU", "FastLSTM")
    } | {"keras.layers.LSTM": keras.layers.LSTM}
    rows = []
    for length in LENGTHS:
        found = least_seconds(
            [
                own_products.layer_step(
                    make(WIDTH, return_sequences=True),
                    *(WIDTH, batch_size, length),
                )
                for make in timed.values()
            ]
        )
        rows.append([f"{length:,}", *(f"{seconds:.3f}" for seconds in found)])
    header = [f"{batch_size} x steps, {CLOCK}"]
    speeds.print_table([*header, *(f"`{name}`" for name in timed)], rows)


def main():
    speeds.set_threads(ARGS)
    print(", ".join(devices.place(ARGS.threads)), "\n")
    for table, print_it in (
        ("shares", table_of_shares),
        ("wrappers", table_of_wrappers),
    ):
        for dtype in ARGS.dtypes if table in ARGS.tables else ():
            print_it(dtype)
    if "linear" in ARGS.tables:
        for batch_size in (1, 4):
            table_of_linear_cells(batch_size)


if __name__ == "__main__":
    main()
