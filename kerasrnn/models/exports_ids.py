"""Models that are exported for ids of any number of rows and steps."""

import pathlib
from typing import Any

import keras

from kerasrnn.models.reads_ids import ReadsIds


class ExportsIds(ReadsIds):
    """Base of models whose inputs are ids alone.

    An exported Keras model reads floats of the length of its first call, and
    cannot be exported if it reads a dictionary. What these models read is
    known.
    """

    # How many axes ids have, nested as the inputs are.
    _axes_of_ids: Any = 2

    def export(
        self,
        filepath: str | pathlib.Path,
        format: str = "tf_saved_model",
        verbose: bool | None = None,
        input_signature: Any = None,
        **kwargs: Any,
    ) -> None:
        """Exports the model; see `keras.Model.export`.

        With TensorFlow, it reads int32 ids of any number of rows and steps,
        unless `input_signature` says otherwise.
        """
        # On other backends, not all of these models can be exported so.
        if input_signature is None and keras.backend.backend() == "tensorflow":
            axes = self._axes_of_ids
            input_signature = [keras.tree.map_structure(_ids, axes)]
        super().export(  # type: ignore[misc]
            filepath, format, verbose, input_signature, **kwargs
        )


def _ids(axes):
    return keras.InputSpec(shape=(None,) * axes, dtype="int32")
