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


def attending():
    return AttentionRNN(AttentionCell(GRUCell(4), "dot"))


def ragged(*shape):
    tf = pytest.importorskip("tensorflow")
    return tf.RaggedTensor.from_row_lengths(np.ones(shape, "float32"), [2, 3])


def test_a_mask_of_one_row_stands_for_all_rows():
    layer, mask = FastLSTM(3), np.array([[1, 0, 1, 1, 0, 0]], bool)
    helpers.assert_close(
        layer(X, mask=mask), layer(X, mask=mask.repeat(2, axis=0))
    )


on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="only TensorFlow has them"
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (call, r"mask` .*Expected: shape \(2, 6\).*=\(2, 5\)")
            for call in (
                lambda: FastLSTM(3)(X, mask=SHORT),
                lambda: FastRNN(GRUCell(3))(X, mask=SHORT),
                lambda: CRF()(X, mask=SHORT),
                lambda: attending()(X, X, sequence_mask=SHORT),
                lambda: attending()(X, X, memory_mask=SHORT),
                lambda: DotAttention()(X, X, memory_mask=SHORT),
            )
        ),
        *(
            pytest.param(call, r"`x\.to_tensor\(\)`", marks=on_tensorflow)
            for call in (
                lambda: FastLSTM(3)(ragged(5, 4)),
                lambda: CRF()(ragged(5, 4)),
                lambda: attending()(ragged(5, 4), X),
                lambda: attending()(X, ragged(5, 4)),
                lambda: PianoRollModel(GRUCell(3), 4)(ragged(5, 4)),
                lambda: LanguageModel(9, GRUCell(3), 4)(ragged(5)),
                lambda: NgramEmbedding(9, 4)(ragged(5)),
            )
        ),
    ],
)
def test_sequences_and_masks_that_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
