import numpy as np
import pytest

from kerasrnn.layers import FastLSTMCell
from kerasrnn.models import CharacterReader
from tests import helpers

IDS = np.array(
    [[[3, 1, 2, 0, 0], [2, 0, 0, 0, 0]], [[1, 2, 3, 1, 2], [0, 0, 0, 0, 0]]],
    "int32",
)
READERS = {
    "convolution": {"filters": 6},
    "recurrent": {"cell": FastLSTMCell(3)},
}

every_reader = pytest.mark.parametrize("name", READERS)


def small(name, **options):
    reader = CharacterReader(4, **READERS[name] | options)
    reader.build((None, None, None))
    helpers.randomize(reader)
    return reader


@every_reader
def test_padding_has_no_influence(name):
    reader = small(name)
    vectors = helpers.as_numpy(reader(IDS))
    assert vectors.shape == (2, 2, 6)
    helpers.assert_close(reader(IDS[:1, :, :3]), vectors[:1])
    assert np.any(vectors[0, 0]) and not np.any(vectors[1, 1])
    alone = reader(IDS[:1, 1:, :1])
    helpers.assert_close(alone[0, 0], vectors[0, 1])
    # Without a row for padding.
    other = small(name, pad_id=-1)
    helpers.assert_close(other(np.where(IDS > 0, IDS, -1)), vectors)


def test_the_greatest_value_of_each_filter():
    reader = small("convolution")
    embeddings, (kernel, bias) = (
        helpers.as_numpy(reader.embedding.embeddings.value),
        reader.reader.get_weights(),
    )
    x = np.pad(embeddings[[3, 1, 2]], [(1, 1), (0, 0)])
    found = [
        np.tensordot(x[t : t + 3], kernel, ([0, 1], [0, 1])) + bias
        for t in range(3)
    ]
    helpers.assert_close(reader(IDS)[0, 0], np.max(found, axis=0))


def test_the_last_states_of_both_directions():
    reader = small("recurrent")
    embedded = reader.embedding(IDS[:1, 0, :3])
    _, (forward, _, backward, _) = reader.reader(embedded)
    expected = np.concatenate([forward, backward], -1)
    helpers.assert_close(reader(IDS)[0, :1], expected)


def test_the_weights_of_a_cell_that_is_copied_are_not_its_own():
    cell = FastLSTMCell(3)
    cell.build((None, 30))
    reader = CharacterReader(4, cell)
    reader.build((None, None, None))
    assert reader.count_params() == small("recurrent").count_params()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"filters": 0}, "filters"),
        ({"cell": "lstm"}, "CharacterReader expects `cell`"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        CharacterReader(4, **arguments)
