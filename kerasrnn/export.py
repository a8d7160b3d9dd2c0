"""Trained models as SavedModels that load without this package."""

import json
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile

import keras
import tensorflow as tf


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
    card = {
        "command": shlex.join(["python", *sys.argv]),
        "commit": _commit(),
        "device": {
            "cpu_cores": os.cpu_count(),
            "machine": platform.machine(),
            "gpus": len(tf.config.list_physical_devices("GPU")),
        },
        "versions": {
            "python": platform.python_version(),
            "keras": keras.version(),
            "tensorflow": tf.__version__,
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
    root = pathlib.Path(__file__).parents[1]
    if not (root / ".git").exists():
        return "unknown"  # Installed, maybe below somebody's repository.
    git = ["git", "-C", root, "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(git, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def export_saved_model(path, signatures, resources):
    """Writes a SavedModel, whole or not at all.

    The first signature is also what `serving_default` answers. The model
    loads in a process that imports only `tensorflow`, and `tensorflow_text`
    where a signature tokenizes.

    Args:
        path: Folder to write, `NAME/VERSION`. A SavedModel that is there is
            replaced once the new one is complete.
        signatures: Dictionary from names to `tf.function`s that have an
            input signature and return a dictionary of tensors.
        resources: List of the Keras layers, models and tokenizers that the
            functions use.

    Returns:
        The path written, a `pathlib.Path`.

    Raises:
        OSError: when the folder cannot be written.
        ValueError: when `signatures` is empty, or something that is no
            SavedModel lies at `path`.

    Example:

    ```python
    export_saved_model(
        "saved_models/nmt_hindi/1",
        translator.signatures,
        [model, source_tokenizer, target_tokenizer],
    )
    ```
    """
    if not signatures:
        raise ValueError(
            "`signatures` must name at least one function. Received: {}."
        )
    path = pathlib.Path(path)
    if path.exists() and not (path / "saved_model.pb").exists():
        raise ValueError(
            "`path` must be new, or a SavedModel to replace, such as "
            f"NAME/VERSION. Received: '{path}', which is something else."
        )
    folder = output_folder(path.parent)
    partial = pathlib.Path(
        tempfile.mkdtemp(prefix=f".{path.name}-", dir=folder)
    )
    try:
        archive = keras.export.ExportArchive()
        for resource in resources:
            archive.track(resource)
        for name, function in signatures.items():
            archive.add_endpoint(name, function)
        archive.write_out(partial / "model", verbose=False)
        if path.exists():
            path.rename(partial / "old")
        (partial / "model").rename(path)
    except BaseException:
        if (partial / "old").exists():
            (partial / "old").rename(path)
        raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return path
