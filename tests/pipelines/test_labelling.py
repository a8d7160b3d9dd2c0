"""Weights, names that are numbers, and probabilities by name."""

import keras
import numpy as np
import pytest

from kerasrnn.data import LabelledTexts
from kerasrnn.models import Encoder
from kerasrnn.models import TextClassifier
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines.label_kinds import OneLabel
from kerasrnn.pipelines.label_kinds import at_temperature
from kerasrnn.pipelines.label_kinds import best_temperature
from kerasrnn.pipelines.loss_weights import weights_of_labels
from kerasrnn.tokenizers import ReviewTokenizer
from tests.helpers import one_now
from tests.helpers import randomize

TEXTS = ["a good book", "a bad book", "dull", "a fine film of a good book"]
WORDS = ReviewTokenizer.train(TEXTS)


def new_labeller(labels, max_length=8, **options):
    classes = len(labels) if len(labels) > 2 else 1
    size, pad_id = WORDS.vocabulary_size, WORDS.pad_id
    options = {"pad_id": pad_id, **options}
    encoder = Encoder(size, keras.layers.GRUCell(4), 3, **options)
    model = TextClassifier(encoder, "attention", num_classes=classes)
    model.build((None, None))
    randomize(model)
    labeller = TextLabeller(model, WORDS, labels, max_length)
    labeller.compile(keras.optimizers.SGD(0.5))
    return labeller


@pytest.fixture(scope="module")
def unchanged():
    """A labeller of short texts, for what reads it or what it refuses."""
    return new_labeller("yn", max_length=3)


def test_a_probability_has_a_weight_between_those_of_the_classes():
    found = weights_of_labels([0, 0.25, 1], {1: 3.0}, [1, 2, 1])
    assert found.tolist() == [1, 2 * 1.5, 3]


@pytest.mark.parametrize(
    "class_weight, expected",
    [
        (None, [1, 1, 1, 3]),
        ({"n": 4.0}, [1, 0.1 + 0.9 * 4, 4, 12]),
        ({1: 4.0}, [1, 0.1 + 0.9 * 4, 4, 12]),
        # One text has the first label, three have the second, one of them
        # probably.
        ("balanced", [2, 0.1 * 2 + 0.9 * 2 / 3, 2 / 3, 2]),
    ],
)
def test_weights_go_by_label_and_multiply(class_weight, expected):
    labeller = new_labeller("yn", max_length=3)
    found = labeller.validation_batches(
        (TEXTS, ["n", 0.9, "y", "n"], [3, 1, 1, 1]),
        batch_size=4,
        class_weight=class_weight,
    )
    ((ids, labels, weights),) = found
    assert ids.shape == (4, 3)
    by_label = sorted(zip(*map(np.ravel, (labels, weights)), strict=True))
    expected = list(zip([0, 0.9, 1, 1], expected, strict=True))
    np.testing.assert_allclose(by_label, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="'balanced' if labels .*balanced"):
        labeller.fit(found, class_weight="balanced")


def again(labeller, labels="yn", **options):
    """The labeller, made anew of its parts."""
    return TextLabeller(labeller.model, WORDS, list(labels), **options)


def learn(labeller, examples=TEXTS, labels=("y", "n", "n", "y"), **options):
    return labeller.fit(examples, labels, **options)


def learn_from_batches(labeller, **options):
    return labeller.fit(labeller.batches(TEXTS, [*"ynny"]), **options)


NO_TEXT = "Expected: a string. Received: "
WRONG = {
    **{
        f"weights={weights}": (
            learn,
            {"sample_weight": weights},
            "each text. R",
        )
        for weights in (
            *([1.0], [1.0, 2.0, -1.0, 1.0], [1, 1, 1, np.nan]),
            *([[1.0] * 4], ["a"] * 4),
        )
    },
    **{
        f"{name} beside batches": (
            learn_from_batches,
            {name: value},
            "addition to a dataset",
        )
        for name, value in (("sample_weight", [1.0] * 4), ("labels", [*"yyyy"]))
    },
    "equal labels": (again, {"labels": "yy"}, r"labels=\['y', 'y'\]"),
    "a number": (again, {"labels": ["y", 1]}, r"labels=\['y', 1\]"),
    "no tokens": (again, {"max_length": 0}, "max_length=0"),
    "no temperature": (again, {"temperature": 0.0}, "temperature=0.0"),
    **{
        f"threshold={threshold}": (
            lambda x, **options: x.label(["dull"], **options),
            {"threshold": threshold},
            ">= 0 and <= 1. Received: threshold=",
        )
        for threshold in (1.5, np.nan, "a", [0.5])
    },
    **{
        f"{name} of {text!a}": (
            lambda x, text, name=name: getattr(x, name)(text),
            {"text": text},
            NO_TEXT,
        )
        for name in ("explain", "hidden_states")
        for text in (["dull"], None, "\ud800")
    },
    "a weight twice": (
        learn,
        {"class_weight": {1: 2.0, "n": 3.0}},
        "a label twice.*'n': 3.0}",
    ),
    "half a label": (
        learn,
        {"class_weight": {0.5: 2.0}},
        "be labels, among .*{0.5: 2.0}",
    ),
    "no weight": (learn, {"class_weight": {"n": "a"}}, "class_weight='a'"),
    "no labels to validate on": (
        learn,
        {"validation_data": (TEXTS,)},
        r"\(texts, labels\).*Received: \(\[",
    ),
    "a dictionary": (learn, {"labels": {"y": 1}}, "`labels` must be a list"),
    "a matrix": (
        learn,
        {"labels": np.eye(4, 2)},
        "Labels must be among .* Received: ",
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.filterwarnings("ignore:.* texts were cut")
def test_what_is_wrong_is_said(name, unchanged):
    call, options, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call(unchanged, **options)


def test_a_number_that_may_be_a_name_is_refused():
    stars = [str(i) for i in range(1, 6)]
    labeller = new_labeller(stars)
    for kind in (int, float, np.int64):
        numbers = [kind(i) for i in (1, 2, 3, 4)]
        for call in labeller.evaluate, labeller.fit:
            with pytest.raises(ValueError, match=r"Expected: names.*'1', '2'"):
                call(TEXTS, numbers)
    with pytest.raises(ValueError, match="names are|names of the labels"):
        labeller.fit(TEXTS, list("1234"), class_weight={1: 2.0})
    right = labeller.label(TEXTS)
    assert labeller.evaluate(TEXTS, right)["accuracy"] == 1.0
    # Where a name is its own number, both mean the same.
    labeller = new_labeller(["0", "1", "2"])
    right = labeller.label(TEXTS)
    for kind in (int, float, np.int64):
        assert labeller.numbers([kind(i) for i in right]) == list(
            map(int, right)
        )
    # And no name is a half.
    assert new_labeller(["1", "2"]).numbers([0.5]) == [0.5]


@pytest.mark.parametrize("labels", ["yn", "xyz"])
def test_every_label_has_its_probability(labels):
    labeller = new_labeller(labels)
    found = labeller.label_probabilities(TEXTS, batch_size=3)
    assert [[*x] for x in found] == [[*labels]] * len(TEXTS)
    np.testing.assert_allclose([sum(x.values()) for x in found], 1, rtol=1e-5)
    assert [max(x, key=x.get) for x in found] == labeller.label(TEXTS)
    last = labeller.probabilities(TEXTS).reshape(len(TEXTS), -1)[:, -1]
    np.testing.assert_allclose([x[labels[-1]] for x in found], last)


@pytest.mark.parametrize("name", ["explain", "hidden_states", "gradient_norms"])
def test_a_text_that_is_cut_is_told(name, unchanged):
    with pytest.warns(UserWarning, match="1 of 1 texts were cut after 3 tok"):
        getattr(unchanged, name)(TEXTS[3])
    getattr(unchanged, name)(TEXTS[0])


@pytest.mark.parametrize("labels", one_now(["xyz", "yn"]))
def test_words_speak_for_a_label_or_against_it(labels):
    """Their weights are the change of the log odds where embeddings shrink."""
    labeller = new_labeller(labels)
    text = TEXTS[3]
    words, weights = labeller.explain(text, labels[0])
    assert words == text.split()[: len(words)]

    def log_odds(scale, place):
        table = labeller.model.encoder.embedding.embeddings
        before = table.numpy()
        changed, row = before.copy(), WORDS.vocabulary.index(words[place])
        changed[row] *= scale
        table.assign(changed)
        found = labeller.label_probabilities([text])[0][labels[0]]
        table.assign(before)
        return np.log(found / (1 - found))

    place = words.index("fine")
    step = 0.02
    slope = (log_odds(1 + step, place) - log_odds(1 - step, place)) / (2 * step)
    assert weights[place] == pytest.approx(slope, rel=0.05)
    if len(labels) == 2:
        _, other = labeller.explain(text, labels[1])
        np.testing.assert_allclose(other, -weights, rtol=1e-5)
    with pytest.raises(ValueError, match="Received: label='no'"):
        labeller.explain(text, "no")


def test_calibration_changes_no_label():
    labeller = new_labeller("xyz")
    before, label = labeller.probabilities(TEXTS), labeller.label(TEXTS)
    for _ in range(2):
        # The second time, it starts from the temperature of the first.
        temperature = labeller.calibrate(iter(TEXTS), list("xyzx"))
        assert labeller.temperature == temperature != 1.0
        expected = best_temperature(before, np.array([0, 1, 2, 0]))
        assert temperature == pytest.approx(expected)
    after = labeller.probabilities(TEXTS)
    expected = at_temperature(before, temperature)
    np.testing.assert_allclose(after, expected, rtol=1e-4)
    assert labeller.label(TEXTS) == label


@pytest.mark.parametrize("labels", [["x"], []])
def test_to_calibrate_it_needs_a_label_for_each_text(labels):
    labeller = new_labeller("xyz")
    labeller.temperature = 2.0
    with pytest.raises(ValueError, match=f"and {len(labels)} labels"):
        labeller.calibrate(TEXTS[: 2 * len(labels)], labels)
    assert labeller.temperature == 2.0


def test_it_may_not_know():
    labeller = new_labeller("xyz")
    certainty = labeller.probabilities(TEXTS).max(axis=1)
    limit = float(np.sort(certainty)[1:3].mean())
    found = labeller.label(TEXTS, threshold=limit)
    assert [x is None for x in found] == (certainty < limit).tolist()
    assert found.count(None) == 2
    assert labeller.label([], threshold=limit) == []


def test_a_report_shows_labels_and_doubts(tmp_path):
    labeller, true, names = new_labeller("xyz"), [0, 1, 2, 0], "xyz"
    labeller.temperature = 0.02  # surer than it is right
    facts, pictures = labeller.task().report(
        LabelledTexts(TEXTS, true), tmp_path
    )
    found = labeller.label(TEXTS)
    expected = [names[n] for n in true]
    assert facts["samples"] == list(zip(TEXTS, expected, found, strict=True))
    shares = labeller.probabilities(TEXTS)[range(4), true]
    doubts = [(TEXTS[n], expected[n]) for n in np.argsort(shares)]
    count = (shares < 0.05).sum()
    assert 0 < count < 4
    assert [x[:2] for x in facts["doubtful"]] == doubts[:count]
    # Of the longest text.
    norms = labeller.gradient_norms(TEXTS[3])
    np.testing.assert_allclose(facts["gradient_norms"], norms)
    counts = np.zeros((3, 3))
    np.add.at(counts, (true, [names.index(x) for x in found]), 1)
    shades = pictures["confusion"].axes[0].images[0].get_array()
    np.testing.assert_allclose(shades, counts / counts.sum(1, keepdims=True))


def test_the_scores_of_each_label():
    names, true = ["x", "y", "z"], [0, 0, 1, 1]
    found = np.eye(3)[[0, 1, 1, 1]]
    scores = OneLabel(names, 3).scores(true, found)
    assert scores["by_label"]["x"] == {
        **{"precision": 1.0, "recall": 0.5, "f1": 2 / 3, "support": 2},
    }
    assert scores["by_label"]["y"]["precision"] == 2 / 3
    assert (
        scores["by_label"]["z"]["f1"] == scores["by_label"]["z"]["support"] == 0
    )
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 0.8 + 0) / 3)
    assert scores["accuracy"] == 0.75


def test_probabilities_as_labels_are_scored_as_they_are_trained_on():
    labeller = new_labeller("yn")
    shares = [0.1, 0.9, 1, 0.4]
    found = labeller.evaluate(TEXTS, shares)
    p = labeller.probabilities(TEXTS)
    expected = keras.losses.binary_crossentropy(np.array(shares), p)
    assert found["loss"] == pytest.approx(float(expected), rel=1e-4)
    rounded = labeller.evaluate(TEXTS, [0, 1, 1, 0])
    for name in ("accuracy", "confusion", "by_label"):
        assert found[name] == rounded[name]
    task = labeller.task()
    rows = LabelledTexts(TEXTS, shares)
    assert task.row_scores(rows)["loss"] == found["loss"]


def test_labels_are_smoothed():
    logits, true = np.array([[2.0, 0.0, -1.0]]), np.array([[1]])
    log = logits[0] - np.log(np.exp(logits[0]).sum())
    smooth = np.array([0.1, 0.8, 0.1])
    labeller = new_labeller("xyz")
    loss = labeller.default_loss(0.3)
    assert float(loss(true, logits)) == pytest.approx(-(smooth * log).sum())
    again = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(loss)
    )
    assert float(again(true, logits)) == pytest.approx(
        float(loss(true, logits))
    )
    assert new_labeller("yn").default_loss(0.3).label_smoothing == 0.3
