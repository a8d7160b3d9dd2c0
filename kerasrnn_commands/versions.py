"""The folders that recipes write: `NAME/1/`, `NAME/2/` and so on."""

import os
import pathlib
import re
from typing import NamedTuple


def versions(path: str | os.PathLike[str]) -> dict[int, pathlib.Path]:
    """Finds the complete versions of a model.

    A version is a folder whose name is a number and that contains
    `saved_model.pb`. Other names, such as `007` and those of incomplete
    exports, are ignored.

    Args:
        path: The folder `NAME` above the versions.

    Returns:
        Dictionary of number to path, oldest first.
    """
    try:
        numbered = [
            (int(version.name), version)
            for version in pathlib.Path(path).iterdir()
            if re.fullmatch("0|[1-9][0-9]*", version.name)
            and os.path.exists(version / "saved_model.pb")
        ]
    except OSError:  # no folder, or no permission
        return {}
    return dict(sorted(numbered))


def models(path: str | os.PathLike[str]) -> dict[str, pathlib.Path]:
    """Finds the models in a folder such as `saved_models/`.

    Args:
        path: The folder that contains the model folders.

    Returns:
        Dictionary of name to folder, sorted by name. Folders without a complete
        version, and names that start with a dot or are not UTF-8, are left out.

    Raises:
        FileNotFoundError: when the folder does not exist.
    """
    path = pathlib.Path(path)
    if not path.is_dir():
        raise FileNotFoundError(
            "The folder of the models must exist, such as 'saved_models'. "
            f"Received: '{path}'."
        )
    return {
        child.name: child
        for child in sorted(path.iterdir())
        if not child.name.startswith(".")
        # In a URL, a name is in UTF-8.
        and child.name.encode(errors="ignore").decode() == child.name
        and versions(child)
    }


class Version(NamedTuple):
    """A version as it was found; with changed files, it is another one.

    Args:
        number: Its number.
        path: Its folder.
        files: The name, size and time of each file.
    """

    number: int
    path: pathlib.Path
    files: tuple[tuple[str, int, int], ...]


def newest_first(path: pathlib.Path) -> list[Version]:
    """Finds the complete versions of a model with their files.

    Args:
        path: The folder `NAME` above the versions.
    """
    found = reversed(versions(path).items())
    return [Version(*version, _files(version[1])) for version in found]


def _files(path):
    found = []
    # Entries that cannot be read are left out.
    for folder, _, names in os.walk(path):
        for name in names:
            file = os.path.join(folder, name)
            try:
                state = os.stat(file)
            except OSError:
                continue  # It is being written, or access is denied.
            found.append((file, state.st_size, state.st_mtime_ns))
    return tuple(sorted(found))
