"""What a run measured, as a JSON file beside what it left."""

import importlib.metadata
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
import tempfile

import keras


def output_folder(path):
    """Makes a folder, or says at once that it cannot be written.

    Args:
        path: String or path of the folder.

    Returns:
        The folder, a `pathlib.Path`.

    Raises:
        OSError: when the folder cannot be made or written.
    """
    path = pathlib.Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise OSError(
            "The output folder must be one that can be made and written. "
            f"Received: '{path}' ({error.strerror})."
        ) from error


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
            "gpus": len(keras.distribution.list_devices("gpu")),
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
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)


def read_card(path, **facts):
    """Reads a card that `write_card` wrote, if it is of a run like this one.

    Args:
        path: File to read.
        **facts: What the card must hold, by name: settings, data.

    Returns:
        The card, a dictionary; `None` where there is none, or one of a run
        with other facts.
    """
    path = pathlib.Path(path)
    if not path.exists():
        return None
    card = json.loads(path.read_text(encoding="utf-8"))
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
