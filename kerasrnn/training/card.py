"""What a run measured, as a JSON file beside what it left."""

import importlib.metadata
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys

import keras

from kerasrnn.training.files import reading
from kerasrnn.training.files import whole
from kerasrnn.training.output_folder import output_folder  # noqa: F401


def write_card(path, **facts):
    """Writes what a run measured, and how it can be had again, as JSON.

    Command, commit, device and versions are added to the facts.

    Args:
        path: File to write, whole or not at all.
        **facts: What to write, by name; what JSON cannot hold is written as
            a string, such as "NaN".
    """
    path = pathlib.Path(path)
    backend = keras.backend.backend()
    card = {
        "command": shlex.join(["python", *sys.argv]),
        "commit": _commit(),
        "device": {
            "cpu_cores": os.cpu_count(),
            "machine": platform.machine(),
            # JAX raises where it is asked for what it has none of.
            "gpus": sum(
                not name.startswith("cpu")
                for name in keras.distribution.list_devices()
            ),
        },
        "versions": {
            "python": platform.python_version(),
            "keras": keras.version(),
            backend: importlib.metadata.version(backend),
        },
        **facts,
    }
    # Python writes a NaN, and reads it, but it is no JSON.
    card = json.loads(json.dumps(card, default=str), parse_constant=str)
    text = json.dumps(card, ensure_ascii=False, indent=2)
    with whole(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_card(path, **facts):
    """Reads a card that `write_card` wrote, if it is of a run like this one.

    Args:
        path: File to read.
        **facts: What the card must hold, by name: settings, data.

    Returns:
        The card, a dictionary; `None` where there is none, or one of a run
        with other facts.

    Raises:
        ValueError: when the file is damaged.
    """
    path = pathlib.Path(path)
    if not path.exists():
        return None
    with reading(path, "Delete it, and its run will write it again."):
        card = dict(json.loads(path.read_text(encoding="utf-8")))
    facts = json.loads(json.dumps(facts, default=str))
    if any(card.get(name) != fact for name, fact in facts.items()):
        return None
    return keras.tree.map_structure(
        lambda x: float(x) if x in ("NaN", "Infinity", "-Infinity") else x, card
    )


def _commit():
    """The commit of this package, marked when it was changed."""
    root = pathlib.Path(__file__).parents[2]
    if not (root / ".git").exists():
        return "unknown"  # Installed, maybe below somebody's repository.
    git = ["git", "-C", root, "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(git, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()
