"""A training step of a language model that scores all words, or a sample.

    python benchmarks/sampled_softmax.py
    python benchmarks/sampled_softmax.py --sampled 1024 --dtype float32

The model is that of `recipes/imdb_lm.py`, on random words. Prints the least CPU
seconds of a step on one thread, and the peak memory of the process, each in a
process of its own.
"""

import argparse
import multiprocessing
import os
import resource
import time

WORDS = 30_000
ROWS, WINDOW = 128, 70


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--sampled", type=int, default=4096, help="words of a sample")
    add("--dtype", default="mixed_bfloat16", help="dtype policy")
    add("--repeats", type=int, default=4, help="steps that are timed")
    return parser.parse_args()


def measure(sampled_words, dtype, repeats):
    """Returns the CPU seconds of a step, and the peak memory in MiB."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import keras
    import numpy as np
    import tensorflow as tf

    from kerasrnn import layers
    from kerasrnn import models
    from kerasrnn import training

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    keras.config.set_dtype_policy(dtype)
    model = models.LanguageModel(
        *(WORDS, layers.FastLSTMCell(512), 256),
        batch_size=ROWS,
        sampled_words=sampled_words,
        dropout=0.1,
    )
    model.compile(
        keras.optimizers.Adam(global_clipnorm=1.0),
        training.TokenCrossentropy(-1),
    )
    draws = np.random.default_rng(0).zipf(1.3, (ROWS, WINDOW + 1)) % WORDS
    batch = {"ids": draws[:, :-1], "fresh": np.zeros(ROWS, bool)}
    seconds = []
    for _ in range(2 + repeats):
        begin = time.process_time()
        model.train_on_batch(batch, draws[:, 1:])
        seconds.append(time.process_time() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return min(seconds[2:]), peak


def main():
    args = parse_args()
    print(f"| words that are scored, {args.dtype} | CPU s | MiB |")
    print("|---|--:|--:|")
    for sampled_words in (None, args.sampled):
        given = (sampled_words, args.dtype, args.repeats)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, peak = pool.apply(measure, given)
        name = f"a sample of {sampled_words:,}" if sampled_words else "all"
        print(f"| {name} | {seconds:.2f} | {peak:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
