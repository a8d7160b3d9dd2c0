import functools

import keras
import numpy as np
import pytest
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import SimpleRNNCell

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import ZoneoutCell
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from tests import helpers
from tests.models.small import SOURCE
from tests.models.small import LeakyCell

OPTIONS = {
    "plain": {"bidirectional": False},
    "bidirectional": {},
    "deep": {"depth": 2},
    "lexical": {"lexical": True},
    "deep_lexical": {"depth": 2, "lexical": True, "bidirectional": False},
}
CELLS = {
    "gru": GRUCell(4),
    "lstm": LSTMCell(4),
    "simple": SimpleRNNCell(4),
    "leaky": LeakyCell(4),
    "rhn": RHNCell(4, depth=2),
    "gam_rhn": GAMRHNCell(4, 1, 2, 3, 5),
}


def make(option="bidirectional", cell="gru", **kwargs):
    encoder = Encoder(
        9, CELLS[cell], embedding_dim=3, **OPTIONS[option], **kwargs
    )
    encoder.build((None, None))
    helpers.randomize(encoder)
    return encoder


@pytest.mark.parametrize(
    "option, cell, memory_dim, final_dim",
    [
        ("plain", "gru", 4, 4),
        ("bidirectional", "gru", 8, 8),
        ("deep", "lstm", 8, 32),
        ("lexical", "gru", 11, 8),
        ("deep_lexical", "leaky", 7, 16),
    ],
)
def test_shapes(option, cell, memory_dim, final_dim):
    encoder = make(option, cell)
    memory, mask, final = encoder(SOURCE)
    assert memory.shape == (3, 5, memory_dim)
    assert mask.shape == (3, 5)
    assert final.shape == (3, final_dim)
    assert encoder.memory_dim == memory_dim
    assert encoder.final_dim == final_dim
    np.testing.assert_array_equal(helpers.as_numpy(mask), SOURCE != 0)
    symbols = encoder(keras.Input((5,), dtype="int32"))
    assert [x.shape for x in symbols] == [
        (None, 5, memory_dim),
        (None, 5),
        (None, final_dim),
    ]


@pytest.mark.parametrize(
    "option, cell",
    [
        ("plain", "leaky"),
        ("bidirectional", "gru"),
        ("deep", "lstm"),
        ("lexical", "simple"),
        ("deep_lexical", "gru"),
    ],
)
def test_padding_changes_nothing(option, cell):
    encoder = make(option, cell)
    memory, _, final = encoder(SOURCE)
    for i, length in ((1, 3), (2, 1)):
        alone = encoder(SOURCE[i : i + 1, :length])
        helpers.assert_close(memory[i, :length], alone[0][0])
        helpers.assert_close(final[i], alone[2][0])


@pytest.mark.slow_on_jax
def test_a_vocabulary_may_lack_a_row_for_padding():
    encoder, negative = make(), make(pad_id=-1)
    ids = np.where(SOURCE == 0, -1, SOURCE)
    (memory, mask, final), expected = negative(ids), encoder(SOURCE)
    np.testing.assert_array_equal(mask, SOURCE != 0)
    keep = np.where(SOURCE != 0)
    helpers.assert_close(
        helpers.as_numpy(memory)[keep], helpers.as_numpy(expected[0])[keep]
    )
    helpers.assert_close(final, expected[2])
    # Id 0 is a word now.
    assert helpers.as_numpy(negative(np.zeros((1, 2), "int32"))[1]).all()


def test_a_lexical_memory_ends_in_the_embeddings():
    encoder = make("lexical")
    memory = encoder(SOURCE)[0]
    helpers.assert_close(memory[..., 8:], encoder.embedding(SOURCE))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                functools.partial(
                    Encoder,
                    **{"vocabulary_size": 9, "cell": GRUCell(4)} | options,
                ),
                message,
            )
            for options, message in [
                (
                    {"cell": "gru"},
                    "Encoder expects `cell`.*Received: cell='gru'",
                ),
                ({"vocabulary_size": 0}, "Received: vocabulary_size=0"),
                ({"embedding_dim": 2.0}, "Received: embedding_dim=2.0"),
                ({"depth": 0}, "Received: depth=0"),
                ({"dropout": 1.5}, "Received: dropout=1.5"),
                ({"word_dropout": -1}, "Received: word_dropout=-1"),
                ({"embedding_dropout": 1.0}, "Received: dropout=1.0"),
                ({"go_backwards": True}, "go_backwards=True"),
            ]
        ),
        # These are those of the language model.
        *(
            (
                lambda name=name: Encoder.from_language_model(
                    LanguageModel(9, RHNCell(4)), **{name: 1}
                ),
                name,
            )
            for name in ("depth", "go_backwards", "factorized")
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_factorized_embeddings_go_through_a_dense_layer():
    encoder = make("plain", factorized=True)
    kernel, bias = encoder.input_projection.get_weights()
    assert kernel.shape == (3, 4)
    plain = Encoder(9, CELLS["gru"], 4, bidirectional=False)
    plain.build((None, None))
    plain.stack.forward_rnns[0].set_weights(
        encoder.stack.forward_rnns[0].get_weights()
    )
    mask = keras.ops.not_equal(SOURCE, 0)
    embeddings = helpers.as_numpy(encoder.embedding(SOURCE))
    expected = plain.read(embeddings @ kernel + bias, mask)
    memory, _, final = encoder(SOURCE)
    helpers.assert_close((memory, final), expected)


def test_padding_that_is_not_masked_is_read_and_attended_to():
    masked, unmasked = (
        make("plain", mask_padding=mask_padding)
        for mask_padding in (True, False)
    )
    memory, mask, final = helpers.as_numpy(unmasked(SOURCE))
    assert mask.all()
    expected = helpers.as_numpy(masked(SOURCE))
    # The first row has no padding.
    helpers.assert_close(memory[0], expected[0][0])
    assert np.abs(final - expected[2])[1:].max(axis=-1).min() > 0.01
    wider = np.pad(SOURCE, ((0, 0), (0, 2)))
    helpers.assert_close(masked(wider)[2], expected[2])
    assert np.abs(helpers.as_numpy(unmasked(wider)[2]) - final).max() > 0.01


def test_its_parts_are_of_its_dtype():
    encoder = Encoder(9, GRUCell(4, dtype="mixed_bfloat16"), 4, factorized=True)
    for part in (encoder, encoder.embedding, encoder.input_projection):
        assert part.compute_dtype == "bfloat16"
    encoder = Encoder(9, GRUCell(4), 4, dtype="mixed_bfloat16")
    assert encoder.embedding.compute_dtype == "bfloat16"


def test_its_embedding_is_as_it_is_told():
    encoder = make(word_dropout=0.2, embedding_scale=3.0)
    assert encoder.embedding.word_dropout == 0.2
    table = encoder.embedding.get_weights()[0]
    helpers.assert_close(encoder.embedding(SOURCE), 3 * table[SOURCE])


def test_dropout_of_embeddings_may_be_off_where_there_is_dropout():
    rates = {None: 0.5, 0.0: 0.0, 0.2: 0.2}
    for given, expected in rates.items():
        encoder = make(dropout=0.5, embedding_dropout=given)
        assert encoder.embedding.dropout == expected
        copy = helpers.copy_of(encoder)
        assert copy.embedding.dropout == expected
    encoder = make(dropout=0.5, embedding_dropout=0.0)
    embeddings = encoder.embedding(SOURCE)
    helpers.assert_close(
        encoder.embedding(SOURCE, training=True), embeddings, 0, 0
    )


@pytest.mark.parametrize("tied", [True, False])
def test_an_encoder_starts_as_a_language_model(tied):
    options = {"tie_embeddings": tied, "embedding_scale": 3.0}
    model = LanguageModel(9, RHNCell(4, 2), 3, depth=2, **options)
    model.build()
    helpers.randomize(model)
    encoder = Encoder.from_language_model(model, pad_id=0, dropout=0.5)
    # Its memory is what the language model predicts the next word from.
    memory, _, _ = encoder(SOURCE)
    read = model.embedding(SOURCE)
    expected, _ = model.run_rnns(read, model.initial_states(len(SOURCE)))
    real = SOURCE != 0
    np.testing.assert_allclose(
        helpers.as_numpy(memory)[real], helpers.as_numpy(expected)[real], 1e-5
    )
    before = model.get_weights()
    helpers.randomize(encoder)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_an_encoder_may_compute_in_another_dtype_than_its_language_model():
    cell = ZoneoutCell(RHNCell(4), 0.1)
    model = LanguageModel(9, cell, 3)
    dtype = "mixed_bfloat16"
    encoder = Encoder.from_language_model(model, pad_id=0, dtype=dtype)
    inner = encoder.cell, encoder.cell.cell
    for layer in (encoder, encoder.embedding, encoder.stack, *inner):
        assert layer.compute_dtype == "bfloat16"
    memory, _, _ = encoder(SOURCE)
    assert keras.backend.standardize_dtype(memory.dtype) == "bfloat16"
    for name in ("embedding", "stack"):
        learnt, taken = (
            getattr(each, name).get_weights() for each in (model, encoder)
        )
        for old, new in zip(learnt, taken, strict=True):
            np.testing.assert_array_equal(old, new)
    assert Encoder.from_language_model(model).cell.compute_dtype == "float32"
    half = LanguageModel(9, RHNCell(4, dtype=dtype), 3, dtype=dtype)
    for given in ({}, {"dtype": None}):
        encoder = Encoder.from_language_model(half, **given)
        assert encoder.compute_dtype == encoder.cell.compute_dtype == "bfloat16"


# Encoders that start from language models of both directions.


IDS = np.random.default_rng(0).integers(1, 9, (3, 6))


def language_model(cell=None, embeddings_of=None, **kwargs):
    model = LanguageModel(9, cell or RHNCell(4, 2), 3, **kwargs)
    model.build()
    helpers.randomize(model)
    if embeddings_of:
        table = embeddings_of.embedding.get_weights()
        model.embedding.set_weights(table)
    return model


def outputs(model, ids):
    states = model.initial_states(len(ids))
    found, _ = model.run_rnns(model.embedding(ids), states)
    return helpers.as_numpy(found)


def test_each_direction_reads_as_its_language_model():
    forwards = language_model()
    backwards = language_model(embeddings_of=forwards)
    helpers.randomize(backwards.stack, seed=2)
    encoder = Encoder.from_language_model(forwards, backwards, pad_id=0)
    memory, _, _ = encoder(IDS)
    expected = [outputs(forwards, IDS)]
    expected.append(outputs(backwards, IDS[:, ::-1])[:, ::-1])
    helpers.assert_close(memory, np.concatenate(expected, -1))
    assert not np.allclose(*expected)


def test_models_that_make_no_encoder_are_refused():
    forwards = language_model()
    cases = {
        "depth=1 and depth=2": language_model(depth=2, embeddings_of=forwards),
        "FastGRUCell": language_model(FastGRUCell(4), embeddings_of=forwards),
        "'units': 5": language_model(RHNCell(5), embeddings_of=forwards),
        "'relu'": language_model(RHNCell(4, 2, activation="relu"), forwards),
        "scale=1.73205.* and .*scale=7": language_model(
            embeddings_of=forwards, embedding_scale=7.0
        ),
        "checksum": language_model(),
    }
    # That of `None`.
    equal = language_model(embeddings_of=forwards, embedding_scale=3**0.5)
    Encoder.from_language_model(forwards, equal)
    helpers.randomize(cases["checksum"].embedding, seed=2)
    for said, backwards in cases.items():
        with pytest.raises(ValueError, match=said):
            Encoder.from_language_model(forwards, backwards)


def test_an_encoder_is_trained_even_if_its_language_model_is_not():
    model = language_model()
    model.stack.trainable = False
    encoder = Encoder.from_language_model(model)
    assert all(weight.trainable for weight in encoder.weights)
