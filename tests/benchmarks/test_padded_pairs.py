import keras
import numpy as np
import pytest
from packed_pairs import read_arrays
from packed_pairs import read_weights
from packed_pairs import write_arrays
from packed_pairs import write_weights
from padded_pairs import PaddedPairs
from padded_pairs import choose_shapes

IDS = {"source_pad_id": 0, "pad_id": 0, "start_id": 1}
END = 2


@pytest.fixture
def pairs():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 30, (2, 100))
    source, target = (rng.integers(3, 90, n.sum()) for n in lengths)
    target[np.cumsum(lengths[1]) - 1] = END
    return {
        "source": source.astype("uint8"),
        "source_lengths": lengths[0],
        "target": target.astype("uint8"),
        "target_lengths": lengths[1],
    }


def rows_of(batches):
    """The pairs of an epoch, without padding."""
    found = []
    for i in range(len(batches)):
        inputs, labels = batches[i]
        assert inputs["source"].shape[0] == batches.batch_size
        assert (inputs["source"].shape[1], labels.shape[1]) in batches.shapes
        for x, start, y in zip(*inputs.values(), labels, strict=True):
            if y.any():
                assert start.tolist() == [1, *y[:-1]]
                found.append((x[x > 0].tolist(), y[y > 0].tolist()))
    return found


def test_an_epoch_has_each_pair_once(pairs):
    sides = [
        np.split(pairs[side], np.cumsum(pairs[f"{side}_lengths"])[:-1])
        for side in ("source", "target")
    ]
    expected = sorted(
        (x.tolist(), y.tolist()) for x, y in zip(*sides, strict=True)
    )
    rng = np.random.default_rng(1)
    shuffled = PaddedPairs(pairs, IDS, 16, 4, rng)
    assert len(shuffled.shapes) == 4
    first = rows_of(shuffled)
    shuffled.on_epoch_end()
    second = rows_of(shuffled)
    assert first != second
    in_order = rows_of(PaddedPairs(pairs, IDS, 16, 2))
    for found in (first, second, in_order):
        assert sorted(found) == expected


def test_shapes_leave_the_least_padding():
    source = np.array([2, 2, 2, 9, 9])
    assert choose_shapes(source, source, 2) == [(2, 2), (9, 9)]
    # The least total of three lengths with two shapes: 4 and 10.
    target = np.array([3, 3, 3, 3, 4, 10])
    assert choose_shapes(target, target, 2) == [(4, 4), (10, 10)]


def test_more_shapes_leave_less_padding(pairs):
    shares = [PaddedPairs(pairs, IDS, 16, n).padding() for n in (1, 2, 4)]
    assert shares == sorted(shares, reverse=True)


def test_weights_are_read_as_they_were_written(tmp_path, monkeypatch):
    monkeypatch.setattr("packed_pairs.MOST", 100)
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16)])
    values = [np.array(x) for x in model.get_weights()]
    names = write_weights(tmp_path, values)
    assert len(names) == 3
    model.set_weights([0 * x for x in values])
    read_weights(tmp_path, names, model.trainable_variables)
    for x, y in zip(model.get_weights(), values, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-3)
    with pytest.raises(ValueError, match="144 weights. Received: 100"):
        read_weights(tmp_path, names[:2], model.trainable_variables)


def test_arrays_are_read_as_they_were_written(pairs, tmp_path):
    write_arrays(tmp_path / "a.xz", pairs)
    found = read_arrays(tmp_path / "a.xz")
    assert list(found) == list(pairs)
    for name, x in pairs.items():
        np.testing.assert_array_equal(found[name], x)
        assert found[name].dtype == x.dtype
