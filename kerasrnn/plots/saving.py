"""Saving figures."""

import io
from pathlib import Path

from matplotlib.figure import Figure

from kerasrnn.files import atomic_write
from kerasrnn.files import output_folder


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Writes a figure to a file, completely or not at all.

    The picture is drawn in memory first. If drawing or writing fails, an older
    file is not changed.

    Args:
        figure: A `matplotlib.figure.Figure`, such as from `kerasrnn.plots`.
        path: String or path. Its suffix is the format (`.png`, `.pdf`, `.svg`).
            Missing folders are created.

    Returns:
        The `pathlib.Path` of the file.

    Raises:
        ValueError: If the suffix is not a picture format.
        OSError: If the folder or the file cannot be written.

    Example:

    >>> figure = kerasrnn.plots.training_figure({"loss": [2.0, 1.0]})
    >>> kerasrnn.plots.save_figure(figure, "pictures/training.png").name
    'training.png'
    """
    path = Path(path)
    picture = io.BytesIO()
    figure.savefig(
        picture,
        format=path.suffix[1:].lower(),
        dpi=150,
        bbox_inches="tight",
    )
    output_folder(path.parent)
    with atomic_write(path) as partial:
        partial.write_bytes(picture.getvalue())
    return path
