import pytest

from kerasrnn.data import CorpusWarning
from kerasrnn.data import Rows
from kerasrnn.data import split_rows

COUNT = 90
ROWS = Rows(
    {
        "text": [f"text {n % 60}" for n in range(COUNT)],
        "label": ["ab"[n % 3 == 0] for n in range(COUNT)],
        "group": [f"film {n % 12}" for n in range(COUNT)],
    }
)


def sides(*parts, column):
    train, held_out = ({*part[column]} for part in parts)
    return train & held_out


@pytest.mark.parametrize("name", ["by", "group", "stratify"])
def test_an_unknown_column_is_refused(name):
    with pytest.raises(ValueError, match="'group'. Received: 'author'"):
        split_rows(ROWS, 20, seed=1, **{name: "author"})


def test_equal_rows_stay_together():
    train, held_out = split_rows(ROWS, 20, seed=1, by="text")
    assert (len(train), len(held_out)) == (70, 20)
    assert not sides(train, held_out, column="text")
    assert split_rows(ROWS, 20, seed=1, by="text")[1] == held_out
    assert split_rows(ROWS, 20, seed=2, by="text")[1] != held_out


def test_groups_stay_together():
    train, held_out = split_rows(ROWS, 20, seed=1, group="group")
    assert not sides(train, held_out, column="group")
    assert 12 < len(held_out) <= 20 and len(train) + len(held_out) == COUNT


def test_labels_are_held_out_alike_and_copies_are_counted():
    with pytest.warns(CorpusWarning, match="of 60 rows are not trained on: th"):
        train, held_out = split_rows(ROWS, 30, 1, by="text", stratify="label")
    assert not sides(train, held_out, column="text")
    assert held_out["label"].count("b") == 10


def test_groups_of_all_labels():
    train, held_out = split_rows(
        ROWS, 30, 1, group="group", by="group", stratify="label"
    )
    assert not sides(train, held_out, column="group")
    assert abs(held_out["label"].count("b") - len(held_out) / 3) <= 8
