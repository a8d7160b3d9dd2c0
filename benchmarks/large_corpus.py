"""Reads, splits and batches a large parallel corpus, beside `datasets`.

    python benchmarks/large_corpus.py SOURCE.txt TARGET.txt --lines 1000000

The two files are repeated, each sentence with a number, until there are so many
pairs. A process for each way reads them from a file with tabs, holds 2,000
out, and makes all batches of 64 pairs of an epoch, of ids by the same
vocabularies, padded. Ours sorts by length within 50 batches or so; `datasets`
takes the pairs in random order.
"""

import argparse
import itertools
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

HELD_OUT, BATCH_SIZE, SEED = 2000, 64, 13


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("source", type=pathlib.Path, help="file with a sentence a line")
    add("target", type=pathlib.Path, help="file with their translations")
    add("--lines", type=int, default=1_000_000)
    add("--way", choices=WAYS, help="of one process: the files are the corpus")
    return parser.parse_args()


def write_corpus(args, path):
    """Writes pairs that all differ."""
    sides = (
        file.read_text("utf-8").splitlines()
        for file in (args.source, args.target)
    )
    pairs = [pair for pair in zip(*sides, strict=True) if all(pair)]
    with path.open("w", encoding="utf-8") as file:
        for i, (source, target) in zip(
            range(args.lines), itertools.cycle(pairs), strict=False
        ):
            file.write(f"{source} {i}\t{target} {i}\n")


class Stages:
    """Prints the CPU and the wall seconds of each stage."""

    def __init__(self, way):
        self.way = way
        self.last = self.now()

    def now(self):
        return time.process_time(), time.perf_counter()

    def end(self, stage, count):
        now = self.now()
        cpu, wall = (b - a for a, b in zip(self.last, now, strict=True))
        self.last = now
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"| {self.way} | {stage} | {cpu:.1f} | {wall:.1f} | "
            f"{count / cpu:,.0f} | {peak:.2f} |",
            flush=True,
        )


def tokenizers_of(pairs):
    """Vocabularies of the first pairs, which the corpus repeats."""
    from kerasrnn.tokenizers import WordTokenizer

    sides = zip(*itertools.islice(pairs, 100_000), strict=True)
    return [
        WordTokenizer.train(
            side, 8000, specials=("<pad>", "<unk>", "<s>", "</s>")
        )
        for side in sides
    ]


def ours(path):
    from kerasrnn import data

    stages = Stages("kerasrnn")
    pairs = data.read_parallel_corpus(path).pairs
    stages.end("read", len(pairs))
    train, _ = data.split_by_source(pairs, HELD_OUT, SEED)
    stages.end("split", len(pairs))
    tokenizers = tokenizers_of(train)
    stages.end("vocabularies of 100,000", 100_000)
    for _ in data.translation_batches(train, *tokenizers, BATCH_SIZE, 100, 1):
        pass
    stages.end("batches", len(train))


def by_datasets(path):
    import datasets
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as cache:
        stages = Stages("datasets")
        options = {"sep": "\t", "quoting": 3}
        rows = datasets.load_dataset(
            *("csv",),
            data_files=str(path),
            split="train",
            cache_dir=cache,
            column_names=["source", "target"],
            **options,
        )
        stages.end("read", len(rows))
        train = rows.train_test_split(HELD_OUT, seed=SEED)["train"]
        stages.end("split", len(rows))
        some = train[:100_000]
        tokenizers = tokenizers_of(zip(*some.values(), strict=True))
        stages.end("vocabularies of 100,000", 100_000)
        for rows in train.iter(BATCH_SIZE):
            for side, tokenizer in zip(rows.values(), tokenizers, strict=True):
                tokenizer.tokenize(tf.constant(side), 100).to_tensor()
        stages.end("batches", len(train))


WAYS = {"kerasrnn": ours, "datasets": by_datasets}


def main():
    args = parse_args()
    if args.way:
        WAYS[args.way](args.source)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "corpus.tsv")
        write_corpus(args, path)
        print(f"{path.stat().st_size / 2**20:.0f} MiB\n")
        print(
            "| | stage | CPU s | wall s | lines a CPU s | peak so far, GiB |\n"
            "|---|---|--:|--:|--:|--:|",
            flush=True,
        )
        for way in WAYS:
            command = [sys.executable, __file__, path, path, "--way", way]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
