import keras
import numpy as np
import pytest

from kerasrnn.training.losses import LabelCrossentropy

RNG = np.random.default_rng(0)


def test_it_is_the_cross_entropy_of_smoothed_labels():
    logits = RNG.standard_normal((4, 3)).astype("float32")
    labels, smoothing = np.array([[2], [0], [1], [2]]), 0.3
    shares = np.eye(3)[labels[:, 0]] * (1 - smoothing) + smoothing / 3
    log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    expected = -np.mean((shares * log_p).sum(1))
    loss = LabelCrossentropy(smoothing)
    assert float(loss(labels, logits)) == pytest.approx(expected, rel=1e-5)
    config = keras.saving.serialize_keras_object(loss)
    again = keras.saving.deserialize_keras_object(config)
    assert again.label_smoothing == smoothing


@pytest.mark.parametrize("wrong", [-0.1, 1, "0.1"])
def test_smoothing_is_a_share(wrong):
    with pytest.raises(ValueError, match="label_smoothing=.*" + str(wrong)):
        LabelCrossentropy(wrong)
