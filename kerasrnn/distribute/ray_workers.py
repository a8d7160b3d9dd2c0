"""Starts the workers of a recipe with Ray Train, from the command line.

    kerasrnn-ray 2 recipes/ptb_lm.py
    kerasrnn-ray 8 --gpu --restarts 3 recipes/translate.py --train pairs.tsv

Each of them is told where the others are, and trains on its share.
"""

import argparse
import os
import runpy
import sys
from collections.abc import Mapping
from typing import Any

from kerasrnn.optional import needs
from kerasrnn.typing import Strings


def run_script(facts: Mapping[str, Any]) -> None:
    """Runs a script in this process, as a worker.

    Args:
        facts: Dictionary of `"script"`, its path; `"args"`, a list of strings,
            its command line; and `"folder"`, the folder to run it in.

    Raises:
        RuntimeError: when the script ends with an exit code other than 0.
    """
    os.chdir(facts["folder"])
    sys.argv = [facts["script"], *facts["args"]]
    sys.path.insert(0, os.path.dirname(os.path.abspath(facts["script"])))
    try:
        runpy.run_path(facts["script"], run_name="__main__")
    except SystemExit as end:
        # Ray takes any end of a worker by an exit as a crash.
        if end.code:
            raise RuntimeError(
                f"The script '{facts['script']}' must end without an error. "
                f"Received: {end.code}"
            ) from end


def main(args: Strings | None = None) -> None:
    """Runs the command line.

    Args:
        args: List of strings; `None` for the arguments of the process.
    """
    parser = argparse.ArgumentParser(
        prog="kerasrnn-ray",
        description="Runs a recipe on several workers of Ray Train.",
        epilog="The recipe gets the flag --distribute workers. Every machine "
        "needs the script and its data at the same paths.",
        allow_abbrev=False,
    )
    parser.add_argument("workers", type=int, help="number of workers")
    parser.add_argument(
        "--gpu", action="store_true", help="one GPU for each worker"
    )
    parser.add_argument(
        "--restarts",
        type=int,
        default=0,
        help="how often to restart all workers after one has stopped "
        "(default: %(default)s)",
    )
    parser.add_argument("script", help="such as recipes/ptb_lm.py")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its flags")
    found = parser.parse_args(args)

    with needs("ray", "ray"):
        from ray import train
        from ray.train.tensorflow import TensorflowTrainer

    # It sets TF_CONFIG in every worker.
    TensorflowTrainer(
        run_script,
        train_loop_config={
            "script": found.script,
            "args": [*found.args, "--distribute", "workers"],
            "folder": os.getcwd(),
        },
        scaling_config=train.ScalingConfig(
            num_workers=found.workers, use_gpu=found.gpu
        ),
        run_config=train.RunConfig(
            failure_config=train.FailureConfig(max_failures=found.restarts)
        ),
    ).fit()


if __name__ == "__main__":
    main()
