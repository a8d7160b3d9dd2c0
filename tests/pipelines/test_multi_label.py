"""A classifier of texts that have several labels, or none."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import LabelledTexts
from kerasrnn.models import Encoder
from kerasrnn.models import TextClassifier
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines.label_kinds import SeveralLabels
from kerasrnn.pipelines.label_kinds import best_temperature
from kerasrnn.tokenizers import ReviewTokenizer
from tests.helpers import assert_close
from tests.helpers import one_now
from tests.helpers import randomize

NAMES = ("fine", "poor", "long")
TEXTS = ["a good book", "a bad book", "dull", "a fine film of a good book"]
TAGS = [["fine"], ["poor"], [], ["long", "fine"]]
HAS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1]])
WORDS = ReviewTokenizer.train(TEXTS)


def new_labeller(names=NAMES, summary="attention", **options):
    size, pad_id = WORDS.vocabulary_size, WORDS.pad_id
    cell = keras.layers.SimpleRNNCell(4)
    encoder = Encoder(size, cell, 3, bidirectional=False, pad_id=pad_id)
    model = TextClassifier(encoder, summary, num_classes=len(names))
    model.build((None, None))
    randomize(model)
    return TextLabeller(
        model,
        WORDS,
        names,
        8,
        multi_label=True,
        **{"thresholds": 0.5} | options,
    )


@pytest.fixture(scope="module")
def unchanged():
    """A labeller for what reads it, or what it refuses."""
    return new_labeller()


def sigmoids(labeller, temperature=1.0):
    ids = WORDS.tokenize(tf.constant(TEXTS)).to_tensor(WORDS.pad_id)
    return tf.sigmoid(labeller.model(ids) / temperature).numpy()


@pytest.mark.parametrize("names", one_now([(NAMES,), (("a", "b"),), (("a",),)]))
def test_each_label_has_a_sigmoid_and_a_threshold(names):
    labeller = new_labeller(names)
    expected = sigmoids(labeller)
    found = labeller.probabilities(TEXTS, batch_size=3)
    assert_close(found, expected)
    labeller.thresholds = tuple(np.median(expected, axis=0).tolist())
    served = labeller.signatures["serving_default"](tf.constant(TEXTS))
    assert_close(served["probability"], expected)
    is_above = expected > np.median(expected, axis=0)
    assert (served["label"].numpy() != b"").tolist() == is_above.tolist()
    for row, of_text, above in zip(
        expected, labeller.label(TEXTS), is_above, strict=True
    ):
        named = {
            name: probability
            for name, probability, has in zip(names, row, above, strict=True)
            if has
        }
        assert of_text == pytest.approx(named, rel=1e-4)
        assert [*of_text.values()] == sorted(of_text.values(), reverse=True)
    assert labeller.label([]) == []
    assert labeller.probabilities([]).shape == (0, len(names))


def test_thresholds_are_for_all_or_for_each():
    labeller = new_labeller()
    chosen = labeller.label(TEXTS, threshold=0.0)
    assert [{*x} for x in chosen] == [{*NAMES}] * 4
    assert labeller.label(TEXTS, threshold=1) == [{}] * 4
    only = {"poor": 0.0, "fine": 1.0, "long": 1.0}
    assert [[*x] for x in labeller.label(TEXTS, threshold=only)] == (
        [["poor"]] * 4
    )
    assert new_labeller(thresholds=only).thresholds == (1.0, 0.0, 1.0)
    few, more = {"fine": 0.5}, {**only, "new": 0.1}
    for wrong in (1.5, [0.5], ["a"] * 3, few, more):
        with pytest.raises(ValueError, match="one for each of.*Received"):
            labeller.label(TEXTS, threshold=wrong)
        with pytest.raises(ValueError, match="one for each of.*Received"):
            new_labeller(thresholds=wrong)


@pytest.mark.parametrize("labels", [TAGS, HAS.astype(float)])
def test_what_it_is_trained_on(labels, unchanged):
    labeller = unchanged
    found = {}
    weights = [1.0, 2.0, 3.0, 4.0]
    for batches in (
        labeller.batches(TEXTS, labels, 2, seed=1),
        labeller.batches(TEXTS, labels, 2, sample_weight=weights),
    ):
        for ids, has, *weight in batches:
            lengths = np.sum(ids.numpy() != WORDS.pad_id, axis=1)
            for place, length in enumerate(lengths.tolist()):
                found.setdefault((length, *has[place].numpy().tolist()), [])
                found[length, *has[place].numpy().tolist()] += [
                    float(x[place]) for x in weight
                ]
    assert found == {
        (len(text.split()), *row): [weight]
        for text, row, weight in zip(TEXTS, HAS.tolist(), weights, strict=True)
    }
    logits = np.array([[2.0, -1.0, 0.5]], "float32")
    loss = labeller.default_loss(0.1)(HAS[:1], logits)
    smooth = 0.9 * HAS[0] + 0.05
    costs = np.log1p(np.exp(-logits)) * smooth
    costs += np.log1p(np.exp(logits)) * (1 - smooth)
    assert float(loss) == pytest.approx(costs.mean())
    [metric] = labeller.default_metrics()
    assert float(metric(HAS[:1], logits)) == pytest.approx(2 / 3)
    assert float(labeller.default_metrics()[0](HAS[:1], logits - 1)) == 1


WRONG = {
    "one name": ["fine", "poor", "dull", "fine"],
    "an unknown name": [["fine"], ["dull"], [], []],
    "numbers": [[0], [1], [], [0, 2]],
    "lists of lists": [[["fine"]]] * 4,
    "another shape": HAS[:, :2],
    "other numbers": HAS * 2,
    "probabilities": HAS * 0.9,
    "probabilities by name": [{"fine": 0.9}, {}, {}, {"poor": 0.1}],
    "too few": TAGS[:2],
}


@pytest.mark.parametrize("kind", WRONG)
def test_other_labels_are_refused(kind, unchanged):
    labeller = unchanged
    calls = labeller.evaluate, labeller.fit, labeller.tune_thresholds
    for call in (*calls, labeller.calibrate):
        with pytest.raises(ValueError, match="Received: "):
            call(TEXTS, WRONG[kind])
    assert labeller.temperature == 1.0


def single(labeller):
    """One of the same model, whose labels exclude each other."""
    return TextLabeller(labeller.model, WORDS, NAMES)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda x: x.fit(TEXTS, TAGS, class_weight={"fine": 2.0}),
            "`sample_weight`.*class_weight={'fi",
        ),
        (
            lambda x: single(x).tune_thresholds(TEXTS, ["fine"] * 4),
            "Received: multi_label=False",
        ),
        (
            lambda x: single(x).label(TEXTS, threshold={"fine": 0.5}),
            "`threshold` must be a finite",
        ),
        (
            lambda x: TextLabeller(x.model, WORDS, NAMES[:2], multi_label=True),
            "`labels` must be 3 distinct, non-empty",
        ),
    ],
    ids=["weights", "thresholds", "a threshold", "labels"],
)
def test_what_needs_one_label_or_several_says_so(call, message, unchanged):
    with pytest.raises(ValueError, match=message):
        call(unchanged)


def test_scores_are_those_of_scikit_learn():
    from sklearn import metrics

    rng = np.random.default_rng(3)
    probabilities = rng.random((50, 3)).astype("float32")
    true = rng.random((50, 3)) < (0.5, 0.1, 0.0)
    found = probabilities > 0.6
    scores = SeveralLabels(NAMES, (0.6,) * 3).scores(true, probabilities)
    options = {"zero_division": 0.0}
    for name in ("micro", "macro"):
        expected = metrics.f1_score(true, found, average=name, **options)
        assert scores[f"{name}_f1"] == pytest.approx(expected)
    assert scores["subset_accuracy"] == pytest.approx(
        metrics.accuracy_score(true, found)
    )
    expected = metrics.log_loss(
        true.ravel(), probabilities.ravel().astype(float)
    )
    assert scores["loss"] == pytest.approx(expected, rel=1e-5)
    columns = metrics.precision_recall_fscore_support(true, found, **options)
    for name, *expected in zip(NAMES, *columns, strict=True):
        assert [*scores["by_label"][name].values()] == pytest.approx(expected)


def test_the_log_odds_of_a_label_are_its_logit():
    is_label = np.array([[False, True, False], [True, False, False]])
    logits = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]], "float32")
    found = SeveralLabels(NAMES, (0.5,) * 3).log_odds(logits, is_label)
    assert found.numpy().tolist() == [2, 8]


def test_calibration_changes_thresholds_and_no_label():
    labeller = new_labeller(thresholds=[0.3, 0.5, 0.6], temperature=0.1)
    before = labeller.probabilities(TEXTS)
    assert_close(before, sigmoids(labeller, 0.1))
    labels = [[*x] for x in labeller.kind.chosen(before, None)]
    temperature = labeller.calibrate(TEXTS, TAGS)
    # Whatever it was before.
    decisions = labeller.kind.decisions(HAS, sigmoids(labeller))
    assert temperature == pytest.approx(best_temperature(*decisions))
    found = labeller.probabilities(TEXTS)
    assert_close(found, sigmoids(labeller, temperature))
    assert [[*x] for x in labeller.kind.chosen(found, None)] == labels
    odds = np.log([0.3 / 0.7, 1.0, 0.6 / 0.4]) * 0.1 / temperature
    assert labeller.thresholds == pytest.approx(1 / (1 + np.exp(-odds)))


def test_its_file_and_a_client_know_the_thresholds():
    labeller = new_labeller(thresholds=[0.3, 0.5, 0.6])
    again = TextLabeller.from_config(labeller.get_config())
    assert again.multi_label and again.thresholds == (0.3, 0.5, 0.6)
    facts = labeller.served_facts()
    assert facts["multi_label"] is True and facts["labels"] == [*NAMES]
    assert facts["thresholds"] == {"fine": 0.3, "poor": 0.5, "long": 0.6}


def test_a_run_is_told_the_labels_of_each_text(tmp_path, capsys):
    labeller = new_labeller()
    texts = [*TEXTS[:3], TEXTS[3].replace(" ", "<br /><br />", 1)]
    rows = LabelledTexts(texts, [(0,), (1,), (), (0, 2)])
    task = labeller.task()
    scores = task.row_scores(rows)
    expected = labeller.evaluate(TEXTS, TAGS)
    assert scores["by_label"] == expected["by_label"]
    assert f"macro F1 {100 * scores['macro_f1']:.1f}" in task.headline(scores)
    kernel, _ = labeller.model.output_projection.get_weights()
    bias = np.array([9.0, -9.0, 0.0], "float32")
    labeller.model.output_projection.set_weights([0 * kernel, bias])
    facts, pictures = labeller.task().report(rows, tmp_path)
    assert facts["samples"][2] == ("dull", "(no label)", "fine")
    shown = TEXTS[3].replace(" ", "\n", 1)
    assert facts["samples"][3][:2] == (shown, "fine, long")
    doubtful = {(text, label) for text, label, _ in facts["doubtful"]}
    assert doubtful == {
        *((text, "not fine") for text in ("a bad book", "dull")),
        ("a bad book", "poor"),
    }
    assert max(x[2] for x in facts["doubtful"]) < 0.001
    assert "whose label may be wrong" in capsys.readouterr().out
    assert {"by_label", "reliability"} < pictures.keys()
    assert "confusion" not in pictures
    (axes, *_) = pictures["words"].axes
    # Of the longest, the nearest to 600 characters.
    longest = max(range(4), key=lambda i: len(texts[i]))
    title = "true: {1}; predicted: {2}".format(*facts["samples"][longest])
    # `fine` is the most probable label.
    assert axes.get_title("left") == f"{title}; blue supports 'fine'"
    before = facts["thresholds"]
    assert before == dict.fromkeys(NAMES, 0.5)
    found = task.tune_thresholds(rows)
    assert "optimistic" in capsys.readouterr().out and found != before
