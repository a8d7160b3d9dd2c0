"""Loads pretrained backbones, and caches the outputs of frozen ones."""

import functools
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from kerasrnn.data.batches import pad_to
from kerasrnn.files import atomic_write
from kerasrnn.models import BackboneReader
from kerasrnn.optional import needs
from kerasrnn.tokenizers import PieceTokenizer
from kerasrnn.training import fingerprint
from kerasrnn.typing import PathLike
from kerasrnn.typing import Tensor

_AT_ONCE = 32  # texts


def load_backbone(
    preset: PathLike, trainable: bool = False, **options: Any
) -> tuple[PieceTokenizer, BackboneReader]:
    """Loads a pretrained transformer with KerasHub.

    Args:
        preset: Name of a preset, which is downloaded, or path of a folder in
            the format of KerasHub or of Hugging Face. The latter has
            `config.json`, `model.safetensors`, `tokenizer_config.json` and a
            vocabulary file.
        trainable: Whether to fine-tune the backbone.
        **options: Arguments of the `BackboneReader`, such as `last_layers`.

    Returns:
        The tokenizer and the `BackboneReader`, for `TextTagger` and its
        `Tagger`, or for `TextLabeller` and its `Encoder`.
    """
    with needs("keras-hub", "text"):
        import keras_hub
    tokenizer = keras_hub.models.Tokenizer.from_preset(str(preset))
    if getattr(tokenizer, "lowercase", False):
        # As in BERT, whose uncased vocabulary has no accents.
        tokenizer.strip_accents = True
    pieces = PieceTokenizer(tokenizer)
    backbone = keras_hub.models.Backbone.from_preset(str(preset))
    backbone.trainable = trainable
    options |= pieces.special_ids
    return pieces, BackboneReader(backbone, **options)


def reader_inputs(pieces: tf.RaggedTensor, pad_id: int) -> list[tf.Tensor]:
    """Returns the arguments of a `BackboneReader`.

    Args:
        pieces: Int32 `RaggedTensor` of shape `(texts, pieces)` or, for vectors
            of words, `(texts, words, pieces)`.
        pad_id: Integer id of padding.
    """
    if pieces.ragged_rank == 1:
        return [pad_to(pieces, pad_id)]
    counts = tf.cast(pieces.row_lengths(axis=2), tf.int32)
    return [pad_to(pieces.merge_dims(1, 2), pad_id), pad_to(counts, 0)]


class BackboneFeatures:
    """The cached outputs of a frozen `BackboneReader` for texts.

    They are computed on first use and kept in a float16 file, whose name has a
    fingerprint of the weights and the texts.

    Args:
        reader: The `BackboneReader`.
        pieces: As in `reader_inputs`.

    Call arguments:
        indices: Int64 tensor of shape `(batch,)`, the indices of texts.

    Returns:
        Float32 tensor of shape `(batch, time, output_size)`, 0 at padding.
    """

    def __init__(self, reader: BackboneReader, pieces: tf.RaggedTensor) -> None:
        self.size = reader.output_size
        self.ends = np.cumsum(pieces.row_lengths().numpy())
        self.starts = self.ends - pieces.row_lengths().numpy()
        options = reader.last_layers, reader.layers_as, reader.words_as
        splits = [x.numpy() for x in pieces.nested_row_splits]
        flat = pieces.flat_values.numpy()
        key = fingerprint([options, reader.get_weights(), flat, splits])
        # Next to Keras's downloads.
        home = pathlib.Path(os.environ.get("KERAS_HOME", "~/.keras"))
        path = home.expanduser() / "kerasrnn" / f"{key}.npy"
        if not path.exists():
            self._write(path, reader, pieces)
        self.rows = np.load(path, mmap_mode="r")

    def _write(self, path, reader, pieces):
        shape = (int(self.ends[-1]), self.size)
        if len(self.ends) > 500:
            print(
                f"The backbone reads {len(self.ends):,} texts once, into "
                f"{path} ({2 * np.prod(shape) / 1e6:,.0f} MB).",
                flush=True,
            )
        read = tf.function(reader, reduce_retracing=True, autograph=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as partial:
            rows = np.lib.format.open_memmap(partial, "w+", "float16", shape)
            order = np.argsort(self.ends - self.starts, kind="stable")
            for start in range(0, len(order), _AT_ONCE):
                indices = order[start : start + _AT_ONCE]
                given = tf.gather(pieces, indices)
                found = read(*reader_inputs(given, reader.pad_id)).numpy()
                for index, row in zip(indices, found, strict=True):
                    here = slice(self.starts[index], self.ends[index])
                    rows[here] = row[: here.stop - here.start]
            rows.flush()

    def __call__(self, indices: Tensor) -> tf.Tensor:
        flat = tf.numpy_function(self._flat, [indices], tf.float16)
        flat = tf.reshape(tf.cast(flat, tf.float32), (-1, self.size))
        lengths = tf.gather(self.ends - self.starts, indices)
        found = pad_to(tf.RaggedTensor.from_row_lengths(flat, lengths), 0)
        return tf.ensure_shape(found, (None, None, self.size))

    def _flat(self, indices):
        bounds = zip(self.starts[indices], self.ends[indices], strict=True)
        return np.concatenate([self.rows[start:end] for start, end in bounds])


def features_of(
    layer: Any,
) -> Callable[[tf.RaggedTensor], BackboneFeatures] | None:
    """Returns `BackboneFeatures` for texts if a layer has a frozen backbone.

    Args:
        layer: A layer that may have a `BackboneReader` as its `backbone`.
    """
    reader = getattr(layer, "backbone", None)
    if reader is None or reader.backbone.trainable:
        return None
    return functools.partial(BackboneFeatures, reader)
