"""Raw reviews a second through an exported classifier.

    python benchmarks/serving.py saved_models/imdb/1 --data-dir DATA

The reviews go in as they are in the corpus, in batches, in its order, so that
short and long ones share a batch as they would in a server.
"""

import argparse
import os
import statistics

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf  # noqa: E402
import tensorflow_text  # noqa: E402, F401  registers the text operations

from kerasrnn.data import find_corpus  # noqa: E402
from kerasrnn.data import read_labelled_corpus  # noqa: E402
from kerasrnn.training import Stopwatch  # noqa: E402


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("model", help="folder of the SavedModel")
    parser.add_argument("--data-dir", help="folder of the corpora")
    parser.add_argument("--corpus", default="imdb")
    parser.add_argument("--reviews", type=int, default=2000)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    corpus = read_labelled_corpus(
        find_corpus(args.corpus, args.data_dir), limit=args.reviews
    )
    batches = tf.data.Dataset.from_tensor_slices(corpus.train.texts)
    batches = list(batches.batch(args.batch_size))
    label = tf.saved_model.load(args.model).signatures["serving_default"]
    for batch in batches[:3]:
        label(text=batch)
    turns = []
    for _ in range(args.repeats):
        clock = Stopwatch()
        for batch in batches:
            label(text=batch)["probability"].numpy()
        turns.append(clock.read())
    count = len(corpus.train.texts)
    wall, cpu = (
        statistics.median(turn[name] for turn in turns)
        for name in ("wall_seconds", "cpu_seconds")
    )
    print(
        f"{count} reviews in batches of {args.batch_size}, {args.threads} "
        f"threads: {count / wall:,.0f} a second, {count / cpu:,.0f} a CPU "
        "second"
    )


if __name__ == "__main__":
    main()
