import keras
import numpy as np
import pytest

from kerasrnn.models import Lexicon
from kerasrnn.models import Shortlist
from kerasrnn.models.lexicon import _cells
from tests import helpers
from tests.models.small import SOURCE
from tests.models.small import lexicon
from tests.models.small import translation_table

TABLE = translation_table()


@pytest.mark.parametrize("translations", [10, 3])
def test_it_holds_the_most_likely_words_of_a_table(translations):
    kept = np.sort(TABLE, axis=1)[:, -translations, None]
    table = np.where(kept <= TABLE, TABLE, 0)
    layer = lexicon(TABLE, translations)
    helpers.assert_close(layer(SOURCE), table[SOURCE])
    assert (helpers.as_numpy(layer(SOURCE)) > 0).sum(-1).max() == translations
    words = np.array([[0, 9, 4], [5, 2, 1], [1, 2, 3]])
    helpers.assert_close(
        layer(SOURCE, words),
        np.take_along_axis(table[SOURCE], words[:, None], axis=2),
    )
    helpers.assert_close(layer.expect(SOURCE), table[SOURCE].sum(1))


def test_padding_translates_to_nothing():
    table = np.roll(TABLE, 1, axis=0)  # row 0 is a word here
    layer = lexicon(table)
    helpers.assert_close(layer(np.array([[0]])), table[:1, None])
    expected = helpers.as_numpy(layer.expect(SOURCE[1:2, :3]))
    padded = np.where(SOURCE[1:2] == 0, -1, SOURCE[1:2])
    helpers.assert_close(layer.expect(padded), expected)
    found = helpers.as_numpy(layer(padded))
    assert (found[0, :3].sum(-1) > 0).all()
    assert not found[0, 3:].any()


def test_a_table_may_have_more_cells_than_int32():
    ids, size = np.array([[0], [1], [2]], "int32"), 2**30
    if helpers.ON_JAX:
        with pytest.raises(ValueError, match=r"2\*\*31 .*Received: 3 words"):
            _cells(ids, size)
    else:
        found = helpers.as_numpy(_cells(ids, size))
        assert found[:, 0].tolist() == [0, size + 1, 2 * size + 2]


def test_the_bias_is_the_logarithm_of_what_is_attended_to():
    # Its probabilities stay in float32.
    layer = lexicon(TABLE, epsilon=0.02, dtype="mixed_bfloat16")
    weights = np.random.default_rng(0).dirichlet(np.ones(5), (3, 2))
    expected = np.log(weights @ TABLE[SOURCE] + 0.02)
    found = layer.bias(weights.astype("float32"), layer(SOURCE))
    helpers.assert_close(found, expected)


def test_nothing_of_it_is_trained_and_all_of_it_is_saved(tmp_path):
    source = keras.Input((None,), dtype="int32")
    model = keras.Model(source, lexicon(TABLE, 3)(source))
    assert not model.trainable_weights
    assert [w.shape for w in model.weights] == [(9, 3), (9, 3)]
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(SOURCE), model(SOURCE))


def test_it_is_the_frequent_words_and_the_most_expected():
    words = helpers.as_numpy(Shortlist(lexicon(TABLE), 6, 2)(SOURCE))
    for row, source in zip(words, SOURCE, strict=True):
        expected = TABLE[source].sum(0)
        others = 2 + np.argsort(-expected[2:])[:4]
        # PyTorch takes words that are equally likely in any order.
        assert sorted(row[:2]) == [0, 1]
        assert row[2:].tolist() == others.tolist()


def test_a_shortlist_does_not_depend_on_the_batch():
    shortlist = Shortlist(lexicon(TABLE, 4), 7, 2)
    together = helpers.as_numpy(shortlist(SOURCE))
    np.testing.assert_array_equal(
        helpers.as_numpy(shortlist(SOURCE[1:2, :3]))[0], together[1]
    )
    # No word twice, though the lexicon knows fewer.
    assert all(len(set(row)) == 7 for row in together)


def test_it_may_be_the_whole_vocabulary():
    words = helpers.as_numpy(Shortlist(lexicon(TABLE), 10, 1)(SOURCE))
    np.testing.assert_array_equal(np.sort(words), [np.arange(10)] * 3)


def test_it_is_saved(tmp_path):
    source = keras.Input((None,), dtype="int32")
    model = keras.Model(source, Shortlist(lexicon(TABLE, 3), 5, 2)(source))
    assert model.output.shape == (None, 5)
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(SOURCE), model(SOURCE))


def test_a_quarter_of_it_are_frequent_words():
    assert Shortlist(Lexicon(9, 10), 8).frequent == 2
    assert Shortlist(Lexicon(9, 10), 3).frequent == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Lexicon(0, 4), "Received: source_size=0"),
        (lambda: Lexicon(3, 0), "Received: target_size=0"),
        (lambda: Lexicon(3, 4, translations=0), "Received: translations=0"),
        *(
            (
                lambda wrong=wrong: Lexicon(2, 6, 1).assign(
                    np.array([[wrong], [3]]), np.ones((2, 1))
                ),
                "from 0 to 5. Received: from",
            )
            for wrong in (-1, 6)
        ),
        *(
            (
                lambda sizes=sizes: Shortlist(Lexicon(9, 10), *sizes),
                "Received: .*(size|frequent)=",
            )
            for sizes in [(11, 2), (3, 3), (0, 1), (4, 0)]
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
