import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.serving import ExportedModel
from kerasrnn.serving.http.call_queue import check_row_count
from kerasrnn.serving.http.call_queue import positions
from tests.serving import toys


@pytest.fixture(scope="module")
def signatures(tmp_path_factory):
    path = toys.heavy(tmp_path_factory.mktemp("models") / "heavy")
    return ExportedModel(path / "1").signatures


def size(signature, max_positions=1000, max_values=100_000, **inputs):
    arrays = signature.arrays(inputs)
    return positions(signature, arrays, max_positions, max_values)


def test_a_text_counts_its_characters(signatures):
    shout = signatures["serving_default"]
    assert size(shout, text=["आओ"]) == 3
    # Rows are padded to the longest.
    assert size(shout, text=["a" * 99, "a"]) == 200
    assert size(shout, text=[]) == 1
    with pytest.raises(ValueError, match="1100 .11 rows of 100 "):
        size(shout, text=["a" * 99, *["a"] * 10])


def test_what_is_to_be_added_counts(signatures):
    generate = signatures["generate"]
    assert size(generate, prompt=["a", "b"], max_tokens=10) == 24
    assert size(generate, prompt=["a"], max_tokens=-5) == 2
    with pytest.raises(ValueError, match="at most 1000 .* plus 999"):
        size(generate, prompt=["a"], max_tokens=999)


def test_a_number_of_rows_counts(tmp_path):
    numbers = [tf.TensorSpec([], tf.int32, name) for name in ("count", "steps")]
    rows = tf.TensorSpec([None, None, 8], tf.float32, "rows")

    @tf.function(input_signature=[*numbers, rows])
    def start(count, steps, rows):
        return {"state": tf.zeros((count, 10)), "rows": rows}

    path = toys.export(tmp_path / "toy", {"serving_default": start})
    signature = ExportedModel(path / "1").signatures["serving_default"]
    given = {"rows": np.zeros((1, 3, 8), "float32"), "steps": 0}
    assert size(signature, count=5, **given | {"steps": 4}) == 5 * (3 + 4)
    assert size(signature, count=-5, **given) == 3
    with pytest.raises(ValueError, match="2000000000 rows"):
        size(signature, count=2_000_000_000, **given)
    with pytest.raises(ValueError, match="`serving_default` may return 3400 "):
        size(signature, max_values=3399, count=100, **given)


def test_an_answer_is_bounded_before_it_is_computed(signatures):
    step = signatures["step"]
    assert size(step, ids=[[1] * 20]) == 20
    with pytest.raises(
        ValueError, match="100000 values.*`step` may return 105"
    ):
        size(step, ids=[[1] * 7] * 3)


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        ([1] * 5, 5),
        (np.zeros([5, 1]), 5),
        (np.zeros([0, 5]), 5),
    ],
)
def test_rows_are_bounded(value, rows):
    check_row_count("ids", value, rows)
    with pytest.raises(ValueError, match=f"`ids` .* {rows - 1} rows.*: {rows}"):
        check_row_count("ids", value, rows - 1)


def test_scalars_have_no_rows():
    check_row_count("seed", 5, 0)
    check_row_count("seed", np.array(5), 0)
