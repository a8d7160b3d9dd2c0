"""Exported models: the folders that recipes write."""

import json
import pathlib

import tensorflow as tf
import tensorflow_text  # noqa: F401  registers the text operations

from kerasrnn.serving.signature import Signature
from kerasrnn.typing import Config
from kerasrnn.typing import PathLike
from kerasrnn_commands.stderr import without_sentence_piece_log
from kerasrnn_commands.versions import models
from kerasrnn_commands.versions import versions


class ModelFolder:
    """A folder with the versions of a model, each a SavedModel.

    A version is a folder whose name is a number and that contains
    `saved_model.pb`. Exports write it in one step with all other files. Other
    names, such as those of incomplete exports, are ignored. The folder is read
    again at each call.

    Args:
        path: The folder `NAME` above the versions.

    Attributes:
        name: Name of the model and of the folder.

    Example:

    >>> folder = ModelFolder(export_small_model("saved_models/shout"))
    >>> folder.name, list(folder.versions())
    ('shout', [1])
    """

    def __init__(self, path: PathLike):
        self.path = pathlib.Path(path)
        self.name = self.path.absolute().name

    def versions(self) -> dict[int, pathlib.Path]:
        """Returns complete versions by number, oldest first."""
        return versions(self.path)

    def load(self, version: int | None = None) -> "ExportedModel":
        """Loads a version.

        Args:
            version: Its number; `None` for the newest version.

        Returns:
            An `ExportedModel`.

        Raises:
            FileNotFoundError: when the version does not exist.
            OSError, ValueError, tf.errors.OpError: when it cannot be loaded.
        """
        found = self.versions()
        if not found:
            raise FileNotFoundError(
                f"'{self.path}' must contain versions of a SavedModel, such as "
                f"'{self.path / '1' / 'saved_model.pb'}'. Received: a folder "
                "without any."
            )
        number = max(found) if version is None else version
        if number not in found:
            raise FileNotFoundError(
                f"`version` must be one of {list(found)} in '{self.path}'. "
                f"Received: {version!r}."
            )
        return ExportedModel(found[number])


def model_folders(path: PathLike) -> dict[str, ModelFolder]:
    """Finds the models in a folder such as `saved_models/`.

    Args:
        path: The folder above those of the models.

    Returns:
        Dictionary of name to `ModelFolder`, sorted by name. Folders without a
        complete version are left out.

    Raises:
        FileNotFoundError: when there is no such folder.

    Example:

    >>> path = export_small_model("saved_models/shout")
    >>> list(model_folders("saved_models"))
    ['shout']
    """
    return {name: ModelFolder(path) for name, path in models(path).items()}


class ExportedModel:
    """A loaded version of a SavedModel.

    Args:
        path: Folder of the version, `NAME/VERSION`.

    Attributes:
        name: Name of the model and of the parent folder.
        version: Name of the folder, such as `"1"`.
        signatures: Dictionary of name to `Signature`, including
            `"serving_default"`.

    Raises:
        ValueError: when the SavedModel has no signature `serving_default`.
        OSError, tf.errors.OpError: when it cannot be loaded.

    Example:

    >>> folder = export_small_model("saved_models/shout")
    >>> model = ExportedModel(folder / "1")
    >>> model.signatures["serving_default"](text=["come in"])["loud"].tolist()
    ['COME IN']
    """

    def __init__(self, path: PathLike):
        self.path = pathlib.Path(path)
        whole = self.path.absolute()
        self.name, self.version = whole.parent.name, whole.name
        # Kept in an attribute, because signatures do not keep the variables
        # alive.
        with without_sentence_piece_log():
            self._loaded = tf.saved_model.load(str(self.path))
        self.signatures = {
            name: Signature(name, function)
            for name, function in self._loaded.signatures.items()
        }
        if "serving_default" not in self.signatures:
            raise ValueError(
                f"'{self.path}' must have the signature 'serving_default'. "
                f"Received: signatures {sorted(self.signatures)}."
            )

    def card(self) -> Config | None:
        """Returns the `card.json` of the version; `None` if there is none.

        Raises:
            ValueError: when the file is not JSON.
        """
        path = self.path / "card.json"
        if not path.exists():
            return None
        return dict(json.loads(path.read_text(encoding="utf-8")))
