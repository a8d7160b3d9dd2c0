import pytest
import tensorflow as tf

from kerasrnn.data.batches import pad_to
from kerasrnn.data.batches import with_end
from kerasrnn.data.batches import with_start

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
    assert pad_to(ids, 9, least=3).numpy().tolist() == [
        [5, 6, 9],
        [9, 9, 9],
        [7, 9, 9],
    ]


def test_rows_without_ids_have_a_column():
    assert pad_to(ROWS[1:2], 9).numpy().tolist() == [[9]]
    letters = tf.ragged.constant([[]], tf.int32, ragged_rank=2)
    assert pad_to(letters, 9).numpy().tolist() == [[[9]]]


def test_a_graph_knows_a_fixed_length():
    spec = tf.TensorSpec((None, None), tf.int32)
    graph = tf.function(lambda ids: pad_to(ids, 0, 4, 4), [spec])
    assert graph.get_concrete_function().output_shapes == (None, 4)
