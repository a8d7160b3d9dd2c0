"""Flags, sizes and tables of the scripts that time layers.

It does not import Keras, because a flag chooses the backend.
"""

import argparse
import os
import sys
from typing import NamedTuple


class Sizes(NamedTuple):
    """Sizes of a batch, and of the two layers that all these scripts time.

    Args:
        batch: Integer, sequences in a batch.
        time: Integer, steps of a sequence.
        rhn: Dictionary of the arguments of an `RHN`.
        gam_rhn: Dictionary of the arguments of a `GAMRHN`.
    """

    batch: int
    time: int
    rhn: dict[str, int]
    gam_rhn: dict[str, int]


def gam_rhn(units, depth):
    """Arguments of a `GAMRHN` with one group of three slots per unit."""
    groups = {"num_groups": units, "group_size": 3, "head_units": units // 2}
    return {"units": units, "depth": depth, **groups}


PUBLISHED = Sizes(20, 35, {"units": 830, "depth": 10}, gam_rhn(600, 5))
TOY = Sizes(4, 6, {"units": 8, "depth": 2}, gam_rhn(8, 2))


def argument_parser(description, repeats=7, threads=2):
    """Returns a parser for the common flags.

    Args:
        description: String, whose first line is shown by `--help`.
        repeats, threads: Integers, the defaults of these flags.
    """
    parser = argparse.ArgumentParser(
        description=description.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--backend", default="tensorflow", choices=("tensorflow", "jax"))
    add("--repeats", type=int, default=repeats, help="runs of each system")
    add("--threads", type=int, default=threads, help="of every library")
    return parser


def prepare(args):
    """Sets the variables that Keras and its backend read when imported."""
    os.environ["KERAS_BACKEND"] = args.backend
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("OMP_NUM_THREADS", str(args.threads))
    if args.threads == 1:
        os.environ["XLA_FLAGS"] = (
            "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        )
    return args


def set_threads(args):
    """Limits the threads of TensorFlow, and of PyTorch if it is imported.

    Call it before any computation.
    """
    if args.backend == "tensorflow":
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(args.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(args.threads)


def policy(dtype):
    """Returns the dtype policy of layers that multiply in a dtype."""
    return "float32" if dtype == "float32" else f"mixed_{dtype}"


def print_table(header, rows):
    """Prints a table in Markdown, each row when it comes, and an empty line."""
    print("| " + " | ".join(header) + " |")
    print("|---|" + "---:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()
