"""Latency of an exported pipeline: compiled by XLA, and plain.

    python benchmarks/compiled_search.py TRANSLATOR.keras TEXTS.txt
    python benchmarks/compiled_search.py TAGGER.keras TEXTS.txt --rows 1 16

Translators, taggers, classifiers and language models have programs of XLA. The
texts are one a line. Those that fit the programs are drawn at random, short and
long ones together. The pipeline is exported twice, with and without programs,
and both exports take turns in one process. The first call compiles. A second
run with the environment variable
`TF_XLA_FLAGS=--tf_xla_persistent_cache_directory=FOLDER` reads the programs of
the first.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_text  # noqa: E402, F401  registers the text operations

from kerasrnn.pipelines import XlaShapes  # noqa: E402
from kerasrnn.sentence_piece_log import without_sentence_piece_log  # noqa: E402


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("pipeline", help=".keras file")
    add("texts", type=pathlib.Path, help="file with a text a line")
    add("--rows", type=int, nargs="+", default=[1, 4, 16, 64])
    add("--length", type=int, default=16, help="tokens of the programs")
    add("--signatures", nargs="+", help="by default, all that have programs")
    add("--calls", type=int, default=40, help="calls of each batch size")
    add("--threads", type=int, default=2, help="of TensorFlow")
    add("--at-once", type=int, default=1, help="calls at a time")
    return parser.parse_args()


def answer(signature, texts):
    """All outputs; other arguments than the texts are empty strings."""
    _, specs = signature.structured_input_signature
    others = {
        name: tf.fill([len(texts), *[1] * (spec.shape.rank - 1)], "")
        for name, spec in specs.items()
        if name != "text"
    }
    found = signature(text=texts, **others)
    return {name: x.numpy() for name, x in found.items()}


def timed(signature, batches, at_once):
    """The milliseconds that each call took, and wall and CPU time per call."""

    def call(texts):
        started = time.perf_counter()
        answer(signature, texts)
        return 1000 * (time.perf_counter() - started)

    wall, cpu = time.perf_counter(), time.process_time()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        each = list(pool.map(call, batches))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return each, 1000 * wall / len(batches), 1000 * cpu / len(batches)


def compare(name, rows, systems, texts, calls, at_once):
    """Prints a row for each system, which must answer alike."""
    draw = random.Random(13)
    batches = [tf.constant(draw.choices(texts, k=rows)) for _ in range(calls)]
    found, first = {}, {}
    for system, signatures in systems.items():
        started = time.perf_counter()
        answer(signatures[name], batches[0])
        first[system] = time.perf_counter() - started
    for _ in range(2):  # the first turn warms the caches
        for system, signatures in systems.items():
            found[system] = timed(signatures[name], batches, at_once)
    for system, (each, wall, cpu) in found.items():
        p50, p99 = np.percentile(each, [50, 99])
        print(
            f"| {name} | {rows} | {system} | {first[system]:.1f} | {p50:.1f} "
            f"| {p99:.1f} | {cpu:.1f} | {1000 * rows / wall:,.0f} |",
            flush=True,
        )
    same = []
    for texts in batches:
        plain, by_xla = (answer(x[name], texts) for x in systems.values())
        same += [
            np.array_equal(x, by_xla[key])
            for key, x in plain.items()
            if x.dtype.kind != "f"
        ]
    if not all(same):
        print(f"  {np.mean(same):.1%} of the answers are the same")


def main():
    args = parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    texts = args.texts.read_text("utf-8").splitlines()
    pipeline = keras.saving.load_model(args.pipeline)
    shapes = XlaShapes(args.rows, [args.length])
    lengths = pipeline.lengths(texts)
    fit = (lengths > 1) & (lengths <= args.length)
    texts = [text for text, fits in zip(texts, fit, strict=True) if fits]
    print(
        f"{pipeline.model.count_params():,} weights, {len(texts)} texts of "
        f"{lengths[fit].mean():.0f} tokens, {args.threads} threads, "
        f"{args.at_once} calls at a time, load {os.getloadavg()[0]:.1f}\n\n"
        "| signature | texts | system | first call, s | p50, ms | p99, ms "
        "| CPU, ms | texts per second |\n"
        "|---|--:|---|--:|--:|--:|--:|--:|"
    )
    with tempfile.TemporaryDirectory() as folder:
        kept, systems = [], {}
        for name, given in ("plain", None), ("XLA", shapes):
            pipeline.xla = given
            path = pipeline.export(pathlib.Path(folder, name, "1"))
            # Its signatures hold no reference to the variables.
            with without_sentence_piece_log():
                kept.append(tf.saved_model.load(str(path)))
            systems[name] = kept[-1].signatures
        for name, rows in pipeline.programs(shapes).items():
            if name in (args.signatures or systems["plain"]):
                for count in rows:
                    compare(
                        *(name, count, systems, texts),
                        *(args.calls, args.at_once),
                    )


if __name__ == "__main__":
    main()
