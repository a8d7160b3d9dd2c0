"""The results of a run as a JSON file, beside its other outputs."""

import importlib.metadata
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
from typing import Any

import keras

from kerasrnn.training.files import reading
from kerasrnn.training.files import whole
from kerasrnn.training.output_folder import output_folder  # noqa: F401
from kerasrnn.typing import Config
from kerasrnn.typing import PathLike


def write_card(path: PathLike, **facts: Any) -> None:
    """Writes the results of a run as JSON, with what it takes to repeat it.

    Command, commit, device and versions are added to the facts.

    Args:
        path: File to write. It is written completely or not at all.
        **facts: Values to write, by name. Those that JSON cannot represent
            become strings, such as "NaN".
    """
    path = pathlib.Path(path)
    backend = keras.backend.backend()
    card = {
        "command": shlex.join(["python", *sys.argv]),
        "commit": _commit(),
        "device": {
            "cpu_cores": os.cpu_count(),
            "machine": platform.machine(),
            # All devices: JAX raises when asked for GPUs and there is none.
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
    # Python writes and reads NaN, but JSON does not have it.
    card = json.loads(json.dumps(card, default=str), parse_constant=str)
    text = json.dumps(card, ensure_ascii=False, indent=2)
    with whole(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_card(path: PathLike, **facts: Any) -> Config | None:
    """Reads a card that `write_card` wrote, if its facts are the given ones.

    Args:
        path: File to read.
        **facts: Values that the card must contain, by name, such as the
            settings and the data of this run.

    Returns:
        The card, a dictionary; `None` if there is no file, or if the card is
        of a run with other facts.

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
    """The commit of this package, marked if there are uncommitted changes."""
    root = pathlib.Path(__file__).parents[2]
    if not (root / ".git").exists():
        return "unknown"  # Installed, maybe inside another repository.
    git = ["git", "-C", str(root), "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(git, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()
