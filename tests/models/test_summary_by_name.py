"""What summaries do apart from a classifier; the rest is tested there."""

import functools

import numpy as np
import pytest
from keras.layers import GRUCell
from keras.layers import LSTMCell

from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import GAMRHNCell
from kerasrnn.models import AttentionSummary
from kerasrnn.models import DecoderSummary
from kerasrnn.models import Encoder
from kerasrnn.models import LastSummary
from kerasrnn.models import PooledSummary
from kerasrnn.models import TextClassifier
from tests import helpers

MEMORY = helpers.random(3, 5, 4)
MASK = np.arange(5) < np.array([[5], [2], [0]])
FINAL = helpers.random(3, 8)  # of two layers
EMPTY = np.zeros(4)


def test_last_is_where_each_unit_has_read_all():
    found = helpers.as_numpy(LastSummary(backward=(1, 3))(MEMORY, MASK))
    for row, memory, end in zip(found[:2], MEMORY, (4, 1), strict=False):
        forwards, backwards = memory[end], memory[0]
        expected = [forwards[0], *backwards[1:3], forwards[3]]
        np.testing.assert_array_equal(row, expected)
    np.testing.assert_array_equal(found[2], EMPTY)


def test_pooled_ignores_padding():
    memory = np.where(MASK[..., None], MEMORY, np.nan)
    found = helpers.as_numpy(PooledSummary()(memory, MASK))
    words = MEMORY[1, :2]
    expected = np.concatenate([words[1], words.max(0), words.mean(0)])
    helpers.assert_close(found[1], expected)
    np.testing.assert_array_equal(found[2], np.tile(EMPTY, 3))


@pytest.mark.parametrize(
    "layer",
    [
        LastSummary((0, 2)),
        PooledSummary(),
        AttentionSummary("general"),
        DecoderSummary(GAMRHNCell(4, 1, 2, 2, 3), "additive"),
    ],
    ids=lambda layer: layer.name,
)
def test_configuration_round_trip(layer):
    found = layer(MEMORY, MASK, FINAL)
    copy = helpers.copy_of(layer)
    assert copy.get_config() == layer.get_config()
    copy.set_weights(layer.get_weights())
    helpers.assert_close(copy(MEMORY, MASK, FINAL), found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AttentionSummary("sharp"), "Received: attention='sharp'"),
        (lambda: AttentionSummary("dot", units=0), "Received: units=0"),
        (lambda: DecoderSummary(None), "DecoderSummary expects `cell`"),
        (
            lambda: TextClassifier(
                Encoder(9, LSTMCell(4), bidirectional=False),
                DecoderSummary(GRUCell(4)),
            ),
            r"widths \[4, 4\]. Received: .*, widths \[4\]",
        ),
        *(
            (
                lambda summary=summary: TextClassifier(
                    Encoder(9, GRUCell(4), 3), summary((0, 0))
                ),
                r"Expected: backward=\(4, 8\)",
            )
            for summary in (LastSummary, PooledSummary)
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("summary", [LastSummary, PooledSummary])
def test_a_layer_reads_the_directions_of_the_encoder(summary):
    encoder = Encoder(9, GRUCell(4), 3)
    model = TextClassifier(encoder, summary())
    assert model.summary_layer.backward == (4, 8)
    encoder = Encoder(9, GRUCell(4), bidirectional=False, go_backwards=True)
    model = TextClassifier(encoder, summary())
    assert model.summary_layer.backward == (0, 4)
    text, rest = (encoder(np.array([ids]))[0] for ids in ([1, 2], [2]))
    helpers.assert_close(text[:, 1:], rest)


@pytest.mark.parametrize("summary", ["last", "pooled"])
def test_a_batch_without_rows(summary):
    model = TextClassifier(Encoder(9, GRUCell(4), 3), summary)
    assert model(np.ones((0, 5), "int32")).shape == (0, 1)


def test_what_is_inside_drops_in_training_alone():
    summary = AttentionSummary(BahdanauAttention(4, dropout=0.5))
    model = TextClassifier(Encoder(9, GRUCell(4), 3), summary)
    decoder = DecoderSummary(GRUCell(4, dropout=0.5))
    for call in (
        functools.partial(model, np.array([[3, 4, 5]])),
        functools.partial(decoder, MEMORY, MASK, FINAL),
    ):
        plain, again, noisy = (
            helpers.as_numpy(call(training=x)) for x in (False, False, True)
        )
        np.testing.assert_array_equal(plain, again)
        assert np.abs(plain - noisy).max() > 1e-4


def test_the_mean_of_a_long_text_in_float16():
    memory, mask = np.ones((1, 3000, 2)), np.ones((1, 3000), bool)
    found = PooledSummary(dtype="float16")(memory, mask)
    np.testing.assert_array_equal(helpers.as_numpy(found), np.ones((1, 6)))


def test_summaries_do_not_share_a_mechanism():
    attention = BahdanauAttention(5)
    summaries = [AttentionSummary(attention), AttentionSummary(attention)]
    summaries += [DecoderSummary(GRUCell(4), attention) for _ in range(2)]
    assert len({id(summary.attention) for summary in summaries}) == 4
    assert all(summary.attention.units == 5 for summary in summaries)
