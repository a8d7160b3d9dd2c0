import keras
import numpy as np
import pytest
from keras.layers import GRUCell

from kerasrnn.models import BackboneReader
from kerasrnn.models import Encoder
from kerasrnn.models import Tagger
from kerasrnn.training import AdamByPart
from tests.helpers import as_numpy
from tests.helpers import assert_close
from tests.helpers import copy_of

pytest.importorskip("keras_hub", exc_type=ImportError)

from tests.pipelines import small_backbone  # noqa: E402

IDS = np.array([[5, 6, 7, 8, 9, 10], [7, 8, 0, 0, 0, 0]])
COUNTS = np.array([[2, 1, 0, 3, 0], [1, 1, 0, 0, 0]])


@pytest.mark.parametrize("layers_as", ["concatenation", "mean"])
def test_it_reads_the_last_layers_of_the_backbone(layers_as):
    reader = small_backbone.reader(layers_as=layers_as)
    tokens = np.array([[2, *IDS[0], 3]])
    layers = reader.backbone.transformer_layers
    model = keras.Model(reader.backbone.input, [x.output for x in layers])
    outputs = [
        as_numpy(x)[:, 1:-1]
        for x in model(
            {
                "token_ids": tokens,
                "segment_ids": 0 * tokens,
                "padding_mask": 0 * tokens + 1,
            }
        )
    ]
    joined = np.concatenate(outputs, -1)
    if layers_as == "mean":
        joined = sum(outputs) / 2
    found = reader(IDS)
    assert_close(found[:1], joined)
    assert found.shape[-1] == reader.output_size
    last = small_backbone.reader(layers_as=layers_as, last_layers=1)
    last.backbone.set_weights(reader.backbone.get_weights())
    assert_close(last(IDS[:1]), outputs[1])
    # Padding has no influence.
    assert_close(reader(IDS[1:, :2]), found[1:, :2])
    assert_close(copy_of(reader)(IDS).shape, found.shape)


def test_words_have_vectors_of_their_pieces():
    reader = small_backbone.reader()
    pieces = as_numpy(reader(IDS))
    words = as_numpy(reader(IDS, COUNTS))
    assert_close(words[0, [0, 1, 3]], pieces[0, [0, 2, 3]])
    assert not words[0, [2, 4]].any() and not words[1, 2:].any()
    reader.words_as = "mean"
    words = as_numpy(reader(IDS, COUNTS))
    assert_close(words[0, 0], pieces[0, :2].mean(0))
    assert_close(words[0, 3], pieces[0, 3:].mean(0))
    assert not words[0, [2, 4]].any() and not words[1, 2:].any()


def test_means_of_late_words_keep_their_digits_in_half_precision():
    """The difference of two sums of hundreds of pieces would have none."""
    keras.config.set_dtype_policy("mixed_bfloat16")
    reader = small_backbone.reader(longest=400, words_as="mean")
    ids = np.tile(IDS[:1], (1, 50))
    pieces = as_numpy(keras.ops.cast(reader(ids), "float32"))
    words = keras.ops.cast(reader(ids, np.full((1, 150), 2)), "float32")
    expected = pieces.reshape(1, 150, 2, -1).mean(2)
    np.testing.assert_allclose(as_numpy(words), expected, atol=0.01)


def test_long_texts_are_read_in_parts():
    reader = small_backbone.reader(longest=6)
    found = as_numpy(reader(IDS))
    assert_close(found[:, :4], reader(IDS[:, :4]))
    assert_close(found[:1, 4:], reader(IDS[:1, 4:]))


def test_the_backbone_may_learn_at_a_rate_of_its_own():
    reader = small_backbone.reader(trainable=True, rate_factor=0.1)
    top = keras.layers.Dense(1)
    top.build((None, reader.output_size))
    weights = [*reader.trainable_weights, *top.trainable_weights]
    before = [as_numpy(x).copy() for x in weights]
    optimizer = AdamByPart(0.01)
    optimizer.apply([keras.ops.ones(x.shape) for x in weights], weights)
    steps = [
        np.max(old - as_numpy(x))
        for old, x in zip(before, weights, strict=True)
    ]
    expected = [0.001] * len(reader.trainable_weights) + [0.01, 0.01]
    assert_close(steps, expected, rtol=1e-2)
    assert not small_backbone.reader().trainable_weights


def test_dropout_is_for_training():
    """Inside of a backbone that learns, and of what an encoder reads."""
    frozen, learning = map(small_backbone.reader, (False, True))
    encoder = Encoder(20, GRUCell(4), backbone=frozen, embedding_dropout=0.5)
    tagger = Tagger(20, 2, GRUCell(4), backbone=learning)
    inputs = {"words": COUNTS, "pieces": IDS, "piece_counts": COUNTS}
    assert_close(frozen(IDS, training=True), frozen(IDS), 0, 0)
    assert_close(encoder.embed(IDS), frozen(IDS), 0, 0)
    dropped = as_numpy(encoder.embed(IDS, training=True))
    assert 0.2 < (dropped == 0).mean() < 0.8
    plain, noisy = (as_numpy(tagger(inputs, training=x)) for x in (False, True))
    assert np.abs(plain - noisy).max() > 1e-4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: small_backbone.reader(last_layers=3), "`last_layers` must be"),
        (lambda: small_backbone.reader(layers_as="sum"), "`layers_as` must be"),
        (lambda: small_backbone.reader(words_as="last"), "`words_as` must be"),
        (
            lambda: BackboneReader(keras.Sequential(), 0, 0),
            "transformer_layers",
        ),
    ],
)
def test_what_it_cannot_read_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
