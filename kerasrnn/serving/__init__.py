"""Use and serve exported models (SavedModels)."""

from kerasrnn.optional import needs as _needs

with _needs("tensorflow-text", "text"):
    import tensorflow_text  # noqa: F401

from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.exported import ModelFolder
from kerasrnn.serving.exported import model_folders
from kerasrnn.serving.signature import Signature

__all__ = ["ExportedModel", "ModelFolder", "Signature", "model_folders"]
