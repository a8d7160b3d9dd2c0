"""A SentencePiece model that TensorFlow keeps."""

import hashlib

import tensorflow as tf
import tensorflow_text as tf_text
from tensorflow_text.python.ops import sentencepiece_tokenizer as library

from kerasrnn_commands.stderr import without_sentence_piece_log


class _KeptModel(library._SentencepieceModelResource):
    """A model under the name of its content.

    The library's own belongs to the operation that made it. Setting the seed of
    TensorFlow forgets the operations of a process, and such models with them,
    also for the graphs that hold them. A named one stays to the end of the
    process; equal models share one, in a process and in a SavedModel.
    """

    def _create_resource(self):
        content = hashlib.sha256(self._model).hexdigest()
        return library.gen_sentencepiece_tokenizer.sentencepiece_op(
            model=self._model, shared_name=f"sentence_piece_{content}"
        )


def load_model(proto, sampling=0.0):
    """Loads a serialized model.

    Args:
        proto: Bytes, a serialized SentencePiece model.
        sampling: Float. Above 0, texts are split at random; see
            `SentencePieceTokenizer`.

    Returns:
        A `tensorflow_text.SentencepieceTokenizer` of int32 ids.
    """
    with without_sentence_piece_log():
        pieces = tf_text.SentencepieceTokenizer(
            model=proto,
            out_type=tf.int32,
            nbest_size=-1 if sampling else 0,
            alpha=sampling or 1.0,
        )
        pieces._model_resource = _KeptModel(proto, None)
    return pieces
