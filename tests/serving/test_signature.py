import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.serving import ModelFolder
from kerasrnn.serving import Signature
from kerasrnn.serving.signature import as_array
from tests.serving import toys
from tests.serving.small import export_small_model


@pytest.fixture(scope="module")
def signatures(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "shout"
    return ModelFolder(export_small_model(path)).load().signatures


def test_it_names_its_inputs_and_outputs(signatures):
    square = signatures["square"]
    assert isinstance(square, Signature)
    assert str(square) == (
        "square(ids: int32[?, ?]) -> square: float32[?, ?], total: float32[?]"
    )
    assert list(square.inputs) == ["ids"]
    assert list(square.outputs) == ["square", "total"]


@pytest.mark.parametrize(
    "text",
    [
        ["é", "ab"],
        [b"\xc3\xa9", b"ab"],
        np.array(["é", "ab"]),
        np.array([b"\xc3\xa9", b"ab"], dtype=object),
    ],
    ids=["str", "bytes", "array of str", "array of bytes"],
)
def test_strings_are_taken_in_every_form(signatures, text):
    answer = signatures["serving_default"](text=text)
    assert answer["loud"].tolist() == ["É", "AB"]


def test_numbers_of_a_list_take_the_dtype_of_the_input(signatures):
    answer = signatures["square"](ids=[[1, 2], [3, 0]])
    assert answer["square"].tolist() == [[1, 4], [9, 0]]
    assert answer["total"].tolist() == [5, 9]
    assert signatures["repeat"](text=["a"], times=2)["text"].shape == (2,)


def test_a_missing_float_is_nan():
    found = as_array([[1, None], [2.5, 3]], tf.float32)
    np.testing.assert_array_equal(found, np.float32([[1, np.nan], [2.5, 3]]))
    for value, dtype in (([1, None], tf.int32), ([None, "1"], tf.float32)):
        with pytest.raises(TypeError, match="values? of "):
            as_array(value, dtype)
    assert np.isnan(as_array([None], tf.bfloat16).astype("float32"))


@pytest.mark.parametrize("dtype", [tf.uint8, tf.uint64, tf.int8])
def test_integers_that_fit_are_taken(dtype):
    found = as_array([[0, 127]], dtype)
    assert found.dtype == dtype.as_numpy_dtype and found.tolist() == [[0, 127]]
    for value in (-129, 2**64 - 1 if dtype.size < 8 else -1):
        with pytest.raises(ValueError, match=f"values from {value}"):
            as_array([value], dtype)


def test_numbers_too_large_for_the_dtype_are_refused(tmp_path):
    path = toys.language_model(tmp_path / "writer")
    generate = ModelFolder(path).load().signatures["generate"]
    others = {"prompt": ["a"], "top_k": 0, "max_tokens": 1, "seed": 1}
    others |= {"top_p": 1.0, "one_sentence": False}
    assert generate(temperature=float("inf"), **others)["text"] == ["a 1"]
    with pytest.raises(ValueError, match="values from 1e\\+39"):
        generate(temperature=1e39, **others)


def test_an_empty_batch_has_an_empty_answer(signatures):
    assert signatures["serving_default"](text=[])["loud"].shape == (0,)
    empty = np.zeros((0, 3), "int32")
    assert signatures["square"](ids=empty)["square"].shape == (0, 3)


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("square", {"id": [[1]]}, "ids: int32.*Received: id"),
        ("square", {}, "Received: none"),
        ("square", {"ids": [[1]], "text": ["a"]}, "Received: ids, text"),
        ("square", {"ids": [1, 2]}, r"int32\[\?, \?\].*shape \(2,\)"),
        ("square", {"ids": [[1], [1, 2]]}, "inhomogeneous"),
        ("square", {"ids": [[1.5]]}, "dtype float64"),
        ("square", {"ids": [["1"]]}, "type `str`"),
        ("square", {"ids": [[1, True]]}, "type `bool`"),
        # As strings, they would take 4 TB.
        ("square", {"ids": [["1" * 10**6, *[1] * 10**6]]}, "type `str`"),
        ("square", {"ids": np.array([[1]], "int64")}, "dtype int64"),
        ("square", {"ids": [[1, 2**31]]}, "values from 1 to 2147483648"),
        ("square", {"ids": [[2**70]]}, "dtype object"),
        ("square", {"ids": [[0, 4]]}, "`square` cannot.*not in \\[0, 4\\)"),
        ("square", {"ids": [[-1]]}, "not in \\[0, 4\\)"),
        ("repeat", {"text": ["a"], "times": np.int64(2)}, "dtype int64"),
        ("repeat", {"text": ["a"], "times": True}, "dtype bool"),
        ("repeat", {"text": ["a"], "times": [2]}, r"int32\. .*shape \(1,\)"),
        ("serving_default", {"text": "a"}, r"string\[\?\].*shape \(\)"),
        ("serving_default", {"text": [["a"]]}, r"shape \(1, 1\)"),
        ("serving_default", {"text": [1]}, "type `int`"),
        ("serving_default", {"text": [None]}, "type `NoneType`"),
        ("serving_default", {"text": [["a"], ["b", "c"]]}, "not padded"),
        ("serving_default", {"text": [b"\xff"]}, "can't decode byte 0xff"),
        ("serving_default", {"text": ["\ud800"]}, "surrogates not allowed"),
    ],
)
def test_wrong_inputs_are_named(signatures, name, inputs, message):
    with pytest.raises(ValueError, match=message):
        signatures[name](**inputs)


def test_it_knows_which_answers_are_row_by_row(signatures, tmp_path):
    @tf.function(input_signature=[toys.TEXTS])
    def once(text):
        return {"count": tf.size(text)[None]}

    @tf.function(input_signature=[toys.TEXTS])
    def split(text):
        return {"words": tf.strings.split(text).to_tensor("")}

    assert signatures["serving_default"].by_row
    assert not signatures["square"].by_row and not signatures["repeat"].by_row
    # One has one row, whatever is asked; one is as wide as the longest row.
    given = {"serving_default": once, "split": split}
    path = toys.export(tmp_path / "other", given)
    others = ModelFolder(path).load().signatures
    assert not any(signature.by_row for signature in others.values())


def test_an_input_may_have_the_name_of_an_argument(signatures):
    with pytest.raises(ValueError, match="Received: self"):
        signatures["serving_default"](**{"self": ["a"]})
