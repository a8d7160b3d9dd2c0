import dataclasses
import json
import logging
import re

import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.serving import ExportedModel
from kerasrnn.serving.http.call_queue import Call
from kerasrnn.serving.http.call_queue import CallQueue
from kerasrnn.serving.http.call_queue import answers
from kerasrnn.serving.http.call_queue import positions
from kerasrnn_commands.messages import Answer
from kerasrnn_commands.messages import ServerSettings
from tests.serving import toys


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """It notes how many rows it is called with."""
    path = toys.heavy(tmp_path_factory.mktemp("models") / "heavy")
    model = ExportedModel(path / "1")
    shout = model.signatures["serving_default"]
    function, model.rows = shout.function, []

    def noted(text):
        model.rows.append(len(text))
        return function(text=text)

    shout.function = noted
    return model


@pytest.fixture
def make(model):
    model.rows.clear()

    def make(number, *texts, signature="serving_default", positions=10):
        return Call(
            number,
            model.signatures[signature],
            {"text": np.array([x.encode() for x in texts], dtype=object)},
            positions,
            lambda outputs: Answer(
                200, json.dumps(outputs["loud"].tolist()).encode()
            ),
        )

    return make


def put(queue, call):
    queue.reserve(call.number)
    queue.put(call)


def numbers(calls):
    return [call.number for call in calls]


def test_what_waits_is_computed_together(make):
    queue = CallQueue(batch_rows=4, threads=8)
    for call in (make(0, *"ab"), make(1, *"cd"), make(2, *"ef"), make(3)):
        put(queue, call)
    # The third has no place; the fourth has no rows.
    first = queue.take()
    assert numbers(first) == [0, 1]
    put(queue, make(4, "f", signature="step"))
    # Others of the signature wait for them, those of other signatures do not.
    second = queue.take()
    assert numbers(second) == [4]
    queue.done(first)
    assert numbers(queue.take()) == [2]


def test_several_batches_run_at_once(make):
    queue = CallQueue(batch_rows=1, threads=8, batches=2)
    for number in range(3):
        put(queue, make(number, "a"))
    first, second = queue.take(), queue.take()
    assert (numbers(first), numbers(second)) == ([0], [1])
    put(queue, make(3, "a", signature="step"))
    assert numbers(queue.take()) == [3]
    queue.done(second)
    assert numbers(queue.take()) == [2]


def test_a_long_text_does_not_make_others_long(make):
    queue = CallQueue(batch_rows=32, threads=8)
    put(queue, make(0, "a"))
    put(queue, make(1, "b", positions=4000))
    put(queue, make(2, "c"))
    assert numbers(queue.take()) == [0, 2]
    # Nor do many: they are padded to the longest of all, not to the last.
    queue = CallQueue(batch_rows=32, threads=8)
    put(queue, make(0, "a", positions=2048))
    put(queue, make(1, "b"))
    put(queue, make(2, "c"))
    assert numbers(queue.take()) == [0, 1]


def test_large_calls_run_one_by_one(make):
    queue = CallQueue(batch_rows=32, threads=8)
    for number in (0, 1):
        put(queue, make(number, "a", signature="step", positions=4097))
    put(queue, make(2, "a", signature="step", positions=4096))
    first = queue.take()
    assert numbers(first) == [0]
    assert numbers(queue.take()) == [2]
    queue.done(first)
    assert numbers(queue.take()) == [1]


def test_long_calls_leave_threads_to_short_ones(make):
    queue = CallQueue(batch_rows=32, threads=4)
    for number in range(3):
        put(queue, make(number, "a", signature="step", positions=513))
    put(queue, make(3, "a", signature="step", positions=512))
    first = queue.take()
    taken = [first, queue.take(), queue.take()]
    assert [numbers(calls) for calls in taken] == [[0], [1], [3]]
    queue.done(first)
    assert numbers(queue.take()) == [2]


def test_a_call_that_waits_can_be_taken_back(make):
    queue = CallQueue(batch_rows=1, threads=8)
    put(queue, make(0, "a"))
    put(queue, make(1, "b"))
    calls = queue.take()
    assert not queue.remove(0) and queue.remove(1) and not queue.remove(1)
    queue.done(calls)
    # Also while it is read.
    queue.reserve(2)
    assert 2 in queue and queue.remove(2)
    queue.put(make(2, "c"))
    assert 2 not in queue


def test_each_gets_the_answers_to_its_own_rows(make, model):
    found = answers([make(0, "a", "b"), make(1, "c")])
    assert [json.loads(x.body) for x in found] == [["A", "B"], ["C"]]
    assert model.rows == [3]


def test_many_rows_are_computed_in_pieces(make, model):
    """At once, they would take much memory."""
    texts = [f"a{i}" for i in range(100)]
    [answer] = answers([make(0, *texts, positions=100 * 256)])
    assert json.loads(answer.body) == [text.upper() for text in texts]
    assert model.rows == [16] * 6 + [4]


def test_inputs_of_unlike_rows_do_not_mix_with_those_of_others(tmp_path):
    """Joined, the first and the last would give both of theirs to the other."""

    @tf.function(
        input_signature=[toys.TEXTS, tf.TensorSpec([None], tf.string, "other")]
    )
    def pairs(text, other):
        check = tf.debugging.Assert(len(text) == len(other), ["unlike rows"])
        with tf.control_dependencies([check]):
            return {"loud": tf.strings.join([text, other])}

    path = toys.export(tmp_path / "pairs", {"serving_default": pairs})
    signature = ExportedModel(path / "1").signatures["serving_default"]
    queue = CallQueue(batch_rows=32, threads=8)
    for number, (text, other) in enumerate([("ab", "x"), "cy", ("d", "zw")]):
        inputs = {"text": [*text], "other": [*other]}
        put(
            queue,
            Call(
                number,
                signature,
                signature.arrays(inputs),
                10,
                lambda outputs: Answer(200, outputs["loud"][0].encode()),
            ),
        )
    found = []
    for number in range(3):
        calls = queue.take()
        assert numbers(calls) == [number]
        found += answers(calls)
    assert [x.status for x in found] == [400, 200, 400]
    assert found[1].body == b"cy"


def test_a_bad_text_is_the_error_of_who_sent_it(make):
    calls = [make(i, "bad" if i == 5 else f"a{i}") for i in range(8)]
    found = answers(calls)
    assert [x.status for x in found] == [200] * 5 + [400] + [200] * 2
    error = "`serving_default` cannot take these inputs: a bad text"
    assert json.loads(found[5].body) == {"error": error}
    good = [json.loads(x.body) for x in found if x.status == 200]
    assert good == [[f"A{i}"] for i in range(8) if i != 5]


@pytest.mark.parametrize(
    ("fail", "logged"),
    [
        (lambda _: 1 / 0, r"ZeroDivisionError: 'division by zero' \(.*\d\)$"),
        (
            lambda _: tf.io.read_file("missing"),
            r"NotFoundError: '.* missing; No such file or directory' \(",
        ),
    ],
)
def test_an_error_of_the_model_is_logged_and_not_told(
    make, caplog, fail, logged
):
    call = dataclasses.replace(make(0, "a"), write=fail)
    with caplog.at_level(logging.ERROR):
        [answer] = answers([call])
    error = "The call failed. See the log of the server."
    assert (answer.status, json.loads(answer.body)) == (500, {"error": error})
    [line] = caplog.text.splitlines()  # without the stack
    assert re.search(f"A call failed: {logged}", line)


def test_a_model_that_does_not_answer_row_by_row_is_called_alone(tmp_path):
    @tf.function(input_signature=[toys.TEXTS])
    def words(text):
        return {"loud": tf.strings.split(text).flat_values}

    path = toys.export(tmp_path / "words", {"serving_default": words})
    signature = ExportedModel(path / "1").signatures["serving_default"]
    calls = [
        Call(
            number,
            signature,
            {"text": np.array([text], dtype=object)},
            10,
            lambda outputs: Answer(200, str(outputs["loud"].tolist()).encode()),
        )
        for number, text in enumerate([b"a b", b"c"])
    ]
    found = [answer.body for answer in answers(calls)]
    assert found == [b"['a', 'b']", b"['c']"]


@pytest.mark.parametrize("positions", [10, 60_000])
def test_a_number_for_all_rows_is_no_row(model, positions):
    inputs = {"prompt": np.array([b"a"]), "max_tokens": np.array(2, "int32")}
    signature = model.signatures["generate"]
    call = Call(0, signature, inputs, positions, lambda outputs: outputs)
    assert not call.by_row
    assert call.run()["ids"].shape == (1, 2)


def size(signature, max_values=100_000, max_rows=12, **inputs):
    settings = ServerSettings(
        max_positions=1000, max_values=max_values, max_rows=max_rows
    )
    return positions(signature, signature.arrays(inputs), settings)


def test_a_text_counts_its_characters(model):
    shout = model.signatures["serving_default"]
    assert size(shout, text=["आओ"]) == 3
    # Rows are padded to the longest.
    assert size(shout, text=["a" * 99, "a"]) == 200
    assert size(shout, text=[]) == 1
    assert size(shout, text=["a" * 99, *["a"] * 9]) == 1000
    with pytest.raises(ValueError, match="1100 .11 rows of 100 "):
        size(shout, text=["a" * 99, *["a"] * 10])


def test_what_is_to_be_added_counts(model):
    generate = model.signatures["generate"]
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
    assert size(signature, max_values=3400, count=100, **given) == 300
    with pytest.raises(ValueError, match="`serving_default` may return 3400 "):
        size(signature, max_values=3399, count=100, **given)


def test_an_answer_is_bounded_before_it_is_computed(model):
    step = model.signatures["step"]
    assert size(step, ids=[[1] * 20]) == 20
    with pytest.raises(
        ValueError, match="100000 values.*`step` may return 105"
    ):
        size(step, ids=[[1] * 7] * 3)


def test_rows_are_bounded(model):
    step, generate = model.signatures["step"], model.signatures["generate"]
    assert size(step, max_rows=5, ids=[[1]] * 5) == 5
    with pytest.raises(ValueError, match="`ids` .* 4 rows. Received: 5"):
        size(step, max_rows=4, ids=[[1]] * 5)
    # A number is no row; and without rows, the rest may be long.
    assert size(generate, max_rows=1, prompt=["a"], max_tokens=3) == 5
    with pytest.raises(ValueError, match="at most 1000 positions"):
        size(step, ids=np.zeros([0, 1001], "int32"))
