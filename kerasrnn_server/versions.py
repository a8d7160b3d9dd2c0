"""The folders that recipes leave: `NAME/1/`, `NAME/2/` and so on."""

import os
import pathlib
import re


def versions(path: str | os.PathLike[str]) -> dict[int, pathlib.Path]:
    """Finds the complete versions of a model.

    A version is a folder whose name is a number, once its `saved_model.pb` is
    there. Other names, such as those of partial exports, are ignored.

    Args:
        path: The folder `NAME` above the versions.

    Returns:
        Dictionary from numbers to paths, oldest first.
    """
    try:
        numbered = [
            (int(version.name), version)
            for version in pathlib.Path(path).iterdir()
            if re.fullmatch("[0-9]+", version.name)
            and os.path.exists(version / "saved_model.pb")
        ]
    except OSError:  # no folder, or one that must not be read
        return {}
    return dict(sorted(numbered))


def models(path: str | os.PathLike[str]) -> dict[str, pathlib.Path]:
    """Finds the models in a folder such as `saved_models/`.

    Args:
        path: The folder above those of the models.

    Returns:
        Dictionary from names to folders, by name. Folders without a complete
        version are left out.

    Raises:
        FileNotFoundError: when there is no such folder.
    """
    path = pathlib.Path(path)
    if not path.is_dir():
        raise FileNotFoundError(
            "The folder of the models must exist, such as 'saved_models'. "
            f"Received: '{path}'."
        )
    return {
        child.name: child for child in sorted(path.iterdir()) if versions(child)
    }


def files_of(path: pathlib.Path) -> list[tuple[str, int, int]]:
    """What changes when a version is written, or written anew.

    Args:
        path: Folder of the version.

    Returns:
        List of the name, size and time of each file.
    """
    found = []
    for file in sorted(path.rglob("*")):
        try:
            state = file.stat()
        except OSError:
            continue  # It is being written, or must not be read.
        found.append((str(file), state.st_size, state.st_mtime_ns))
    return found
