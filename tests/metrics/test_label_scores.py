import random

import numpy as np
import pytest
from keras import ops

from kerasrnn.metrics import phrase_scores
from kerasrnn.metrics.label_scores import label_accuracy


def test_right_are_those_of_the_same_place_and_label():
    true = [[(0, 1, "A"), (2, 4, "B")], [(0, 2, "A")]]
    found = [
        [(0, 1, "A"), (2, 3, "B"), (3, 4, "B")],
        [(0, 2, "B"), (2, 3, "C")],
    ]
    scores = phrase_scores(true, found)
    assert scores["precision"] == 1 / 5
    assert scores["recall"] == 1 / 3
    assert scores["f1"] == pytest.approx(2 / 8)
    a, b, c = (scores["by_label"][label] for label in "ABC")
    assert (a["precision"], a["recall"], a["support"]) == (1, 1 / 2, 2)
    assert (b["precision"], b["recall"], b["support"]) == (0, 0, 1)
    assert (c["precision"], c["recall"], c["support"]) == (0, 0, 0)


def test_nothing_is_found():
    scores = phrase_scores([[(0, 1, "A")]], [[]])
    assert (scores["precision"], scores["recall"], scores["f1"]) == (0, 0, 0)
    assert phrase_scores([[]], [[]])["f1"] == 0


def test_equals_seqeval():
    """The library that is compared with, where it can be installed."""
    seqeval = pytest.importorskip("seqeval.metrics")
    data = pytest.importorskip("kerasrnn.data")
    rng = random.Random(1)
    tags = ["O", "B-A", "I-A", "B-B", "I-B"]
    true, found = (
        [[rng.choice(tags) for _ in range(n % 9 + 1)] for n in range(300)]
        for _ in range(2)
    )
    scores = phrase_scores(
        *([data.phrases_of(x) for x in part] for part in (true, found))
    )
    for name, function in {
        "precision": seqeval.precision_score,
        "recall": seqeval.recall_score,
        "f1": seqeval.f1_score,
    }.items():
        assert scores[name] == pytest.approx(function(true, found))


@pytest.mark.parametrize(
    ("labels", "predictions", "message"),
    [
        ([["B-X", "O"]], [["B-X", "O"]], "phrases_of`.*Received"),
        ([[]], [[], []], "shorter|longer"),
    ],
)
def test_what_is_wrong_is_said(labels, predictions, message):
    with pytest.raises(ValueError, match=message):
        phrase_scores(labels, predictions)


@pytest.mark.parametrize(
    "labels, logits, right",
    [
        ([[2], [0]], [[0.0, 1.0, 3.0], [0.0, 2.0, 1.0]], [[True], [False]]),
        # Probabilities of the second of two labels, and its log odds.
        ([[0.8], [0.3]], [[1.5], [0.5]], [[True], [False]]),
        # Several labels a text.
        ([[1, 0]], [[0.5, 2.0]], [[True, False]]),
    ],
)
def test_labels_that_are_right(labels, logits, right):
    found = label_accuracy(np.array(labels), np.array(logits, "float32"))
    np.testing.assert_array_equal(ops.convert_to_numpy(found), right)
