"""The newest version of a model that works, exchanged while it is in use."""

import gc
import logging
import pathlib
import weakref

from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.exported import ModelFolder
from kerasrnn.serving.warm_up import warm_up

log = logging.getLogger(__name__)


class LiveModel:
    """Follows the versions of a model.

    A new version is loaded and warmed up before it replaces `current`. Calls
    that hold the old one finish on it. A version that does not load is left
    out until its files change.

    Args:
        folder: The `ModelFolder`.

    Attributes:
        current: The `ExportedModel` to call; `None` before the first.

    Example:

    >>> live = LiveModel(ModelFolder(export_small_model("models/shout")))
    >>> live.refresh(), live.current.version
    (True, '1')
    >>> path = export_small_model("models/shout", version=2)
    >>> live.refresh(), live.current.version
    (True, '2')
    """

    def __init__(self, folder: ModelFolder):
        self.folder = folder
        self.current: ExportedModel | None = None
        self._files: object = None
        self._broken: dict[pathlib.Path, object] = {}
        self._replaced: weakref.ref[ExportedModel] | None = None

    def refresh(self) -> bool:
        """Takes up the newest version that loads, an older one if need be.

        Returns:
            Whether `current` has changed.
        """
        if self._replaced is not None and self._replaced() is not None:
            # A loaded SavedModel refers to itself, and can be large.
            gc.collect()
        for path in reversed(self.folder.versions().values()):
            files = _files(path)
            if files == self._files:
                return False
            if files != self._broken.get(path) and self._take_up(path, files):
                return True
        return False

    def _take_up(self, path, files):
        try:
            model = ExportedModel(path)
            warm_up(model)
        except Exception:
            self._broken[path] = files
            kept = f"'{self.current.path}'" if self.current else "nothing"
            log.exception("'%s' does not work; %s stays.", path, kept)
            return False
        if self.current is not None:
            self._replaced = weakref.ref(self.current)
        self.current, self._files = model, files
        log.info("'%s' is served.", path)
        return True


def _files(path):
    """What changes when a version is written, or written anew."""
    found = []
    for file in sorted(path.rglob("*")):
        try:
            state = file.stat()
        except FileNotFoundError:
            continue  # It is being written.
        found.append((str(file), state.st_size, state.st_mtime_ns))
    return found
