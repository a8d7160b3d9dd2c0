"""Latency of an exported translator: searches compiled by XLA, and plain ones.

    python benchmarks/compiled_search.py TRANSLATOR.keras TEXTS.txt

The texts are a sentence a line. Those that fit the programs are drawn at
random, short and long ones together. The translator is exported twice, with and
without programs for XLA, and both exports take turns in one process. The first
call compiles. A second run with the environment variable
`TF_XLA_FLAGS=--tf_xla_persistent_cache_directory=FOLDER` reads the programs of
the first.
"""

import argparse
import os
import pathlib
import random
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_text  # noqa: E402, F401  registers the text operations

from kerasrnn.pipelines import TextTranslator  # noqa: E402
from kerasrnn.pipelines import XlaShapes  # noqa: E402

SIGNATURES = "serving_default", "greedy"


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("translator", help=".keras file")
    add("texts", type=pathlib.Path, help="file with a sentence a line")
    add("--rows", type=int, nargs="+", default=[1, 4, 16, 64])
    add("--length", type=int, default=16, help="tokens of the programs")
    add("--calls", type=int, default=40, help="calls of each batch size")
    add("--threads", type=int, default=2)
    return parser.parse_args()


def timed(signature, batches):
    """The wall milliseconds of each call, and the CPU milliseconds of one."""
    wall, cpu = [], time.process_time()
    for texts in batches:
        started = time.perf_counter()
        signature(text=texts)["translation"].numpy()
        wall.append(1000 * (time.perf_counter() - started))
    cpu = 1000 * (time.process_time() - cpu) / len(batches)
    return np.array(wall), cpu


def compare(name, rows, systems, texts, calls):
    """Prints a row for each system, which must answer alike."""
    draw = random.Random(13)
    batches = [tf.constant(draw.choices(texts, k=rows)) for _ in range(calls)]
    found, first = {}, {}
    for system, signatures in systems.items():
        started = time.perf_counter()
        signatures[name](text=batches[0])
        first[system] = time.perf_counter() - started
    for _ in range(2):  # the first turn warms the caches
        for system, signatures in systems.items():
            found[system] = timed(signatures[name], batches)
    for system, (wall, cpu) in found.items():
        p50, p99 = np.percentile(wall, [50, 99])
        speed = rows * calls / wall.sum() * 1000
        print(
            f"| {name} | {rows} | {system} | {first[system]:.1f} | {p50:.1f} "
            f"| {p99:.1f} | {cpu:.1f} | {speed:,.0f} |",
            flush=True,
        )
    answers = [
        np.concatenate([x[name](text=b)["translation"] for b in batches])
        for x in systems.values()
    ]
    same = np.mean(answers[0] == answers[1])
    if same < 1:
        print(f"  {same:.1%} of the answers are the same")


def main():
    args = parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    texts = args.texts.read_text("utf-8").splitlines()
    translator = TextTranslator.open(args.translator)
    shapes = XlaShapes(args.rows, [args.length])
    ids = translator.source_ids(tf.constant(texts)).numpy()
    lengths = (ids != translator.source_tokenizer.pad_id).sum(axis=1)
    fit = (lengths > 1) & (lengths <= args.length)
    texts = [text for text, fits in zip(texts, fit, strict=True) if fits]
    print(
        f"{translator.model.count_params():,} weights, {len(texts)} texts of "
        f"{lengths[fit].mean():.0f} tokens, {args.threads} threads, load "
        f"{os.getloadavg()[0]:.1f}\n\n| signature | texts | system | first "
        "call, s | p50, ms | p99, ms | CPU, ms | texts a second |\n"
        "|---|--:|---|--:|--:|--:|--:|--:|"
    )
    with tempfile.TemporaryDirectory() as folder:
        kept, systems = [], {}
        for name, given in ("plain", None), ("XLA", shapes):
            translator.xla = given
            path = translator.export(pathlib.Path(folder, name, "1"))
            # Its signatures hold no reference to the variables.
            kept.append(tf.saved_model.load(str(path)))
            systems[name] = kept[-1].signatures
        for name in SIGNATURES:
            if name in systems["plain"]:
                for rows in args.rows:
                    compare(name, rows, systems, texts, args.calls)


if __name__ == "__main__":
    main()
