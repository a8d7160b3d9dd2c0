import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import text_windows

START = 9


def windows_of(ids, batch_size, window):
    """All ids, labels and fresh flags, one after another."""
    dataset = text_windows(ids, batch_size, window, START)
    batches = list(dataset.as_numpy_iterator())
    ids = np.array([inputs["ids"] for inputs, _ in batches])
    fresh = np.array([inputs["fresh"] for inputs, _ in batches])
    return ids, np.array([labels for _, labels in batches]), fresh


def loop(ids, batch_size, window):
    """Ids and labels, place by place."""
    length = -(-len(ids) // batch_size)
    count = -(-length // window)
    inputs = np.zeros((count, batch_size, window), int)
    labels = np.full((count, batch_size, window), -1)
    for place, label in enumerate(ids):
        row, column = divmod(place, length)
        batch, step = divmod(column, window)
        labels[batch, row, step] = label
        inputs[batch, row, step] = ids[place - 1] if place else START
    return inputs, labels


SIZES = [
    (24, 2, 4),
    (24, 1, 4),
    (23, 2, 4),
    (17, 3, 4),
    (3, 1, 7),
    (5, 2, 7),
    (4, 4, 3),
    (6, 4, 1),
    (9, 8, 3),
    (1, 1, 1),
]


@pytest.mark.parametrize("tokens, batch_size, window", SIZES)
def test_equals_a_loop(tokens, batch_size, window):
    # No token twice, so that none can stand for another.
    text = np.random.default_rng(0).permutation(tokens) + 10
    ids, labels, _ = windows_of(text, batch_size, window)
    expected_ids, expected_labels = loop(text, batch_size, window)
    np.testing.assert_array_equal(labels, expected_labels)
    # What follows the text is nothing.
    real = labels >= 0
    np.testing.assert_array_equal(ids[real], expected_ids[real])


@pytest.mark.parametrize("tokens, batch_size, window", SIZES)
def test_rows_are_fresh_in_the_first_batch_only(tokens, batch_size, window):
    _, labels, fresh = windows_of(np.arange(tokens), batch_size, window)
    assert fresh.shape == labels.shape[:2]
    assert fresh[0].all()
    assert not fresh[1:].any()


def test_shapes_are_static():
    dataset = text_windows(list(range(50)), 3, 4)
    assert dataset.element_spec == (
        {
            "ids": tf.TensorSpec((3, 4), tf.int32),
            "fresh": tf.TensorSpec((3,), tf.int32),
        },
        tf.TensorSpec((3, 4), tf.int32),
    )
    assert len(dataset) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(
            (
                (ids, batch_size, 2),
                f"vector of at least.*{shape} and.* batch_size={batch_size}",
            )
            for ids, batch_size, shape in [
                ([], 1, r"\(0,\)"),
                ([1, 2], 3, r"\(2,\)"),
                ([[1, 2]], 1, r"\(1, 2\)"),
                ([1.9, 2.2], 1, r"\(2,\)"),
            ]
        ),
        *(
            (arguments, f"integer >= 1.*{name}={bad}")
            for bad in (0, 2.5, True)
            for name, arguments in (
                ("batch_size", ([1, 2, 3], bad, 2)),
                ("window", ([1, 2, 3], 2, bad)),
            )
        ),
    ],
)
def test_what_is_wrong_is_said(arguments, message):
    with pytest.raises(ValueError, match=message):
        text_windows(*arguments)
