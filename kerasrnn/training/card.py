"""The results of a run as a JSON file, beside its other outputs."""

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
    """Writes the results of a run as JSON, with what it takes to repeat it.

    Command, commit, device and versions are added to the facts.

    Args:
        path: File to write. It is written completely or not at all.
        **facts: Values to write, by name. Arrays, and numbers of NumPy,
            become lists and numbers; others that JSON cannot represent become
            strings, such as "NaN".

    Returns:
        The card, a dictionary.
    """
    card = new_card(**facts)
    write_json(path, card)
    return card


def new_card(**facts):
    """Returns what `write_card` writes."""
    return {
        "command": shlex.join(["python", *sys.argv]),
        "commit": _commit(),
        "date": datetime.date.today().isoformat(),
        "device": {
            "cpu_cores": os.cpu_count(),
            "machine": platform.machine(),
            "processor": _processor(),
            # All devices: JAX raises when asked for GPUs and there is none.
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
    # Python writes and reads NaN, but JSON does not have it.
    facts = _plain(facts)
    text = json.dumps(facts, ensure_ascii=False, indent=2)
    with atomic_write(pathlib.Path(path)) as partial:
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
    facts = _plain(facts)
    if not facts.items() <= card.items():
        return None
    return keras.tree.map_structure(
        lambda x: float(x) if x in ("NaN", "Infinity", "-Infinity") else x, card
    )


def warn_of_other_data(saved: PathLike, data: Any) -> None:
    """Warns if a pipeline was trained on other data, by the card beside it.

    A run that trains it further then validates on some that it has learnt.

    Args:
        saved: Path of the `.keras` file that a run wrote.
        data: What the run was given: a list of its rows to train on and of
            those to validate on.

    Example:

    >>> warn_of_other_data("moved/translator.keras", [[], []])  # without card
    """
    card = read_card(pathlib.Path(saved).with_name("card.json")) or {}
    known = card.get("data", {}).get("fingerprint")
    if known not in (None, fingerprint(data)):
        warn(
            "The data are other ones, or not split as they were, so that their "
            "held-out part may contain data that were trained on. Expected: "
            "the files, the seed and the sizes of the run that wrote the "
            f"pipeline. Received: '{saved}'",
        )


def _plain(facts):
    """Facts as JSON can represent them."""
    return json.loads(json.dumps(facts, default=_value), parse_constant=str)


def _value(fact):
    """A number or a list, of NumPy's; otherwise the fact as a string."""
    return fact.tolist() if hasattr(fact, "tolist") else str(fact)


def _versions(*packages):
    """The versions of those packages that are installed."""
    versions = {}
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions


def _processor():
    """The name of the processor; Linux alone has it in a file."""
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor()


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
