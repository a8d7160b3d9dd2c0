import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.models import DecoderSummary
from kerasrnn.models import Encoder
from kerasrnn.models import TextClassifier
from kerasrnn.pipelines import TextLabeller
from kerasrnn.tokenizers import ReviewTokenizer
from tests.helpers import assert_close
from tests.helpers import one_now
from tests.helpers import randomize

TOKENIZER = ReviewTokenizer.train(
    ["a fine film", "a dull film", "not a fine story", "dull and long"]
)
PAD = 1
pytestmark = pytest.mark.filterwarnings("ignore:.* texts were cut")

TEXTS = ["A fine film!", "dull", "", "not zzz a film, tbh", "<br /> long"]
STRANGE = {
    "empty": [""],
    "only HTML": ["<br /><p></p>"],
    "only emoji": ["😀👍🏽"],
    "invisible": ["\u200b\u2800\ufe0f"],
    "many words": ["a fine film " * 1000],
    "one long word": ["x" * 1_000_000, "film"],
    "invalid": [b"\xff\xfe film \xc3"],
    "empty batch": [],
    "several": TEXTS,
}


def classifier(summary="attention", **options):
    encoder = Encoder(
        TOKENIZER.vocabulary_size,
        keras.layers.GRUCell(4),
        embedding_dim=3,
        bidirectional=summary != "decoder",
        pad_id=PAD,
    )
    if summary == "decoder":
        summary = DecoderSummary(encoder.cell, "general")
    model = TextClassifier(encoder, summary, **options)
    model.build((None, None))
    randomize(model)
    return model


def labeller_of(summary, **options):
    return TextLabeller(classifier(summary), TOKENIZER, **options)


@pytest.fixture(scope="module", params=one_now(["last", "attention"]))
def labeller(request):
    return labeller_of(request.param)


def strings(texts):
    return tf.constant(texts, tf.string)


def probability(labeller, ids):
    logits = labeller.model(np.array(ids, "int32")).numpy()[:, 0]
    return 1 / (1 + np.exp(-logits))


def padded(texts):
    return TOKENIZER.tokenize(strings(texts)).to_tensor(PAD).numpy()


def test_a_label_is_the_model_on_the_ids(labeller):
    found = labeller.signatures["serving_default"](strings(TEXTS))
    expected = probability(labeller, padded(TEXTS))
    assert_close(found["probability"], expected)
    labels = np.where(expected > 0.5, b"positive", b"negative")
    assert found["label"].numpy().tolist() == labels.tolist()


def test_no_more_words_are_read_than_the_limit(labeller):
    labeller = TextLabeller(labeller.model, TOKENIZER, max_length=2)
    expected = probability(labeller, padded(TEXTS)[:, :2])
    texts, answers = strings(TEXTS), labeller.signatures
    found = [answers["label_ids"](padded(TEXTS))]
    found += [answers[name](texts) for name in ("serving_default", "explain")]
    for answer in found:
        assert_close(answer["probability"], expected)
        np.testing.assert_array_equal(answer["label"], found[0]["label"])
    for read in labeller.explain, labeller.hidden_states:
        assert read("not a fine film")[0] == ["not", "a"]
    assert len(labeller.gradient_norms("not a fine film")) == 2


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0)])
def test_no_ids_are_labelled(labeller, shape):
    found = labeller.signatures["label_ids"](tf.zeros(shape, tf.int32))
    empty = labeller.signatures["serving_default"](strings([""]))[
        "probability"
    ].numpy()
    np.testing.assert_allclose(found["probability"], [*empty] * shape[0])


def test_probabilities_keep_the_order(labeller):
    texts = [" ".join(["fine", "dull", "film"] * n)[: 7 * n] for n in range(7)]
    texts = [texts[n] for n in (3, 0, 6, 1, 5, 2, 4)]
    expected = labeller.signatures["serving_default"](strings(texts))[
        "probability"
    ]
    assert len(np.unique(expected)) == 7
    for batch_size in (1, 3, 64):
        assert_close(labeller.probabilities(texts, batch_size), expected)


# Explanations.


def test_weights_of_an_explanation(labeller):
    found = labeller.signatures["explain"](strings(TEXTS))
    tokens, weights = found["tokens"].numpy(), found["weights"].numpy()
    ids = TOKENIZER.tokenize(strings(TEXTS)).to_list()
    for row, row_weights, row_ids in zip(tokens, weights, ids, strict=True):
        words = [TOKENIZER.vocabulary[i] for i in row_ids]
        rest = len(row) - len(words)
        assert [x.decode() for x in row] == [*words, *[""] * rest]
        assert (row_weights[: len(words)] > 0).all()
        assert (row_weights[len(words) :] == 0).all()
        assert row_weights.sum() == pytest.approx(min(len(words), 1), abs=1e-5)
    labels = labeller.signatures["serving_default"](strings(TEXTS))
    assert_close(found["probability"], labels["probability"])
    np.testing.assert_array_equal(found["label"], labels["label"])


def test_weights_are_those_of_the_attention():
    labeller = labeller_of("attention")
    words, weights = labeller.explain("not a fine film")
    assert words == ["not", "a", "fine", "film"]
    memory, mask, final = labeller.model.encoder(padded(["not a fine film"]))
    _, expected = labeller.model.classify(memory, mask, final)
    assert_close(weights, expected[0])


def test_weights_are_shares_of_the_gradient_norms():
    labeller = labeller_of("last")
    _, weights = labeller.explain("not a fine film")
    norms = labeller.gradient_norms("not a fine film")
    assert_close(weights, norms / norms.sum())


@pytest.mark.parametrize("kind", ["attention", "decoder", "last", "pooled"])
def test_gradient_norms_are_finite_differences(kind):
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float64")
    try:
        labeller = labeller_of(kind)
    finally:
        keras.config.set_dtype_policy(policy)
    ids = padded(["not a fine film"])
    encoder, epsilon = labeller.model.encoder, 1e-5
    embeddings = encoder.embedding(ids).numpy()
    assert embeddings.dtype == np.float64
    # A row for each place and unit that is moved, up and then down.
    moves = epsilon * np.eye(embeddings.size).reshape(-1, *embeddings[0].shape)
    rows = np.concatenate([embeddings + moves, embeddings - moves])
    mask = np.ones(rows.shape[:2], bool)
    memory, final = encoder.read(rows, mask)
    logits = labeller.model.classify(memory, mask, final)[0].numpy()
    up, down = logits.reshape(2, *embeddings[0].shape)
    expected = np.linalg.norm((up - down) / (2 * epsilon), axis=-1)
    assert_close(labeller.gradient_norms("not a fine film"), expected)


def test_hidden_states_are_the_memory(labeller):
    words, states = labeller.hidden_states("Not a zzz film")
    assert words == ["not", "a", "<unk>", "film"]
    assert states.shape == (4, 8)
    memory, _, _ = labeller.model.encoder(padded(["not a zzz film"]))
    assert_close(states, memory[0])


# What comes from outside.


@pytest.mark.parametrize("name", STRANGE)
def test_strange_texts_are_answered(labeller, name):
    texts = strings(STRANGE[name])
    found = labeller.signatures["serving_default"](texts)
    explained = labeller.signatures["explain"](texts)
    count = len(STRANGE[name])
    assert found["probability"].shape == found["label"].shape == (count,)
    assert np.isfinite(found["probability"]).all()
    assert np.isfinite(explained["weights"]).all()
    assert_close(found["probability"], explained["probability"])


# Served.


def test_one_of_several_classes():
    model = classifier("attention", num_classes=3)
    labels = ["बुरा", "fair", "good"]
    labeller = TextLabeller(model, TOKENIZER, labels)
    found = labeller.signatures["explain"](strings(TEXTS))
    logits = model(padded(TEXTS)).numpy()
    assert_close(found["probability"], tf.nn.softmax(logits))
    assert_close(labeller.probabilities(TEXTS), found["probability"])
    named = [labels[i].encode() for i in logits.argmax(1)]
    assert found["label"].numpy().tolist() == named


# Labelled texts.


@pytest.fixture(scope="module")
def of_three():
    model = classifier("last", num_classes=3)
    return TextLabeller(model, TOKENIZER, ["bad", "fair", "good"], 3)


def test_it_is_compared_with_true_labels(of_three):
    labels = ["good", "bad", "bad", "fair", "good"]
    numbers = [2, 0, 0, 1, 2]
    found = of_three.evaluate(TEXTS, labels, batch_size=2)
    assert found.keys() > {"wall_seconds", "cpu_seconds"}
    probabilities = of_three.probabilities(TEXTS)
    guesses = probabilities.argmax(axis=1)
    assert found["accuracy"] == pytest.approx(np.mean(guesses == numbers))
    of_true = probabilities[range(5), numbers]
    assert found["loss"] == pytest.approx(-np.mean(np.log(of_true)), rel=1e-5)
    for i, true in enumerate(of_three.labels):
        for j, guess in enumerate(of_three.labels):
            count = np.sum((np.array(numbers) == i) & (guesses == j))
            assert found["confusion"][true][guess] == count
    by_number = of_three.evaluate(TEXTS, numbers)
    assert by_number["confusion"] == found["confusion"]


def of_classes(count, labels):
    return TextLabeller(classifier(num_classes=count), TOKENIZER, labels)


NAMES = r"\('bad', 'fair', 'good'\), or "


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: of_classes(1, ["yes"]), r"must be 2.*\['yes'\]"),
        (lambda x: of_classes(3, ["yes"]), r"must be 3.*\['yes'\]"),
        (
            lambda x: of_classes(3, ["a", "", "b"]),
            "non-empty strings.*Received: .*'a', ''",
        ),
        (
            lambda x: x.evaluate(TEXTS, ["fine"] * 5),
            NAMES + ".* Received: 'fine'",
        ),
        (
            lambda x: x.evaluate(TEXTS, [0, 1, 2, 3, -1]),
            "or indices of these. Received: 3, -1",
        ),
        (lambda x: x.evaluate(TEXTS, [0]), "Received: 5 texts and 1 labels"),
        (lambda x: x.fit(TEXTS[:2], [1, 3]), "Received: .*3"),
        (lambda x: x.fit(TEXTS[:1], ["best"]), "Received: .*'best'"),
    ],
)
def test_labels_are_those_of_the_classes(of_three, call, message):
    with pytest.raises(ValueError, match=message):
        call(of_three)


def test_the_loss_of_two_classes_takes_probabilities(labeller):
    labeller.compile("sgd")
    for labels, right in (([0.9, 0.2], [1, 0]), ([1, 0], [1, 0])):
        batches = labeller.batches(["a fine film", "dull"], labels)
        loss, accuracy = labeller.model.evaluate(batches, verbose=0)
        found = labeller.probabilities(["a fine film", "dull"])
        log = np.log(np.where(right, found, 1 - found))
        other = np.log(np.where(right, 1 - found, found))
        share = np.array([0.9, 0.8]) if labels[0] < 1 else 1.0
        assert_close(loss, -np.mean(share * log + (1 - share) * other))
        assert_close(accuracy, np.mean((found > 0.5) == np.array(right)))


@pytest.fixture(scope="module")
def ensemble():
    return TextLabeller.ensemble(
        [labeller_of("attention"), labeller_of("pooled", temperature=2.0)]
    )


def test_an_ensemble_has_the_mean_log_odds(ensemble):
    first, second = (
        np.log(p / (1 - p))
        for p in (
            probability(TextLabeller(model, TOKENIZER), padded(TEXTS))
            for model in ensemble.model.models
        )
    )
    expected = 1 / (1 + np.exp(-(first + second / 2) / 2))
    assert_close(ensemble.probabilities(TEXTS), expected)
    assert np.abs(first - second).max() > 0.1


def test_an_ensemble_explains_as_its_members_do(ensemble):
    """Log odds of two labels are a mean: what a word adds to them is, too."""
    text = "a fine film"
    words, weights = ensemble.explain(text, "positive")
    of_each = [
        TextLabeller(model, TOKENIZER).explain(text, "positive")[1]
        for model in ensemble.model.models
    ]
    assert words == text.split()
    assert_close(weights, (of_each[0] + of_each[1] / 2) / 2)
    # One member has no attention: gradients of both.
    words, weights = ensemble.explain(text)
    assert words == text.split() and weights.sum() == pytest.approx(1)
    words, states = ensemble.hidden_states(text)
    assert words == text.split() and states.shape == (3, 16)
    of_each = [
        TextLabeller(model, TOKENIZER).gradient_norms(text) / (2 * temperature)
        for model, temperature in zip(
            ensemble.model.models, ensemble.model.temperatures, strict=True
        )
    ]
    norms = ensemble.gradient_norms(text)
    assert_close(norms, np.hypot(*of_each))
    assert_close(weights, norms / norms.sum())


def test_an_ensemble_is_calibrated(ensemble):
    joined = TextLabeller.ensemble([ensemble])
    assert joined is ensemble
    again = TextLabeller.ensemble([ensemble, labeller_of("last")])
    assert again.model.temperatures == [1.0, 2.0, 1.0]
    assert again.calibrate(TEXTS, [1, 0, 0, 1, 1]) == again.temperature != 1
    assert TextLabeller.ensemble([again, ensemble]).model.temperatures == [
        *(again.temperature * t for t in (1, 2, 1)),
        *(1.0, 2.0),
    ]


def test_an_ensemble_is_used_as_its_first():
    options = {"multi_label": True, "labels": ["x"], "thresholds": [0.3]}
    first = labeller_of("last", max_length=7, temperature=3.0, **options)
    options["thresholds"] = [0.6]
    other = labeller_of("pooled", max_length=9, **options)
    config = TextLabeller.ensemble([first, other]).get_config()
    expected = first.get_config() | {"temperature": 1.0}
    assert config["max_length"] == 7 and config["multi_label"]
    for name in expected.keys() - {"name", "model"}:
        assert config[name] == expected[name], name


def test_an_ensemble_needs_the_same_tokenizer_and_labels(labeller):
    cased = ReviewTokenizer(TOKENIZER.vocabulary, lowercase=False)
    names = ["negative", "positive"]
    of_two = classifier("last", num_classes=2)
    for other, said in (
        (TextLabeller(classifier(), cased), "a `tokenizer` whose voc"),
        (labeller_of("last", labels=names[::-1]), r"\('positive', 'nega"),
        (TextLabeller(of_two, TOKENIZER, names), r"'\), by 2 logits"),
        (classifier(), "TextClassifier"),
    ):
        with pytest.raises(ValueError, match=f"`labellers`.*{said}"):
            TextLabeller.ensemble([labeller, other])
    several = TextLabeller(of_two, TOKENIZER, names, multi_label=True)
    with pytest.raises(ValueError, match=r"Received: .* \(multi-label\), by 2"):
        TextLabeller.ensemble([TextLabeller(of_two, TOKENIZER), several])


def test_signatures_are_kept_until_an_attribute_is_set():
    labeller = labeller_of("pooled")
    kept = labeller.signatures
    assert labeller.signatures is kept
    labeller.temperature = 2.0
    assert labeller.signatures is not kept
