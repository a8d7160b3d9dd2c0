import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import id_rows
from kerasrnn.data.batches import checked_weights
from kerasrnn.data.batches import in_parts
from kerasrnn.data.batches import pad_to
from kerasrnn.data.batches import with_end
from kerasrnn.data.batches import with_start
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


# Padding.


ROWS = tf.ragged.constant([[5, 6], [], [7]], tf.int32)


def test_every_row_gets_a_start_and_an_end():
    assert with_start(ROWS, 1).to_list() == [[1, 5, 6], [1], [1, 7]]
    assert with_end(ROWS, 2).to_list() == [[5, 6, 2], [2], [7, 2]]


def test_empty_rows_may_stay_empty():
    found = with_end(ROWS, 2, also_empty=False)
    assert found.to_list() == [[5, 6, 2], [], [7, 2]]


@pytest.mark.parametrize("ids", [ROWS, ROWS.to_tensor(9)], ids=str)
def test_rows_are_padded_and_truncated(ids):
    assert pad_to(ids, 9).numpy().tolist() == [[5, 6], [9, 9], [7, 9]]
    assert pad_to(ids, 9, most=1).numpy().tolist() == [[5], [9], [7]]


def test_rows_without_ids_have_a_column():
    assert pad_to(ROWS[1:2], 9).numpy().tolist() == [[9]]
    letters = tf.ragged.constant([[]], tf.int32, ragged_rank=2)
    assert pad_to(letters, 9).numpy().tolist() == [[[9]]]


# Weights.


@pytest.mark.parametrize(
    "weights, received",
    [
        ([1, 2], r"\[1, 2\] of shape \(2,\) for 3 texts"),
        (np.ones((3, 1)), r"of shape \(3, 1\) for 3 texts"),
        ([1, 2, -1], r"\[1, 2, -1\] of shape \(3,\) for"),
        ([1, 2, float("nan")], "nan. of shape"),
        (["a", "b", "c"], r"\['a', 'b', 'c'\] for 3 texts"),
        ([1, [2, 3], 4], "4. for 3 texts"),
    ],
)
def test_other_weights_are_refused(weights, received):
    message = f"a non-negative number for each text. Received: .*{received}"
    with pytest.raises(ValueError, match=f"(?s){message}"):
        checked_weights(weights, 3, "text")
