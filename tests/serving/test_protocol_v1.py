import numpy as np
import pytest

from kerasrnn.serving import ModelFolder
from kerasrnn.serving.protocol_v1 import read_v1
from kerasrnn.serving.protocol_v1 import write_v1
from tests.serving.small import export_small_model


@pytest.fixture(scope="module")
def signatures(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "shout"
    return ModelFolder(export_small_model(path)).load().signatures


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
            {"instances": [], "signature_name": "serving_default"},
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
def test_rows_and_columns(signatures, body, name, inputs, answer):
    signature, found = read_v1(body, signatures)
    assert (signature.name, found) == (name, inputs)
    assert write_v1(body, signature(**found)) == answer


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
        ({"instances": ["a"], "signature_name": "repeat"}, "one input"),
        ({"instances": [{"text": "a"}, "b"]}, "`str`"),
        ({"instances": [{"text": "a"}, {"x": "b"}]}, r"\['x'\]"),
    ],
)
def test_a_wrong_request_is_an_error(signatures, body, message):
    with pytest.raises(ValueError, match=message):
        read_v1(body, signatures)


def test_outputs_without_rows_need_columns():
    with pytest.raises(ValueError, match=r"Use 'inputs'.*text \(2,\)"):
        write_v1({"instances": ["a"]}, {"text": np.array(["a", "a"])})


COME = {"b64": "w4AgdG91dA=="}


@pytest.mark.parametrize(
    "body, outputs",
    [
        ({"instances": [COME, "b"]}, {"loud": ["À TOUT", "B"]}),
        (
            {"instances": [{"text": COME}, {"text": "b"}]},
            {"loud": ["À TOUT", "B"]},
        ),
        ({"inputs": [COME]}, {"loud": ["À TOUT"]}),
        ({"inputs": {"text": [COME, "b"]}}, {"loud": ["À TOUT", "B"]}),
        (
            {
                "inputs": {"text": [COME], "times": 2},
                "signature_name": "repeat",
            },
            {"repeated": ["À tout"] * 2},
        ),
    ],
)
def test_strings_may_be_in_base64(signatures, body, outputs):
    signature, inputs = read_v1(body, signatures)
    found = signature(**inputs)
    assert [x.tolist() for x in found.values()] == [*outputs.values()]


@pytest.mark.parametrize(
    "wrong", [{"b64": "%"}, {"b64": "abc"}, {"b64": 3}, {"b64": None}]
)
def test_what_is_no_base64_is_the_error_of_the_client(signatures, wrong):
    with pytest.raises(ValueError, match="`text` must be .* in base64. Rec"):
        read_v1({"instances": [wrong]}, signatures)


def test_text_in_base64_is_utf_8(signatures):
    signature, inputs = read_v1({"instances": [{"b64": "/w=="}]}, signatures)
    with pytest.raises(ValueError, match="`text` must be string.*utf-8"):
        signature(**inputs)
    signature, inputs = read_v1(
        {"instances": [COME], "signature_name": "square"}, signatures
    )
    with pytest.raises(ValueError, match="`ids` must be int32"):
        signature(**inputs)
