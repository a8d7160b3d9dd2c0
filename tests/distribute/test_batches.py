import contextlib
import types

import keras
import numpy as np
import pytest

from kerasrnn.distribute import shared_batches

tf = pytest.importorskip("tensorflow", reason="its data sets are shared")
if keras.backend.backend() != "tensorflow":
    pytest.skip("for TensorFlow's strategies", allow_module_level=True)

from kerasrnn.distribute.replicas import fit_arguments  # noqa: E402
from kerasrnn.distribute.replicas import share  # noqa: E402


@pytest.mark.parametrize("rows", [0, 1, 2, 5, 6, 7])
def test_the_shares_are_a_batch_in_order(rows):
    batch = {
        "ids": tf.range(rows),
        "labels": tf.reshape(tf.range(rows), (-1, 1)),
    }
    shares = [share(batch, i, 3) for i in range(3)]
    sizes = [len(part["ids"]) for part in shares]
    assert max(sizes) - min(sizes) <= 1
    assert bool(sizes[0]) == bool(rows)
    for name, x in batch.items():
        found = np.concatenate([part[name] for part in shares])
        np.testing.assert_array_equal(found, x)


def test_a_known_number_of_rows_stays_known():
    batches = tf.data.Dataset.from_tensor_slices(np.zeros((2, 6, 5)))
    shares = batches.map(lambda x: share(x, 1, 3))
    assert shares.element_spec.shape == (2, 5)


def test_one_replica_has_whole_batches():
    batches = tf.data.Dataset.range(6).batch(4)
    assert shared_batches(batches, tf.distribute.get_strategy()) is batches


# The second of two workers with two replicas each.
WORKER = types.SimpleNamespace(num_input_pipelines=2, input_pipeline_id=1)
STRATEGY = types.SimpleNamespace(
    num_replicas_in_sync=4,
    distribute_datasets_from_function=lambda read: read(WORKER),
    scope=contextlib.nullcontext,
)


def test_a_worker_reads_the_shares_of_its_replicas():
    batches = shared_batches(tf.data.Dataset.range(16).batch(8), STRATEGY)
    found = [x.tolist() for (x,) in batches.as_numpy_iterator()]
    assert found == [[4, 5], [6, 7], [12, 13], [14, 15]]


def test_each_validation_reads_all_batches(monkeypatch):
    prepared = []
    monkeypatch.setattr(
        "kerasrnn.distribute.replicas.reduce_before_clipping", prepared.append
    )
    model = types.SimpleNamespace(
        distribute_strategy=STRATEGY,
        optimizer=keras.optimizers.SGD(),
        _symbolic_build=lambda data_batch: None,
    )
    few, many = (tf.data.Dataset.range(n).batch(4) for n in (4, 12))
    found = fit_arguments(model, many, few)
    assert prepared == [model.optimizer]
    assert found["validation_steps"] == 1
    # Of two epochs, two shares each.
    rows = found["validation_data"].take(4).as_numpy_iterator()
    assert [x.tolist() for (x,) in rows] == [[2], [3], [2], [3]]


TWO = types.SimpleNamespace(num_replicas_in_sync=2)


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (shared_batches, [np.zeros((4, 1)), TWO], "batches of type ndarray$"),
        (
            fit_arguments,
            [types.SimpleNamespace(distribute_strategy=TWO), iter(()), None],
            "type tuple_iterator$",
        ),
        (
            fit_arguments,
            [
                types.SimpleNamespace(distribute_strategy=TWO),
                tf.data.Dataset.range(6),
                ([0], [0]),
            ],
            "type tuple$",
        ),
    ],
)
def test_only_a_dataset_can_be_shared(call, arguments, message):
    with pytest.raises(ValueError, match=message):
        call(*arguments)
