"""Trains on corpora that are larger than memory, and resumes after a kill.

    python benchmarks/large_corpus.py language --rows 20000000
    python benchmarks/large_corpus.py translator --rows 5000000

A file of so many generated rows is written. One process reads it, learns
vocabularies and trains a small model for some steps; then it trains another
from the start and kills itself on the way. A second process reads the file
again and resumes. Both must end with the same weights.
"""

import argparse
import operator
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

STEPS, KILLED_AT, SEED, VOCABULARY = 40, 25, 13, 8000


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("task", choices=TASKS)
    add("--rows", type=int, default=1_000_000)
    add("--file", type=pathlib.Path, help="of one process: the corpus")
    add("--resume", action="store_true", help="of one process")
    return parser.parse_args()


def write_corpus(task, rows, path):
    """Writes rows that all differ: of 100 bytes, or twice 60 with a tab."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    ids = np.minimum(rng.zipf(1.3, (2**16, 11)), 30_000)
    phrases = [" ".join(f"w{i}" for i in row) for row in ids]
    others = [" ".join(f"v{i}" for i in row[::-1]) for row in ids]
    with path.open("w", encoding="utf-8") as file:
        for row in range(rows):
            first, second = row % 2**16, (row * 7919 // 2**16) % 2**16
            line = f"{phrases[first]} {phrases[second]} {row}"
            if task == "translator":
                line += f"\t{row} {others[second]} {others[first]}"
            file.write(f"{line}\n")


class Stages:
    """Prints seconds and the peak of the memory after each stage."""

    def __init__(self, rows):
        self.millions = rows / 1e6
        self.last = self.now()

    def now(self):
        return time.process_time(), time.perf_counter()

    def end(self, stage):
        now = self.now()
        cpu, wall = (b - a for a, b in zip(self.last, now, strict=True))
        self.last = now
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"| {stage} | {cpu:.0f} | {wall:.0f} | "
            f"{cpu / self.millions:.1f} | {peak:.2f} |",
            flush=True,
        )


def language(path, stages):
    """The model, and the lines to train it on."""
    from kerasrnn import data
    from kerasrnn import layers
    from kerasrnn import models
    from kerasrnn import pipelines
    from kerasrnn import tokenizers

    lines = data.read_text_corpus(path).train
    stages.end("read, hold out")
    tokenizer = tokenizers.WordTokenizer.train(
        lines, VOCABULARY, specials=("</s>", "<unk>"), lowercase=False
    )
    stages.end("vocabulary")
    cell = layers.FastLSTMCell(64)
    model = models.LanguageModel(VOCABULARY, cell, batch_size=20)
    model.build()
    pipeline = pipelines.TextLanguageModel(model, tokenizer, 35)
    pipeline.assign_frequencies(lines)
    stages.end("ids to disk, frequencies")
    return pipeline, lines


def translator(path, stages):
    """The model, and the pairs to train it on."""
    from kerasrnn import data
    from kerasrnn import decoding
    from kerasrnn import layers
    from kerasrnn import models
    from kerasrnn import pipelines
    from kerasrnn import tokenizers

    pairs = data.read_parallel_parts([path], dev_size=2000, seed=SEED).train
    stages.end("read, hold out")
    both = [
        tokenizers.WordTokenizer.train(
            map(operator.itemgetter(side), pairs), VOCABULARY
        )
        for side in (0, 1)
    ]
    stages.end("vocabularies")
    encoder, decoder = (
        kind(VOCABULARY, cell=layers.FastLSTMCell(64))
        for kind in (models.Encoder, models.Decoder)
    )
    search = decoding.GreedySearch(max_length=50, **both[1].special_ids)
    model = models.Translator(encoder, decoder)
    pipeline = pipelines.TextTranslator(model, *both, search)
    return pipeline, pairs


TASKS = {"language": language, "translator": translator}


def train(args):
    """Trains, and is killed; or resumes. Prints a checksum of the weights."""
    import keras

    from kerasrnn import training

    class Kill(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == KILLED_AT:
                os.kill(os.getpid(), signal.SIGKILL)

    stages = Stages(args.rows)
    keras.utils.set_random_seed(SEED)
    pipeline, rows = TASKS[args.task](args.file, stages)
    settings = {"data": training.fingerprint(rows)}
    stages.end("fingerprint")
    untrained = pipeline.model.get_weights()
    runs = ["killed"] if args.resume else ["whole", "killed"]
    for run in runs:
        # Both start from the same weights and random numbers.
        keras.utils.set_random_seed(SEED)
        pipeline.model.set_weights(untrained)
        pipeline.compile("adam")
        size = 64 if args.task == "translator" else None
        batches = pipeline.batches(rows, size, seed=SEED)
        folder = training.TrainingFolder(
            args.file.parent / run, settings, "loss"
        )
        kill = [] if run == "whole" or args.resume else [Kill()]
        folder.fit(
            *(pipeline.model, batches.take(STEPS), 1),
            callbacks=kill,
            minutes=0,
            verbose=0,
        )
        stages.end(f"{STEPS} steps, {run}")
        weights = training.fingerprint(pipeline.model.get_weights())
        print(f"\nWeights: {weights}\n", flush=True)


def main():
    args = parse_args()
    if args.file:
        train(args)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "corpus.tsv")
        if args.task == "language":
            path = path.with_suffix(".txt")
        write_corpus(args.task, args.rows, path)
        print(f"{args.rows:,} rows, {path.stat().st_size / 2**30:.2f} GiB\n")
        print(
            "| stage | CPU s | wall s | CPU s a million | peak so far, GiB |\n"
            "|---|--:|--:|--:|--:|",
            flush=True,
        )
        command = [sys.executable, __file__, args.task, "--file", path]
        command += ["--rows", str(args.rows)]
        subprocess.run(command)
        subprocess.run([*command, "--resume"], check=True)


if __name__ == "__main__":
    main()
