import numpy as np
from keras import ops

from kerasrnn.decoding.trace import empty_trace
from kerasrnn.decoding.trace import note
from kerasrnn.decoding.trace import put
from kerasrnn.decoding.trace import write_out
from tests import helpers

PAD, END = 0, 1


def test_a_position_is_written_and_the_others_stay():
    buffer = np.arange(24.0, dtype="float32").reshape(2, 3, 4)
    values = np.full((2, 4), -1.0, "float32")
    expected = buffer.copy()
    expected[:, 1] = values
    found = put(ops.array(buffer), 1, ops.array(values))
    np.testing.assert_array_equal(helpers.as_numpy(found), expected)


def test_hypotheses_are_read_from_their_ends_to_their_beginnings():
    """Two beams cross: each extends the other one at the second step."""
    steps = [
        {"tokens": [[5, 6]], "parents": [[0, 0]], "weights": [[[1.0], [2.0]]]},
        {"tokens": [[7, 8]], "parents": [[1, 0]], "weights": [[[3.0], [4.0]]]},
        {"tokens": [[9, 9]], "parents": [[0, 1]], "weights": [[[5.0], [6.0]]]},
    ]
    trace = empty_trace(1, 2, 4, positions=1)
    for t, chosen in enumerate(steps):
        arrays = {name: ops.array(x) for name, x in chosen.items()}
        trace = note(trace, t, **arrays)
    # One ended at the third step, behind beam 1; one never did, in beam 0.
    written = write_out(
        trace,
        3,
        ops.array([[2, 3]]),
        ops.array([[1, 0]]),
        ops.array([[True, False]]),
        END,
        PAD,
    )
    assert helpers.as_numpy(written["ids"]).tolist() == [
        [[5, 6], [8, 7], [END, 9], [PAD, PAD]]
    ]
    assert helpers.as_numpy(written["alignments"])[..., 0].tolist() == [
        [[1.0, 1.0], [3.0, 4.0], [6.0, 5.0], [0.0, 0.0]]
    ]


def test_without_places_there_are_no_alignments():
    chosen = {"tokens": ops.array([[3]]), "parents": ops.array([[0]])}
    trace = note(empty_trace(1, 1, 2), 0, **chosen, weights=None)
    written = write_out(
        trace,
        1,
        ops.array([[1]]),
        ops.array([[0]]),
        ops.array([[False]]),
        END,
        PAD,
    )
    assert list(written) == ["ids"]
    assert helpers.as_numpy(written["ids"]).tolist() == [[[3], [PAD]]]
