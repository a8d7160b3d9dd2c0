"""Speed of a translator: kerasrnn beside plain PyTorch, on a CPU.

    pip install torch                   # for this benchmark alone
    python benchmarks/translation.py
    python benchmarks/translation.py --check    # is it the same model?

Both systems hold one model of 8.5M parameters (one GRU of 256 units, the
encoder bidirectional, additive attention with input feeding, vocabularies of
7,980 and 8,810) with the same weights, in one process, on the same number of
threads, over the same synthetic sentences. They take turns, and the medians are
printed. Padding does not count. When decoding, the end token is out of reach
and every sentence runs for its source length + 2 tokens, so that both systems
take the same steps. Run it on an idle machine: on a busy one the threads of
PyTorch wait for each other.
"""

import argparse
import functools
import os
import platform

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from timed_steps import take_turns

from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Translator
from kerasrnn.training import TokenCrossentropy

try:
    import torch
    import torch_translator
except ImportError as error:
    raise SystemExit(
        "This benchmark needs PyTorch, which is not installed. "
        "Get it with: pip install torch"
    ) from error

SOURCE_SIZE, TARGET_SIZE, UNITS = 7980, 8810, 256
START_ID, END_ID = 1, 2
MAX_WORDS, BATCH_SIZE = 60, 32
POOL = 50  # batches sorted by length together, as in `kerasrnn.data`

OURS, THEIRS = "kerasrnn", "PyTorch"
UNSORTED = "PyTorch, no length buckets"


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--repeats", type=int, default=5, help="turns of each system")
    add("--threads", type=int, default=2, help="threads of both libraries")
    add("--quick", action="store_true", help="few sentences, to try it out")
    add("--check", action="store_true", help="compare the results instead")
    return parser.parse_args()


def sentences(count, rng):
    """Pairs of id arrays with lengths and words like those of real text.

    Lengths are log-normal, fitted to 11,152 English-Hindi pairs: a mean of
    14 and 15 words, a 90th percentile of 24 and 27. Words follow Zipf's law.
    """

    def words(length, size):
        ranks = (size - 3) ** rng.random(length)
        return ranks.astype("int32") + 2

    def clip(length):
        return int(np.clip(round(length), 1, MAX_WORDS))

    pairs = []
    for length in 12 * rng.lognormal(0, 0.53, count):
        source = clip(length)
        target = clip(1.07 * length * rng.lognormal(0, 0.2))
        pairs.append((words(source, SOURCE_SIZE), words(target, TARGET_SIZE)))
    return pairs


def batches(pairs, size, by_length=None):
    """Lists of pairs, as they come or with others of their length."""
    if by_length:
        pairs = sorted(pairs, key=by_length)
    return [pairs[i : i + size] for i in range(0, len(pairs), size)]


def pad(rows):
    """Arrays of ids -> one array, padded with 0 on the right."""
    padded = np.zeros((len(rows), max(map(len, rows))), "int32")
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
    return padded


def training_arrays(batch):
    """Source, target behind the start token, labels up to the end token."""
    return (
        pad([source for source, _ in batch]),
        pad([np.r_[START_ID, target] for _, target in batch]),
        pad([np.r_[target, END_ID] for _, target in batch]),
    )


def source_arrays(batch):
    """Source and the length that its translation is given."""
    source = pad([source for source, _ in batch])
    return source, (source != 0).sum(1) + 2


def keras_translator():
    cell = FastGRUCell(UNITS)
    attention = BahdanauAttention(UNITS)
    model = Translator(
        Encoder(SOURCE_SIZE, cell, UNITS),
        Decoder(
            TARGET_SIZE, cell, UNITS, attention=attention, input_feeding=True
        ),
    )
    adam = keras.optimizers.Adam(1e-3, global_clipnorm=1.0)
    model.compile(adam, TokenCrossentropy())
    return model


def searches(model, peer):
    """Search by name -> our function and theirs, `(source, limits) -> ids`."""
    ends = {"start_id": START_ID, "end_id": END_ID}
    shapes = (None, None), (None,)

    def ours(search):
        @tf.function(
            input_signature=[tf.TensorSpec(x, "int32") for x in shapes]
        )
        def translate(source, limits):
            states, memory = model.encode(source)
            return search(
                model.decode_step, states, memory, max_lengths=limits
            ).ids

        return lambda *arrays: translate(*arrays).numpy()[:, 0]

    def theirs(search):
        return lambda *arrays: search(
            peer, *map(torch.from_numpy, arrays), **ends
        )

    options = {**ends, "max_length": MAX_WORDS + 2}
    greedy = GreedySearch(**options)
    beam = BeamSearch(beam_width=5, length_penalty=1.0, **options)
    return {
        "greedy": (ours(greedy), theirs(torch_translator.greedy_search)),
        "beam 5": (ours(beam), theirs(torch_translator.beam_search)),
    }


def set_end_bias(model, peer, bias, sharpness=1.0):
    """Makes the end likelier or not, and all choices more decided."""
    output = model.decoder.output_projection
    is_end = keras.ops.arange(TARGET_SIZE) == END_ID
    kernel = output.dense.kernel
    kernel.assign(kernel * sharpness)
    output.bias.assign(keras.ops.where(is_end, bias, output.bias))
    torch_translator.copy_weights(model, peer)


def check(model, peer, pairs):
    """Raises unless both systems compute the same."""
    set_end_bias(model, peer, bias=1.0, sharpness=8.0)
    both = searches(model, peer)
    for batch in batches(pairs[:128], BATCH_SIZE):
        source, target, _ = training_arrays(batch)
        logits = model({"source": source, "target": target}).numpy()
        with torch.no_grad():
            logits -= peer(*map(torch.from_numpy, (source, target))).numpy()
        difference = np.abs(logits).max()
        assert difference < 1e-4, difference
        print(f"logits: within {difference:.1e}")
        for name, (ours, theirs) in both.items():
            arrays = source_arrays(batch)
            found = ours(*arrays)
            for a, b in zip(found, theirs(*arrays), strict=True):
                assert [i for i in a if i] == [int(i) for i in b if i], (a, b)
            ended = f"{(found == END_ID).any(1).mean():.0%} of them ended"
            print(f"{name}: same translations, {ended}")


def report(task, unit, count, systems, repeats):
    """Times the systems in turns and prints rows of the table.

    A system is a function and the batches it runs on; `count` says how many
    units are in a batch.
    """

    def run(function, data):
        for arrays in data:
            function(*arrays)

    turns = [functools.partial(run, *system) for system in systems.values()]
    seconds = dict(zip(systems, take_turns(turns, repeats), strict=True))
    for name, (_, data) in systems.items():
        units = sum(count(*arrays) for arrays in data)
        speed = units / seconds[name]
        if name == OURS:
            ours, ratios = speed, ["", ""]
        else:
            ratios = [f"{ratio:.2f}" for ratio in ours / speed]
        cells = [task, name, unit, *(f"{x:,.1f}" for x in speed), *ratios]
        print(f"| {' | '.join(cells)} |", flush=True)


def time_training(model, peer, pairs, args):
    optimizer = torch.optim.Adam(peer.parameters(), 1e-3, fused=True)
    step = 10 if args.quick else 1
    bucketed, unsorted = (
        [
            training_arrays(batch)
            for batch in batches(pairs, BATCH_SIZE, key)[step // 2 :: step]
        ]
        for key in (lambda pair: (len(pair[1]), len(pair[0])), None)
    )

    def real_tokens(source, target, labels):
        return (labels != 0).sum()

    for name, data in (("in length buckets", bucketed), ("as is", unsorted)):
        real = sum(real_tokens(*x) for x in data)
        places = sum(x[2].size for x in data)
        print(f"real tokens {name}: {real / places:.0%}", end="; ")
    print(f"load {os.getloadavg()[0]:.1f}")
    print(
        "\n| task | system | unit | per wall second | per CPU second "
        f"| {OURS} / it, wall | {OURS} / it, CPU |\n|" + " --- |" * 7
    )

    def ours(source, target, labels):
        model.train_on_batch({"source": source, "target": target}, labels)

    def theirs(*arrays):
        torch_translator.training_step(
            peer, optimizer, *map(torch.from_numpy, arrays)
        )

    systems = {
        OURS: (ours, bucketed),
        THEIRS: (theirs, bucketed),
        UNSORTED: (theirs, unsorted),
    }
    task = f"training, batch {BATCH_SIZE}"
    report(task, "target tokens", real_tokens, systems, args.repeats)


def time_decoding(model, peer, pairs, batch_size, args):
    bucketed, unsorted = (
        [source_arrays(batch) for batch in batches(pairs, batch_size, key)]
        for key in (lambda pair: len(pair[0]), None)
    )

    for name, (ours, theirs) in searches(model, peer).items():
        systems = {OURS: (ours, bucketed), THEIRS: (theirs, bucketed)}
        if batch_size > 1:
            systems[UNSORTED] = (theirs, unsorted)
        task = f"{name}, batch {batch_size}"
        report(task, "sentences", lambda x, _: len(x), systems, args.repeats)


def main():
    args = parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    tf.config.set_visible_devices([], "GPU")
    torch.set_num_threads(args.threads)
    keras.utils.set_random_seed(13)
    model = keras_translator()
    peer = torch_translator.TorchTranslator(SOURCE_SIZE, TARGET_SIZE, UNITS)
    torch_translator.copy_weights(model, peer)
    pairs = sentences(POOL * BATCH_SIZE, np.random.default_rng(13))
    count = sum(x.numel() for x in peer.parameters())
    print(f"parameters: {OURS} {model.count_params():,}, {THEIRS} {count:,}")
    print(
        f"{os.cpu_count()} cores, {args.threads} threads, "
        f"{platform.machine()}; Python {platform.python_version()}, "
        f"keras {keras.__version__}, tensorflow {tf.__version__}, "
        f"torch {torch.__version__}; median of {args.repeats}"
    )
    if args.check:
        return check(model, peer, pairs)
    time_training(model, peer, pairs, args)
    set_end_bias(model, peer, bias=-1e9)
    time_decoding(model, peer, pairs[: 64 if args.quick else 256], 64, args)
    time_decoding(model, peer, pairs[: 8 if args.quick else 32], 1, args)


if __name__ == "__main__":
    main()
