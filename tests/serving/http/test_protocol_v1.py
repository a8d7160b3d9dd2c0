import json
import types

import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("orjson", reason="needs the extra `serve`")

from kerasrnn.serving import ModelFolder  # noqa: E402
from kerasrnn.serving.http.protocol_v1 import describe_v1  # noqa: E402
from kerasrnn.serving.http.protocol_v1 import receive_v1  # noqa: E402
from kerasrnn_commands.messages import Request  # noqa: E402
from tests.serving import toys  # noqa: E402
from tests.serving.small import export_small_model  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "shout"
    return ModelFolder(export_small_model(path)).load()


def read(body, model):
    return receive_v1(Request("v1", json.dumps(body).encode()), model)


def answered(body, model):
    signature, inputs, write = read(body, model)
    return json.loads(write(signature(**inputs)).body)


@pytest.mark.parametrize(
    ("body", "name", "inputs", "answer"),
    [
        (
            {"instances": ["a", "b"]},
            "serving_default",
            {"text": ["a", "b"]},
            {"predictions": ["A", "B"]},
        ),
        (
            {"instances": [{"text": "a"}]},
            "serving_default",
            {"text": ["a"]},
            {"predictions": ["A"]},
        ),
        (
            {"instances": [], "signature_name": ""},
            "serving_default",
            {"text": []},
            {"predictions": []},
        ),
        (
            {"instances": [[1, 2]], "signature_name": "square"},
            "square",
            {"ids": [[1, 2]]},
            {"predictions": [{"square": [1, 4], "total": 5}]},
        ),
        (
            {"inputs": [[1, 2]], "signature_name": "square"},
            "square",
            {"ids": [[1, 2]]},
            {"outputs": {"square": [[1, 4]], "total": [5]}},
        ),
        (
            {
                "inputs": {"text": ["a"], "times": 2},
                "signature_name": "repeat",
            },
            "repeat",
            {"text": ["a"], "times": 2},
            {"outputs": ["a", "a"]},
        ),
    ],
)
def test_rows_and_columns(model, body, name, inputs, answer):
    signature, found, _ = read(body, model)
    assert (signature.name, found) == (name, inputs)
    assert answered(body, model) == answer


def test_an_input_may_be_called_b64():
    spec = tf.TensorSpec([None], tf.float32)
    signature = types.SimpleNamespace(inputs={"b64": spec}, outputs={})
    model = types.SimpleNamespace(signatures={"serving_default": signature})
    for body in (
        {"inputs": {"b64": [1, 2]}},
        {"instances": [{"b64": 1}, {"b64": 2}]},
    ):
        _, found, _ = read(body, model)
        assert found == {"b64": [1, 2]}


COME = {"b64": "w4AgdG91dA=="}
NO_BASE64 = "`text` must be .* as 'b64'. Rec"
NO_INTEGER = "`ids` must be int32"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "Received: a value of type `list`"),
        (None, "`NoneType`"),
        ({"text": ["a"]}, r"'instances' or 'inputs'.*\['text'\]"),
        ({"instances": [], "inputs": []}, "either"),
        ({"instances": [], "signature": "a"}, r"Received: \['signature'\]"),
        ({"instances": {}}, "must be a list"),
        ({"instances": [], "signature_name": 5}, "Received: 5"),
        ({"instances": ["a"], "signature_name": "x"}, "'repeat', 'serving"),
        ({"inputs": ["a"], "signature_name": "repeat"}, "one input"),
        ({"instances": ["a"], "signature_name": "repeat"}, "Use 'inputs'"),
        (
            {
                "instances": [{"text": "a", "times": 2}],
                "signature_name": "repeat",
            },
            "Use 'inputs' instead.*where times is for all rows",
        ),
        ({"instances": [{"text": "a"}, "b"]}, "`str`"),
        ({"instances": ["b", {"text": "a"}]}, r"`str` and an obj.*\['text'\]"),
        ({"instances": [{"text": "a"}, {"x": "b"}]}, r"\['x'\]"),
        ({"instances": [{"b64": "%"}]}, NO_BASE64),
        ({"instances": [{"b64": "abc"}]}, NO_BASE64),
        ({"instances": [{"b64": 3}]}, NO_BASE64),
        ({"instances": [{"b64": None}]}, NO_BASE64),
        ({"inputs": {"b64": "%"}}, NO_BASE64),
        ({"instances": [{"b64": "/w=="}]}, "`text` must be string.*utf-8"),
        ({"instances": [COME], "signature_name": "square"}, NO_INTEGER),
        (
            {"inputs": [[float("nan")]], "signature_name": "square"},
            NO_INTEGER,
        ),
    ],
)
def test_a_wrong_request_is_an_error(model, body, message):
    with pytest.raises(ValueError, match=message):
        answered(body, model)


def test_outputs_without_rows_need_columns(model):
    _, _, write = read({"instances": ["a"]}, model)
    with pytest.raises(ValueError, match=r"Use 'inputs'.*text \(2,\)"):
        write({"a": np.ones(1), "text": np.array(["a", "a"], object)})


@pytest.mark.parametrize(
    "body, answer",
    [
        ({"instances": [COME, "b"]}, {"predictions": ["À TOUT", "B"]}),
        (
            {"instances": [{"text": COME}, {"text": "b"}]},
            {"predictions": ["À TOUT", "B"]},
        ),
        ({"inputs": [COME]}, {"outputs": ["À TOUT"]}),
        ({"inputs": {"text": [COME, "b"]}}, {"outputs": ["À TOUT", "B"]}),
        (
            {
                "inputs": {"text": [COME], "times": 2},
                "signature_name": "repeat",
            },
            {"outputs": ["À tout"] * 2},
        ),
    ],
)
def test_strings_may_be_in_base64(model, body, answer):
    assert answered(body, model) == answer


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 9000])
def test_what_is_no_json_is_the_error_of_the_client(model, body):
    with pytest.raises(ValueError, match="^The body is not JSON: "):
        receive_v1(Request("v1", body), model)


def test_a_missing_number_may_be_nan(tmp_path):
    model = ModelFolder(toys.forecaster(tmp_path / "load")).load()
    body = {"instances": [[[1.0, 2.0]] * 3 + [[float("nan"), 5.0]]]}
    with pytest.raises(ValueError, match=r"\[\?, 4, 2\]. Received: the shape"):
        answered({"instances": [[[1.0, 2.0]] * 3]}, model)
    [answer] = answered(body, model)["predictions"]
    assert answer["forecast"] == 3 * [[None, 5.0]]


def test_signatures_are_described_as_tensorflow_serving_does(model):
    def info(name, dtype, rank):
        dim = [{"size": "-1", "name": ""}] * rank
        shape = {"dim": dim, "unknown_rank": False}
        return {name: {"dtype": dtype, "name": name, "tensor_shape": shape}}

    rank = {"x": tf.TensorSpec(None, "int32")}
    found = describe_v1({"a": types.SimpleNamespace(inputs=rank, outputs={})})
    shape = found["a"]["inputs"]["x"]["tensor_shape"]
    assert shape == {"dim": [{"size": "-1", "name": ""}], "unknown_rank": True}
    assert describe_v1(model.signatures)["square"] == {
        "method_name": "tensorflow/serving/predict",
        "inputs": info("ids", "DT_INT32", 2),
        "outputs": info("square", "DT_FLOAT", 2) | info("total", "DT_FLOAT", 1),
    }
