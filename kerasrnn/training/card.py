"""`card.json`: the results of a run and how to repeat it."""

import contextlib
import datetime
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

from kerasrnn.files import atomic_write
from kerasrnn.files import reading
from kerasrnn.training.fingerprints import fingerprint
from kerasrnn.typing import Config
from kerasrnn.typing import PathLike
from kerasrnn.warning import warn


def write_card(path: PathLike, **facts: Any) -> Config:
    """Writes the results of a run as JSON, with the facts to repeat it.

    Command, commit, device and versions are added.

    Args:
        path: File to write. It is written completely or not at all.
        **facts: Values to write, by name. NumPy arrays and numbers become lists
            and numbers. Other values that JSON cannot represent become strings,
            such as "NaN".

    Returns:
        The card, a dictionary.
    """
    card = new_card(**facts)
    write_json(path, card)
    return card


def new_card(**facts):
    """Returns the card that `write_card` writes."""
    return {
        "command": shlex.join(["python", *sys.argv]),
        "commit": _commit(),
        "date": datetime.date.today().isoformat(),
        "device": {
            "cpu_cores": os.cpu_count(),
            "machine": platform.machine(),
            "processor": _processor(),
            # All devices, because JAX raises an error when asked for missing
            # GPUs.
            "gpus": sum(
                not name.startswith("cpu")
                for name in keras.distribution.list_devices()
            ),
        },
        "versions": {
            "python": platform.python_version(),
            "keras": keras.version(),
            **_versions("kerasrnn", "tensorflow", "tensorflow-text", "jax"),
        },
        **facts,
    }


def write_json(path, facts):
    """Writes a dictionary as JSON, completely or not at all."""
    # Python can read and write NaN, but it is not valid JSON.
    facts = _plain(facts)
    text = json.dumps(facts, ensure_ascii=False, indent=2)
    with atomic_write(pathlib.Path(path)) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_card(path: PathLike, **facts: Any) -> Config | None:
    """Reads a card that `write_card` wrote, if it contains the given facts.

    Args:
        path: File to read.
        **facts: Values that the card must contain, by name, such as the
            settings and the data of this run.

    Returns:
        The card, a dictionary; `None` if there is no file, or if it has other
        facts.

    Raises:
        ValueError: when the file is damaged.
    """
    path = pathlib.Path(path)
    if not path.exists():
        return None
    with reading(path, "Delete it, and the run will write it again."):
        card = dict(json.loads(path.read_text(encoding="utf-8")))
    facts = _plain(facts)
    if not facts.items() <= card.items():
        return None
    return keras.tree.map_structure(
        lambda x: float(x) if x in ("NaN", "Infinity", "-Infinity") else x, card
    )


def warn_of_other_data(saved: PathLike, data: Any) -> None:
    """Warns if the card beside a pipeline says that its data were different.

    Further training might then validate on data that the pipeline has learnt.

    Args:
        saved: Path of the `.keras` file that a run wrote.
        data: List of two lists: the training and the validation data of the new
            run.

    Example:

    >>> warn_of_other_data("moved/translator.keras", [[], []])  # without card
    """
    card = read_card(pathlib.Path(saved).with_name("card.json")) or {}
    known = card.get("data", {}).get("fingerprint")
    if known not in (None, fingerprint(data)):
        warn(
            "The data differ from those that the pipeline was trained on, or "
            "are split differently. So the held-out part may contain training "
            "data. Expected: the files, the seed and the sizes of the run that "
            f"wrote the pipeline. Received: '{saved}'",
        )


def _plain(facts):
    """Converts facts to values that JSON can represent."""
    # NumPy numbers and arrays are converted; other facts become strings.
    text = json.dumps(
        facts, default=lambda x: x.tolist() if hasattr(x, "tolist") else str(x)
    )
    return json.loads(text, parse_constant=str)


def _versions(*packages):
    """Returns the versions of the installed packages."""
    versions = {}
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions


def _processor():
    """Returns the name of the processor; only Linux has it in a file."""
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor()


def _commit():
    """Returns the commit of this package; marks uncommitted changes."""
    root = pathlib.Path(__file__).parents[2]
    if not (root / ".git").exists():
        return "unknown"  # It may be inside another repository.
    git = ["git", "-C", str(root), "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(git, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()
