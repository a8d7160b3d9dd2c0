"""What XLA has compiled, kept for the next start."""

import contextlib
import hashlib
import importlib.metadata
import logging
import os
import pathlib
import platform
import shlex

log = logging.getLogger(__name__)

_VARIABLE = "TF_XLA_FLAGS"
_FLAG = "--tf_xla_persistent_cache_directory"


def keep_programs() -> None:
    """Lets the processes of models keep what XLA compiles, and share it.

    They keep it in the user's cache, in a folder for this processor and this
    version of TensorFlow: programs for another may not run. A folder that
    `TF_XLA_FLAGS` already names is kept.
    """
    flags = os.environ.get(_VARIABLE, "")
    if _FLAG in flags:
        return
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = pathlib.Path(cache, "kerasrnn", "xla", _fingerprint())
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        log.warning("What XLA compiles is not kept: %s", error)
        return
    # Unquoted, a path would end at a space.
    os.environ[_VARIABLE] = f'{flags} {_FLAG}="{folder}"'.strip()


def without_programs() -> dict[str, str] | None:
    """Returns the environment of a process that keeps no programs.

    XLA does not compile if it cannot write to the folder, such as on a full
    disk, or if what it finds there is damaged.

    Returns:
        Dictionary of all variables; `None` if no process keeps any.
    """
    flags = os.environ.get(_VARIABLE, "")
    if _FLAG not in flags:
        return None
    others = [x for x in shlex.split(flags) if not x.startswith(_FLAG)]
    return {**os.environ, _VARIABLE: shlex.join(others)}


def _fingerprint():
    """A name for this processor and this version of TensorFlow."""
    facts = [platform.machine(), platform.processor()]
    with contextlib.suppress(OSError):
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        facts += [x for x in lines if x.startswith(("model name", "flags"))][:2]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        facts.append(importlib.metadata.version("tensorflow"))
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
