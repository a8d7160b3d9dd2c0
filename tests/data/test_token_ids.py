import numpy as np

from kerasrnn.data import id_rows
from kerasrnn.data.batches import in_parts
from kerasrnn.tokenizers import ReviewTokenizer

TOKENIZER = ReviewTokenizer(["<pad>", "<unk>", "a", "bad", "book"])


def test_texts_of_all_batches_have_their_ids():
    texts = ["a book", "", "bad"] * 700
    rows = [*id_rows(texts, TOKENIZER)]
    assert len(rows) == 2100 and {row.dtype.name for row in rows} == {"int32"}
    for text, row in zip(texts, rows, strict=True):
        expected = [TOKENIZER.vocabulary.index(word) for word in text.split()]
        np.testing.assert_array_equal(row, expected)


def test_long_texts_are_cut():
    assert [row.tolist() for row in id_rows(["a bad book"], TOKENIZER, 2)] == [
        [2, 3]
    ]
    assert [*id_rows([], TOKENIZER)] == []


def test_any_iterable_is_taken_in_parts():
    parts = list(in_parts(iter(range(2001)), lambda part: part))
    assert list(map(len, parts)) == [1000, 1000, 1]
    assert sum(parts, []) == list(range(2001))
    assert list(in_parts([], len)) == []
