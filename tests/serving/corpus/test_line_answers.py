import functools

import pytest
import tensorflow as tf

from kerasrnn.serving import ModelFolder
from kerasrnn.serving.corpus.line_answers import answer_columns
from kerasrnn.serving.corpus.line_answers import line_answers
from tests.serving import toys
from tests.serving.small import export_small_model


def served(path):
    return ModelFolder(path).load().signatures["serving_default"]


@tf.function(input_signature=[toys.TEXTS])
def count(text):
    return {"label": text, "n": 12345678 + tf.strings.length(text)}


@pytest.mark.parametrize(
    ("export", "answers"),
    [
        (
            toys.translator,
            {
                "come in please": "COME IN PLEASE",
                "tea": "TEA",
                None: "",
                "": "",
                "a\tb\rc": "A B C",
            },
        ),
        (toys.translator, {}),
        (
            toys.classifier,
            {"a good book": "positive\t0.9", "a bad book": "negative\t0.8"},
        ),
        (
            functools.partial(toys.classifier, classes=3),
            {"a good book": "positive\t0.9", "a bad book": "negative\t0.4"},
        ),
        (
            toys.multi_label_classifier,
            {
                "a good book": '["good"]\t[0.75]',
                "late but good": '["good", "late"]\t[0.75, 0.6]',
                "tea": "[]\t[]",
            },
        ),
        (toys.language_model, {"0123456789": "-10\t2.71828"}),
        # All outputs of other models with a value for each line.
        (export_small_model, {"a": "A"}),
        (
            lambda path: toys.export(path, {"serving_default": count}),
            {"a": "a\t12345679"},
        ),
    ],
)
def test_each_kind_of_model_has_its_line(tmp_path, export, answers):
    signature = served(export(tmp_path / "toy"))
    found = line_answers(signature, [*answers], batch_size=2)
    assert found == ([*answers.values()], {})


def test_a_model_without_such_an_output_is_refused(tmp_path):
    folder = ModelFolder(export_small_model(tmp_path / "shout")).load()
    with pytest.raises(ValueError, match=r"Received: square\(ids"):
        answer_columns(folder.signatures["square"])


def test_a_line_that_the_model_refuses_has_no_answer(tmp_path, monkeypatch):
    def fail(inputs):
        raise ValueError("too\tlong\nfor it")

    shout = served(toys.heavy(tmp_path / "heavy"))
    lines = ["a", "bad", None, "b", "c", "very bad"]
    answers, refused = line_answers(shout, lines)
    assert answers == ["A", "", "", "B", "C", ""]
    reason = "`serving_default` cannot take these inputs: a bad text"
    assert refused == {1: reason, 5: reason}
    monkeypatch.setattr(shout, "arrays", fail)
    assert line_answers(shout, ["a"]) == ([""], {0: "too long for it"})
