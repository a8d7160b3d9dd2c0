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
