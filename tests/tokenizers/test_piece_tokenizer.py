import keras
import tensorflow as tf

from kerasrnn.tokenizers import PieceTokenizer
from tests.pipelines import small_backbone


def test_it_reads_as_the_tokenizer_of_the_backbone():
    pieces = small_backbone.pieces()
    texts = tf.constant(["Anna in Rome.", "", "xyz films"])
    ids = pieces.tokenize(texts)
    assert ids.to_list() == [[5, 6, 9, 10, 11], [], [1, 16, 19]]
    assert pieces.tokenize(texts, 2).to_list() == [[5, 6], [], [1, 16]]
    assert pieces.split(texts).to_list()[2] == [b"[UNK]", b"film", b"##s"]
    found = pieces.pad_id, pieces.start_id, pieces.end_id, pieces.unknown_id
    assert found == (0, 2, 3, 1)
    config = keras.saving.serialize_keras_object(pieces)
    copy = keras.saving.deserialize_keras_object(config)
    assert isinstance(copy, PieceTokenizer) and not copy.built
