import pytest

from kerasrnn.data.text_corpus import TextCorpus
from kerasrnn.data.text_corpus import length_table


def test_length_table():
    corpus = TextCorpus(
        ["the red  book", "hello", "a\tb c d e f g"], ["a book"], ["a"]
    )
    table = length_table(corpus)
    assert list(table) == ["train", "validation", "test"]
    assert table["train"] == {
        "lines": 3,
        "tokens": 11,
        "average": pytest.approx(11 / 3),
        "minimum": 1,
        "maximum": 7,
    }
    numbers = [tuple(part.values()) for part in table.values()]
    assert numbers[1:] == [(1, 2, 2.0, 2, 2), (1, 1, 1.0, 1, 1)]
    types = {type(number) for row in numbers for number in row}
    assert types == {int, float}


@pytest.mark.parametrize("test", [None, []])
def test_length_table_leaves_out_empty_parts(test):
    table = length_table(TextCorpus(["a"], ["b c"], test))
    assert list(table) == ["train", "validation"]
