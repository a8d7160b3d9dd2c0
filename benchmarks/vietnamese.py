"""Speed of English to Vietnamese: the sizes that JoeyNMT was measured at.

    python benchmarks/vietnamese.py --data-dir DATA

Sentences and vocabularies are those of the corpus `en_vi`; weights are
random. A training step learns from a bucketed batch of the recipe, dropout,
clipping and Adam included, and only real target tokens count. When decoding,
each sentence is given as many steps as its reference has tokens, the end
token being out of reach, so that what is measured is no matter of what the
model says. CPU seconds are those of the whole process, whatever its threads.
"""

import argparse
import itertools
import os
import platform

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.data import drop_long
from kerasrnn.data import find_corpus
from kerasrnn.data import read_parallel_corpus
from kerasrnn.data import read_vocabulary
from kerasrnn.data import translation_batches
from kerasrnn.data import translation_lexicon
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.layers import FastLSTMCell
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Lexicon
from kerasrnn.models import Shortlist
from kerasrnn.models import Translator
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.training import TokenCrossentropy

# Layers of the decoder and width; JoeyNMT 2.3.0's target tokens a CPU second
# of training, and sentences a CPU second by search and batch, where they were
# measured (float32, two shared cores).
SIZES = {"1x256": (1, 256), "2x512": (2, 512)}
JOEY_TRAINING = {"1x256": "1,190", "2x512": "290 to 318"}
JOEY_DECODING = {
    ("greedy", 64): 78,
    ("greedy", 1): 21,
    ("beam 5", 64): 15,
    ("beam 5", 1): 6.9,
}


def build(size, tokenizers):
    depth, units = SIZES[size]
    cell = FastLSTMCell(units)
    source, target = tokenizers
    return Translator(
        Encoder(source.vocabulary_size, cell, units, dropout=0.2, pad_id=-1),
        Decoder(
            target.vocabulary_size,
            cell,
            units,
            depth=depth,
            attention="general",
            input_feeding=True,
            dropout=0.2,
        ),
    )


def training_speed(model, batches, steps):
    """Target tokens a CPU second and a second of the clock."""
    model.compile(
        keras.optimizers.Adam(1e-3, global_clipnorm=1.0), TokenCrossentropy(-1)
    )
    batches = list(itertools.islice(batches, steps + 2))
    for inputs, labels in batches[:2]:
        model.train_on_batch(inputs, labels)
    clock = Stopwatch()
    for inputs, labels in batches[2:]:
        model.train_on_batch(inputs, labels)
    seconds = clock.read()
    tokens = sum(int((labels >= 0).numpy().sum()) for _, labels in batches[2:])
    return tokens / seconds["cpu_seconds"], tokens / seconds["wall_seconds"]


def decoding_speed(model, search, batches, end_id, shortlist=None):
    """Sentences a CPU second and a second of the clock."""
    bias = model.decoder.output_projection.bias
    bias.assign(-1e9 * tf.one_hot(end_id, bias.shape[0]))

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None), tf.int32),
            tf.TensorSpec((None,), tf.int32),
        ]
    )
    def decode(source, limits):
        words = None if shortlist is None else shortlist(source)
        states, memory = model.encode(source, words)
        return search(
            model.decode_step,
            states,
            memory,
            max_lengths=limits,
            vocabulary=words,
        ).ids

    decode(*batches[0])
    clock = Stopwatch()
    for batch in batches:
        decode(*batch)
    seconds = clock.read()
    count = sum(len(source) for source, _ in batches)
    return count / seconds["cpu_seconds"], count / seconds["wall_seconds"]


def sentence_batches(pairs, tokenizers, batch_size):
    """Sources and the lengths of their references, of like lengths."""
    pairs = sorted(pairs, key=lambda pair: len(pair[0].split()))
    for i in range(0, len(pairs), batch_size):
        sources, targets = zip(*pairs[i : i + batch_size], strict=True)
        source, target = (
            tokenizer.tokenize(list(texts))
            for tokenizer, texts in zip(
                tokenizers, (sources, targets), strict=True
            )
        )
        yield source.to_tensor(-1), tf.cast(target.row_lengths(), tf.int32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--sentences", type=int, default=256)
    args = parser.parse_args()
    path = find_corpus("en_vi", args.data_dir)
    pairs, _ = read_parallel_corpus(
        (path, path.with_suffix(".vi")), limit=20000
    )
    dev, _ = read_parallel_corpus(
        (path.with_name("tst2012.en"), path.with_name("tst2012.vi"))
    )
    tokenizers = [
        WordTokenizer(
            read_vocabulary(path.with_name(f"vocab.{language}")),
            lowercase=False,
        )
        for language in ("en", "vi")
    ]
    print(f"{platform.processor()} {platform.system()}, keras", end=" ")
    print(f"{keras.__version__}, tensorflow {tf.__version__}\n")

    print("| training | dtype | batch | tokens a CPU s | a s | JoeyNMT |")
    print("|---|---|--:|--:|--:|--:|")
    batch_size = 64
    batches = translation_batches(
        drop_long(pairs, 50), *tokenizers, batch_size, seed=13
    )
    for size, dtype in itertools.product(SIZES, ("float32", "mixed_bfloat16")):
        keras.config.set_dtype_policy(dtype)
        model = build(size, tokenizers)
        cpu, wall = training_speed(model, batches, args.steps)
        print(
            f"| {size} | {dtype} | {batch_size} | {cpu:,.0f} | {wall:,.0f} "
            f"| {JOEY_TRAINING[size]} |",
            flush=True,
        )

    keras.config.set_dtype_policy("float32")
    model = build("1x256", tokenizers)
    ids = tokenizers[1].special_ids
    beam = BeamSearch(**ids, max_length=100, beam_width=5)
    lexicon = Lexicon(*(tokenizer.vocabulary_size for tokenizer in tokenizers))
    lexicon.assign(*translation_lexicon(pairs, *tokenizers))
    searches = {
        "greedy": (GreedySearch(**ids, max_length=100), None),
        "beam 5": (beam, None),
        "beam 5, shortlist": (beam, Shortlist(lexicon)),
    }
    chosen = np.random.default_rng(13).choice(len(dev), args.sentences, False)
    chosen = [dev[i] for i in chosen]
    print("\n| decoding, 1x256 | batch | sentences a CPU s | a s | JoeyNMT |")
    print("|---|--:|--:|--:|--:|")
    for name, (search, shortlist) in searches.items():
        for batch_size in (64, 1):
            count = len(chosen) if batch_size > 1 else len(chosen) // 4
            batches = list(
                sentence_batches(chosen[:count], tokenizers, batch_size)
            )
            cpu, wall = decoding_speed(
                model, search, batches, tokenizers[1].end_id, shortlist
            )
            print(
                f"| {name} | {batch_size} | {cpu:,.1f} | {wall:,.1f} "
                f"| {JOEY_DECODING.get((name, batch_size), '')} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
