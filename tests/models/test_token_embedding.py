import keras
import numpy as np
import pytest

from kerasrnn.models.token_embedding import TokenEmbedding
from tests import helpers

IDS = np.array([[3, 0, 2], [1, 1, 4]])


def embedding(**kwargs):
    layer = TokenEmbedding(5, 16, **kwargs)
    layer.build((None, None))
    return layer


def test_embeds_with_unit_variance():
    layer = TokenEmbedding(50, 400)
    x = helpers.as_numpy(layer(np.arange(50)[None]))
    table = layer.get_weights()[0]
    np.testing.assert_allclose(x[0], table * 20, rtol=1e-5)
    assert x.std() == pytest.approx(1, rel=0.05)


def test_starts_from_word_vectors():
    layer, vectors = embedding(), 3 * np.arange(80.0).reshape(5, 16)
    layer.assign_vectors(vectors)
    x = helpers.as_numpy(layer(np.arange(5)[None]))[0]
    np.testing.assert_allclose(x, vectors / vectors.std(), rtol=1e-5)


def test_in_reverse_it_is_the_table_transposed_and_drops_nothing():
    layer = embedding(dropout=0.5, word_dropout=0.5)
    x = helpers.random(2, 3, 16)
    logits = layer(x, reverse=True, training=True)
    helpers.assert_close(logits, x @ layer.get_weights()[0].T)


def test_padding_without_a_row_reads_row_0():
    layer = embedding()
    helpers.assert_close(layer(np.array([[-1, 2]])), layer(np.array([[0, 2]])))


def test_word_dropout_drops_whole_words_only_in_training():
    layer = embedding(word_dropout=0.5)
    ids = np.tile(IDS, (20, 1))
    plain = helpers.as_numpy(layer(ids))
    dropped = helpers.as_numpy(layer(ids, training=True))
    kept = np.any(dropped != 0, axis=-1)
    assert 0.2 < kept.mean() < 0.8
    # A word that is kept is kept whole, and scaled up.
    np.testing.assert_allclose(
        dropped, np.where(kept[..., None], 2 * plain, 0), rtol=1e-5
    )
    # The same word is dropped at one place and kept at another.
    assert 0 < kept[ids == 1].mean() < 1
    again = helpers.as_numpy(layer(ids, training=True))
    assert np.any(again != dropped)


def test_word_dropout_drops_a_type_everywhere_in_its_row():
    layer = embedding(word_dropout=0.5, drop_types=True)
    ids = np.tile([3, 1, 3, 2, 1, 1, -1, 0], (20, 1))
    plain = helpers.as_numpy(layer(ids))
    dropped = helpers.as_numpy(layer(ids, training=True))
    kept = np.any(dropped != 0, axis=-1)
    np.testing.assert_allclose(
        dropped, np.where(kept[..., None], 2 * plain, 0), rtol=1e-5
    )
    for positions in ([0, 2], [1, 4, 5], [6, 7]):
        assert np.all(kept[:, positions] == kept[:, positions[:1]])
    # Rows and types draw on their own, and each batch anew.
    by_type = kept[:, [0, 1, 3, 6]]
    assert np.all(0 < by_type.mean(0)) and np.all(by_type.mean(0) < 1)
    assert len(np.unique(by_type, axis=0)) > 4
    again = helpers.as_numpy(layer(ids, training=True))
    assert np.any(again != dropped)


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.0])
def test_the_scale_may_be_chosen(scale):
    layer = embedding(scale=scale)
    table = layer.get_weights()[0]
    helpers.assert_close(layer(IDS), scale * table[IDS])
    # It is of no effect on logits.
    x = helpers.random(2, 3, 16)
    helpers.assert_close(layer(x, reverse=True), x @ table.T)


def test_dropout_drops_units_only_in_training():
    layer = embedding(dropout=0.5)
    plain = helpers.as_numpy(layer(IDS))
    dropped = helpers.as_numpy(layer(IDS, training=True))
    kept = dropped != 0
    assert 0.2 < kept.mean() < 0.8
    assert not np.any(np.all(~kept, axis=-1))
    np.testing.assert_allclose(dropped, np.where(kept, 2 * plain, 0), rtol=1e-5)


@pytest.mark.parametrize("training", [None, True])
def test_symbolic_shape_is_the_real_one(training):
    layer = TokenEmbedding(5, 16, dropout=0.1)
    symbol = layer(keras.Input((3,), dtype="int32"), training=training)
    assert symbol.shape == (None, *layer(IDS).shape[1:])
    symbol = layer(keras.Input((3, 16)), reverse=True)
    assert symbol.shape == (None, 3, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: embedding(dropout=1.0), "Received: dropout=1.0"),
        (lambda: embedding(word_dropout=1.0), "Received: word_dropout=1.0"),
        # They have no deviation.
        *(
            (
                lambda value=value: embedding().assign_vectors(
                    np.full((5, 16), value)
                ),
                "`vectors` must be finite",
            )
            for value in (0.0, np.nan)
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_words_are_dropped_in_the_dtype_of_the_layer():
    embed = TokenEmbedding(9, 4, word_dropout=0.3, dtype="mixed_bfloat16")
    x = embed(np.ones((2, 3), "int32"), training=True)
    assert keras.backend.standardize_dtype(x.dtype) == "bfloat16"


@pytest.mark.parametrize("tie_weights", [True, False])
@pytest.mark.parametrize(
    "mode, tolerance", helpers.one_now([("int8", 0.02), ("int4", 0.4)])
)
def test_quantized_it_embeds_and_projects_as_before(
    mode, tolerance, tie_weights
):
    layer = embedding(dropout=0.5, tie_weights=tie_weights)
    x, ids = helpers.random(2, 3, 16), np.array([[-1, 2], [3, 4]])
    before = helpers.as_numpy([layer(ids), layer(x, reverse=True)])
    layer.quantize(mode)
    assert "int8" in {w.dtype for w in layer.weights}
    after = helpers.as_numpy([layer(ids), layer(x, reverse=True)])
    for old, new in zip(before, after, strict=True):
        assert 0 < np.abs(new - old).max() < tolerance
    dropped = helpers.as_numpy(layer(ids, training=True))
    kept = dropped != 0
    assert 0.2 < kept.mean() < 0.8
    np.testing.assert_allclose(
        dropped, np.where(kept, 2 * after[0], 0), rtol=1e-5
    )


def test_the_dtype_in_reverse_is_saved_only_if_it_was_given():
    for given in (None, "float32"):
        layer = embedding(dtype="mixed_bfloat16", reverse_dtype=given)
        assert layer.get_config()["reverse_dtype"] == given
        assert layer.reverse_dtype == (given or "bfloat16")
