import json
import types

import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("orjson", reason="needs the extra `serve`")

from kerasrnn.serving import ModelFolder  # noqa: E402
from kerasrnn.serving.http.protocol_v2 import describe_v2  # noqa: E402
from kerasrnn.serving.http.protocol_v2 import receive_v2  # noqa: E402
from kerasrnn_commands.messages import Request  # noqa: E402
from tests.serving.small import export_small_model  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "shout"
    return ModelFolder(export_small_model(path, version=3)).load()


def tensor(name="text", datatype="BYTES", data=("a",), shape=None):
    shape = [len(data)] if shape is None else shape
    return {
        "name": name,
        "datatype": datatype,
        "shape": shape,
        "data": list(data),
    }


def read(body, model, binary=b""):
    header = json.dumps(body).encode()
    length = len(header) if binary else None
    return receive_v2(Request("v2", header + binary, length), model)


def answered(body, model, binary=b""):
    signature, inputs, write = read(body, model, binary)
    return write(signature(**inputs))


def test_strings_go_in_and_come_out(model):
    body = {"id": "7", "inputs": [tensor(data=["é", "ab"])]}
    assert json.loads(answered(body, model).body) == {
        "model_name": "shout",
        "model_version": "3",
        "id": "7",
        "outputs": [tensor("loud", data=["É", "AB"])],
    }


def test_a_parameter_chooses_the_signature_and_names_the_outputs(model):
    body = {
        "parameters": {"signature": "square"},
        "inputs": [tensor("ids", "INT32", [1, 2, 3, 0], [2, 2])],
        "outputs": [{"name": "total"}, {"name": "square"}],
    }
    assert json.loads(answered(body, model).body)["outputs"] == [
        tensor("total", "FP32", [5.0, 9.0]),
        tensor("square", "FP32", [1.0, 4.0, 9.0, 0.0], [2, 2]),
    ]


def test_scalars_and_empty_batches(model):
    body = {
        "parameters": {"signature": "repeat"},
        "inputs": [tensor(), tensor("times", "INT32", [3], [])],
    }
    [output] = json.loads(answered(body, model).body)["outputs"]
    assert output["data"] == ["a"] * 3
    body = {"inputs": [tensor(data=[])]}
    [output] = json.loads(answered(body, model).body)["outputs"]
    assert (output["data"], output["shape"]) == ([], [0])


def packed(*texts):
    return b"".join(
        len(text).to_bytes(4, "little") + text
        for text in (text.encode() for text in texts)
    )


def binary(name, datatype, shape, size):
    parameters = {"binary_data_size": size}
    return {
        "name": name,
        "datatype": datatype,
        "shape": shape,
        "parameters": parameters,
    }


def test_tensors_travel_in_binary_too(model):
    texts = packed("é", "ab")
    body = {
        "inputs": [binary("text", "BYTES", [2], len(texts))],
        "parameters": {"binary_data_output": True},
    }
    answer = answered(body, model, texts)
    header = json.loads(answer.body[: answer.header_length])
    assert header["outputs"] == [
        binary("loud", "BYTES", [2], len(packed("É", "AB")))
    ]
    assert answer.body[answer.header_length :] == packed("É", "AB")
    # In the order of the request.
    body = {
        "inputs": [
            binary("times", "INT32", [], 4),
            binary("text", "BYTES", [1], 5),
        ],
        "parameters": {"signature": "repeat"},
    }
    answer = answered(body, model, b"\2\0\0\0" + packed("a"))
    assert json.loads(answer.body)["outputs"] == [tensor(data=["a", "a"])]


@pytest.mark.parametrize("all_binary", [False, True])
def test_an_output_alone_may_be_binary(model, all_binary):
    """What it says of itself goes before what the request says of all."""
    ids = np.array([[1, 2]], "int32").tobytes()
    others = {"signature": "square", "binary_data_output": all_binary}
    total, square = (
        {"parameters": {"binary_data": x}} if x is not all_binary else {}
        for x in (False, True)
    )
    body = {
        "parameters": others,
        "inputs": [binary("ids", "INT32", [1, 2], len(ids))],
        "outputs": [{"name": "total", **total}, {"name": "square", **square}],
    }
    answer = answered(body, model, ids)
    total, square = json.loads(answer.body[: answer.header_length])["outputs"]
    assert total == tensor("total", "FP32", [5.0])
    assert square == binary("square", "FP32", [1, 2], 8)
    found = np.frombuffer(answer.body[answer.header_length :], "float32")
    assert found.tolist() == [1.0, 4.0]


def test_signatures_are_described(model):
    square = describe_v2(model.signatures)["square"]
    assert square["inputs"] == [
        {"name": "ids", "datatype": "INT32", "shape": [-1, -1]}
    ]
    assert square["outputs"][1] == (
        {"name": "total", "datatype": "FP32", "shape": [-1]}
    )
    half = {"x": tf.TensorSpec([None, 2], "bfloat16")}
    half = types.SimpleNamespace(inputs=half, outputs={})
    assert describe_v2({"half": half})["half"]["inputs"] == [
        {"name": "x", "datatype": "BF16", "shape": [-1, 2]}
    ]


def square(data):
    return {
        "parameters": {"signature": "square"},
        "inputs": [tensor("ids", "INT32", data, [1, 1])],
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"inputs": [tensor("txt")]}, "text: string[?]"),
        ({"inputs": []}, "inputs []"),
        ({"inputs": [tensor(), tensor()]}, "['text', 'text']"),
        ({"inputs": [tensor(datatype="INT32", data=[1])]}, "datatype INT32"),
        ({"inputs": [tensor(shape=[0])]}, "array of size 1 into shape (0,)"),
        # Their product would take minutes.
        ({"inputs": [tensor(shape=[2**63] * 100_000)]}, "found 100000"),
        ({"inputs": [tensor(shape=[-1])]}, "Received: the shape [-1]"),
        ({"inputs": [tensor(shape="a")]}, "shape a"),
        ({"inputs": [tensor(shape=[1, 1])]}, "shape (1, 1)"),
        # Another order of the same numbers.
        ({"inputs": [tensor(data=[["a", "b"]], shape=[2])]}, "shape [1, 2]"),
        ({"inputs": [tensor(data=[1])]}, "type `int`"),
        ({"inputs": [tensor(data=["\ud800"])]}, "surrogate"),
        ({"inputs": [{"name": 1}]}, "objects with names"),
        ({"inputs": [tensor()], "outputs": [{"name": "x"}]}, "outputs ['x']"),
        ({"inputs": [tensor()], "parameters": {"signature": "x"}}, "'square'"),
        ({"inputs": [tensor()], "parameters": 1}, "Received: 1"),
        ({"inputs": [tensor()], "id": [1]}, "Received: [1]"),
        ({"inputs": {}}, "Open Inference Protocol"),
        ({"instances": []}, "Open Inference Protocol"),
        ([], "Open Inference Protocol"),
        (square([float("nan")]), "; use `null`"),
        (square([1.5]), "dtype float64"),
        (square(["1"]), "type `str`"),
        (square([2**40]), "values from"),
        (square([True]), "type `bool`"),
        (square([-1]), "not in [0, 4)"),
    ],
)
def test_a_wrong_request_is_an_error(model, body, message):
    with pytest.raises(ValueError) as error:
        answered(body, model)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"inputs": [binary("text", "BYTES", [1], "4")]}, "binary_data_size"),
        ({"inputs": [binary("text", "BYTES", [1], 99)]}, "5 of 99 bytes"),
        ({"inputs": [binary("text", "BYTES", [1], -1)]}, "of -1 bytes"),
        ({"inputs": [binary("text", "BYTES", [2], 5)]}, "shape (2,)"),
        ({"inputs": [binary("text", "BYTES", [1], 3)]}, "3 of 4 bytes"),
        ({"inputs": [binary("text", "BYTES", [0], 0)]}, "5 more bytes"),
        ({"inputs": [tensor()]}, "5 more bytes"),
        (
            {"inputs": [binary("text", "BYTES", [1], 5) | {"data": ["b"]}]},
            "both data and binary_data_size",
        ),
    ],
)
def test_wrong_binary_tensors_are_an_error(model, body, message):
    with pytest.raises(ValueError) as error:
        answered(body, model, packed("a"))
    assert message in str(error.value)


def test_a_byte_that_is_no_boolean_is_an_error():
    flags = {"flag": tf.TensorSpec([3], tf.bool)}
    signature = types.SimpleNamespace(inputs=flags, outputs={})
    model = types.SimpleNamespace(
        name="flags", version="1", signatures={"serving_default": signature}
    )
    body = {"inputs": [binary("flag", "BOOL", [3], 3)]}
    _, inputs, _ = read(body, model, b"\0\1\1")
    assert inputs["flag"].tolist() == [False, True, True]
    with pytest.raises(ValueError, match="other bytes than 0 and 1"):
        read(body, model, b"\0\1\2")
