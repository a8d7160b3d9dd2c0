"""Sequences and masks that layers do not read, and what they say of them."""

import keras
import numpy as np
import pytest
from keras.layers import GRUCell

from kerasrnn.layers import CRF
from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers import DotAttention
from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastRNN
from kerasrnn.models import LanguageModel
from kerasrnn.models import NgramEmbedding
from kerasrnn.models import PianoRollModel
from tests import helpers

X = helpers.random(2, 6, 4)
SHORT = np.ones((2, 5), bool)
MASKED = {
    "fast": lambda: FastLSTM(3)(X, mask=SHORT),
    "slow": lambda: FastRNN(GRUCell(3))(X, mask=SHORT),
    "crf": lambda: CRF()(X, mask=SHORT),
    "sequence": lambda: attending()(X, X, sequence_mask=SHORT),
    "memory": lambda: attending()(X, X, memory_mask=SHORT),
    "mechanism": lambda: DotAttention()(X, X, memory_mask=SHORT),
}
RAGGED = {
    "recurrent": lambda x: FastLSTM(3)(x),
    "crf": lambda x: CRF()(x),
    "sequence": lambda x: attending()(x, X),
    "memory": lambda x: attending()(X, x),
    "model": lambda x: PianoRollModel(GRUCell(3), 4)(x),
    "ids": lambda x: LanguageModel(9, GRUCell(3), 4)(ragged(5)),
    "ngrams": lambda x: NgramEmbedding(9, 4)(ragged(5)),
}


def attending():
    return AttentionRNN(AttentionCell(GRUCell(4), "dot"))


def ragged(*shape):
    tf = pytest.importorskip("tensorflow")
    return tf.RaggedTensor.from_row_lengths(np.ones(shape, "float32"), [2, 3])


@pytest.mark.parametrize("name", MASKED)
def test_a_mask_of_another_length_is_refused(name):
    with pytest.raises(
        ValueError, match=r"mask` .*Expected: shape \(2, 6\).*=\(2, 5\)"
    ):
        MASKED[name]()


def test_a_mask_of_one_row_stands_for_all_rows():
    layer, mask = FastLSTM(3), np.array([[1, 0, 1, 1, 0, 0]], bool)
    helpers.assert_close(
        layer(X, mask=mask), layer(X, mask=mask.repeat(2, axis=0))
    )


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="only TensorFlow has them"
)
@pytest.mark.parametrize("name", RAGGED)
def test_ragged_tensors_are_refused(name):
    with pytest.raises(ValueError, match=r"`x\.to_tensor\(\)`"):
        RAGGED[name](ragged(5, 4))
