import pytest
import tensorflow as tf

from kerasrnn.serving import ModelFolder
from kerasrnn.serving.corpus.line_answers import answer_columns
from kerasrnn.serving.corpus.line_answers import line_answers
from tests.serving import toys
from tests.serving.small import export_small_model


def served(path):
    return ModelFolder(path).load().signatures["serving_default"]


def test_a_translator_writes_translations(tmp_path):
    translate = served(toys.translator(tmp_path / "toy"))
    lines = ["come in please", "tea", None, "", "a\tb\rc"]
    answers = ["COME IN PLEASE", "TEA", "", "", "A B C"]
    assert line_answers(translate, lines, batch_size=2) == (answers, {})
    assert line_answers(translate, []) == ([], {})


@pytest.mark.parametrize("classes", [2, 3])
def test_a_classifier_writes_the_label_and_its_probability(classes, tmp_path):
    label = served(toys.classifier(tmp_path / "toy", classes))
    answers, _ = line_answers(label, ["a good book", "a bad book"])
    bad = {2: "negative\t0.8", 3: "negative\t0.4"}[classes]
    assert answers == ["positive\t0.9", bad]


def test_several_labels_are_lists_of_json(tmp_path):
    label = served(toys.multi_label_classifier(tmp_path / "toy"))
    lines = ["a good book", "late but good", "tea"]
    answers, _ = line_answers(label, lines, batch_size=2)
    assert answers == [
        '["good"]\t[0.75]',
        '["good", "late"]\t[0.75, 0.6]',
        "[]\t[]",
    ]


def test_a_language_model_writes_total_and_perplexity(tmp_path):
    score = served(toys.language_model(tmp_path / "toy"))
    assert line_answers(score, ["0123456789"])[0] == ["-10\t2.71828"]


def test_another_model_writes_what_has_one_value_a_line(tmp_path):
    shout = served(export_small_model(tmp_path / "shout"))
    assert answer_columns(shout) == ["loud"]
    assert line_answers(shout, ["a"])[0] == ["A"]


def test_a_model_without_such_an_output_is_refused(tmp_path):
    folder = ModelFolder(export_small_model(tmp_path / "shout")).load()
    with pytest.raises(ValueError, match=r"Received: square\(ids"):
        answer_columns(folder.signatures["square"])


def test_numbers_are_written_as_they_are(tmp_path):
    @tf.function(input_signature=[toys.TEXTS])
    def count(text):
        return {"label": text, "n": 12345678 + tf.strings.length(text)}

    counts = served(toys.export(tmp_path / "toy", {"serving_default": count}))
    assert line_answers(counts, ["a"])[0] == ["a\t12345679"]


def test_a_line_that_the_model_refuses_has_no_answer(tmp_path):
    shout = served(toys.heavy(tmp_path / "heavy"))
    lines = ["a", "bad", None, "b", "c", "very bad"]
    answers, refused = line_answers(shout, lines)
    assert answers == ["A", "", "", "B", "C", ""]
    assert list(refused) == [1, 5]
    assert all("a bad text" in reason for reason in refused.values())
