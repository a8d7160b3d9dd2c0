"""Files that are written whole or not at all."""

import io
import os
import uuid
from pathlib import Path

from matplotlib.figure import Figure

DOTS_PER_INCH = 150


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Writes a figure to a file, whole or not at all.

    The picture is drawn in memory, written under a temporary name in the folder
    of `path`, and renamed: a reader never sees a partial file, and on failure
    an older file is not changed.

    Args:
        figure: A `matplotlib.figure.Figure`, as the functions of
            `kerasrnn.plots` return it.
        path: String or path. Its suffix is the format (`.png`, `.pdf`,
            `.svg`). Missing folders are created.

    Returns:
        The `pathlib.Path` that was written.

    Raises:
        ValueError: If the suffix is not a picture format.
        OSError: If the folder or the file cannot be written.

    Example:

    >>> figure = kerasrnn.plots.training_figure({"loss": [2.0, 1.0]})
    >>> kerasrnn.plots.save_figure(figure, "pictures/training.png").name
    'training.png'
    """
    path = Path(path)
    if not path.suffix:
        raise ValueError(
            "`path` must end in a picture format, such as '.png' or '.pdf'. "
            f"Received: path={str(path)!r}"
        )
    picture = io.BytesIO()
    figure.savefig(
        picture,
        format=path.suffix[1:].lower(),
        dpi=DOTS_PER_INCH,
        bbox_inches="tight",
    )
    try:
        replace_bytes(path, picture.getvalue())
    except OSError as error:
        raise OSError(
            "The figure could not be written: `path` must be a file in a "
            f"folder that can be written ({error.strerror or error}). "
            f"Received: path={str(path)!r}"
        ) from error
    return path


def replace_bytes(path, content):
    """Writes `content` to the file `path` in one step.

    Args:
        path: A `pathlib.Path`. Missing folders are created.
        content: Bytes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, since renaming is atomic only within a file system.
    temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
