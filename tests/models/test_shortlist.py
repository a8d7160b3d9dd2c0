import keras
import numpy as np
import pytest

from kerasrnn.models import Lexicon
from kerasrnn.models import Shortlist
from tests import helpers
from tests.models.small import SOURCE
from tests.models.small import lexicon
from tests.models.small import translation_table

TABLE = translation_table()


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


@pytest.mark.parametrize("size, frequent", [(11, 2), (3, 3), (0, 1), (4, 0)])
def test_sizes_fit(size, frequent):
    with pytest.raises(ValueError, match="Received: .*(size|frequent)="):
        Shortlist(Lexicon(9, 10), size, frequent)
