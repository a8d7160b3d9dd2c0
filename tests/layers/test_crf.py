import itertools
import re

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import CRF
from kerasrnn.layers import CRFLoss
from tests import helpers
from tests.helpers import as_numpy
from tests.reference import crf as reference

BACKEND = keras.backend.backend()
MASK = np.array(
    [
        [1, 1, 1, 1],
        [0, 1, 1, 1],
        [1, 0, 0, 1],
        [1, 1, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 0, 0],
    ],
    "bool",
)
TAGS = np.random.default_rng(3).integers(0, 3, MASK.shape)
SCHEMES = {
    "IOB1": "(O|(Ix)+(Bx(Ix)*)*|(Iy)+(By(Iy)*)*)*",
    "IOB2": "(O|Bx(Ix)*|By(Iy)*)*",
    "BIOES": "(O|Sx|Sy|Bx(Ix)*Ex|By(Iy)*Ey)*",
    "BILOU": "(O|Ux|Uy|Bx(Ix)*Lx|By(Iy)*Ly)*",
}


def made(tags=3, scale=1.0, **options):
    """A layer with random weights, and these."""
    crf = CRF(**options)
    crf.build((None, None, tags))
    helpers.randomize(crf, scale)
    return crf, weights_of(crf)


def weights_of(crf):
    return [as_numpy(w.value) for w in (crf.transitions, crf.start, crf.end)]


def emissions_of(scale=1.0):
    """Emissions, and the same with what must have no effect."""
    emissions = scale * helpers.random(*MASK.shape, 3)
    return emissions, np.where(MASK[..., None], emissions, np.nan)


# Of the last, the recursion of probabilities loses some that matter.
@pytest.mark.parametrize("scale", [1, 10, 100])
def test_it_equals_the_sum_over_all_paths(scale):
    crf, weights = made(scale=scale)
    emissions, given = emissions_of(scale)
    rows = [(*row, weights) for row in zip(emissions, MASK, strict=True)]
    close = {"rtol": 1e-5, "atol": 1e-5 * scale}
    log_z = as_numpy(crf.log_partition(given, MASK))
    expected = [reference.log_partition(*row) for row in rows]
    np.testing.assert_allclose(log_z, expected, **close)
    assert log_z[-1] == 0
    np.testing.assert_allclose(
        as_numpy(crf.marginals(given, MASK)),
        [reference.marginals(*row) for row in rows],
        **close,
    )
    tags = np.where(MASK, TAGS, -7)
    np.testing.assert_allclose(
        as_numpy(crf.log_likelihood(given, tags, MASK)),
        [-reference.loss(y, *row) for y, row in zip(TAGS, rows, strict=True)],
        **close,
    )


def test_a_path_may_be_too_unlikely_for_floats_at_first():
    """Less likely by exp(120), which the steps after it make up for."""
    crf, _ = made(2)
    crf.transitions.assign([[-50, -200], [-200, 0]])
    crf.start.assign([0, 0])
    crf.end.assign([0, 0])
    emissions = np.array([[[0, -120], [0, 0], [0, 30]]], "float32")
    log_z = as_numpy(crf.log_partition(emissions))
    np.testing.assert_allclose(log_z, [-90], rtol=1e-5)
    expected = np.array([[[0.0, 1.0]] * 3])
    helpers.assert_close(crf.marginals(emissions), expected, atol=1e-3)


def test_a_forbidden_tag_may_be_far_above_the_others():
    crf = CRF(["O", "B-X", "I-X"], "IOB2")
    emissions = np.zeros((1, 2, 3), "float32")
    emissions[0, 0] = [0, 1, 88]
    shares = np.exp([0, 1]) * [2, 3]  # with two and three tags to follow
    log_sum = crf.log_partition(emissions)[0]
    helpers.assert_close(log_sum, np.log(shares.sum()))
    found = as_numpy(crf.marginals(emissions))[0, 0]
    helpers.assert_close(found, np.append(shares / shares.sum(), 0))


def test_a_tag_may_be_possible_from_the_third_step_on():
    """What its way there lost, the steps after it may make up for."""
    crf = CRF(["B-x", "I-x", "E-x"], "BIOES")
    crf.build((None, None, 3))
    crf.transitions.assign([[0, 0, 0], [0, 0, -60], [0, 0, 0]])
    emissions = np.zeros((1, 4, 3), "float32")
    emissions[0, 1, 2] = -110
    emissions[0, 2, 0] = 60
    helpers.assert_close(crf.log_partition(emissions), [-50.0])
    # Of "BIIE" the score is -60.
    expected = np.eye(3)[[[0, 2, 0, 2]]]
    helpers.assert_close(crf.marginals(emissions), expected, atol=1e-4)


def test_the_weights_start_as_told_and_both_ends_from_different_numbers():
    crf = CRF(
        transitions_initializer="ones",
        boundary_initializer="random_normal",
        transitions_regularizer=keras.regularizers.L2(0.1),
    )
    crf.build((None, None, 5))
    transitions, start, end = weights_of(crf)
    assert np.all(transitions == 1) and np.all(start != end)
    helpers.assert_close(crf.losses, [2.5])


def test_the_best_paths_are_those_of_the_enumeration():
    crf, weights = made()
    emissions, given = emissions_of()
    best, score = as_numpy(crf.decode(given, MASK))
    paths, scores = as_numpy(crf.n_best(given, 5, MASK))
    for row, mask in enumerate(MASK):
        expected = reference.all_paths(emissions[row], mask, weights)[:5]
        found = zip(paths[row].tolist(), scores[row], strict=True)
        for tags, s in expected:
            path, found_score = next(found)
            assert path == list(tags)
            np.testing.assert_allclose(found_score, s, rtol=1e-5, atol=1e-6)
        assert all(not any(p) and s == -np.inf for p, s in found)
    assert np.array_equal(best, paths[:, 0])
    np.testing.assert_allclose(score, scores[:, 0], rtol=1e-6)


def test_paths_are_found_before_the_layer_is_called():
    emissions, _ = emissions_of()
    crf = CRF()
    tags, scores = crf.n_best(emissions, 2, MASK)
    assert crf.built and tags.shape == (6, 2, 4)
    expected, best = crf.decode(emissions, MASK)
    np.testing.assert_array_equal(as_numpy(tags)[:, 0], as_numpy(expected))
    helpers.assert_close(scores[:, 0], best)


def test_of_equal_paths_the_first_tags_come_first():
    crf = CRF()
    crf.build((None, None, 40))
    tags, _ = crf.n_best(np.zeros((1, 1, 40), "float32"), 40)
    assert helpers.as_numpy(tags).ravel().tolist() == list(range(40))


def test_outputs_hold_the_best_path_the_mask_and_the_emissions():
    crf, _ = made()
    emissions, given = emissions_of()
    outputs = crf(given, mask=MASK)
    best, _ = as_numpy(crf.decode(emissions, MASK))
    assert np.array_equal(as_numpy(outputs).argmax(-1), best)
    held, mask = crf.emissions(outputs)
    assert np.array_equal(as_numpy(mask), MASK)
    helpers.assert_close(crf.marginals(held, mask), crf.marginals(given, MASK))


def test_a_batch_without_rows():
    crf, _ = made()
    emissions = np.zeros((0, 4, 3), "float32")
    for found in (crf(emissions), crf.marginals(emissions)):
        assert tuple(found.shape) == (0, 4, 3)
    assert tuple(crf.n_best(emissions, 2)[0].shape) == (0, 2, 4)


def test_a_tag_may_be_ruled_out():
    crf, weights = made()
    emissions, _ = emissions_of()
    emissions[:, 1, :2] = -np.inf
    outputs = crf(emissions, mask=MASK)
    assert np.all(as_numpy(outputs).argmax(-1)[MASK[:, 1], 1] == 2)
    tags = np.where(np.arange(4) == 1, 2, TAGS)
    losses = as_numpy(CRFLoss(crf, reduction="none")(tags, outputs))
    expected = [
        reference.loss(*row, weights)
        for row in zip(tags, emissions, MASK, strict=True)
    ]
    np.testing.assert_allclose(losses, expected, rtol=1e-4, atol=1e-5)


def model_of_gradients(crf):
    """Emissions that a kernel makes of inputs, NaN where they are masked."""
    inputs = keras.Input((None, 2), name="inputs")
    noise = keras.Input((None, 3), name="noise")
    mask = keras.Input((None,), dtype="bool", name="mask")
    emissions = keras.layers.Dense(3, name="dense")(inputs) + noise
    model = keras.Model([inputs, noise, mask], crf(emissions, mask=mask))
    model.compile(keras.optimizers.SGD(1.0), CRFLoss(crf))
    return model


@pytest.mark.parametrize("scale", helpers.one_now([100, 1]))
def test_gradients_equal_finite_differences(scale):
    crf, _ = made(scale=scale)
    model = model_of_gradients(crf)
    inputs = helpers.random(*MASK.shape, 2)
    noise = np.where(MASK[..., None], 0, np.nan) * np.ones(3)
    model.get_layer("dense").kernel.assign(scale * helpers.random(2, 3))

    def loss(dense, bias, *weights):
        emissions = inputs @ dense + bias
        rows = zip(TAGS, emissions, MASK, strict=True)
        return np.mean([reference.loss(*row, weights) for row in rows])

    dense = model.get_layer("dense")
    variables = dense.kernel, dense.bias, crf.transitions, crf.start, crf.end
    before = [as_numpy(x.value).astype("float64") for x in variables]
    found = model.train_on_batch([inputs, noise, MASK], TAGS)
    np.testing.assert_allclose(found, loss(*before), rtol=1e-5)
    for place, variable in enumerate(variables):
        expected = np.zeros(variable.shape)
        for index in np.ndindex(*variable.shape):
            ends = []
            for change in (1e-5, -1e-5):
                moved = [x.copy() for x in before]
                moved[place][index] += change
                ends.append(loss(*moved))
            expected[index] = (ends[0] - ends[1]) / 2e-5
        gradient = before[place] - as_numpy(variable.value)
        np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=2e-5)


def test_weights_of_rows_and_reductions():
    crf, weights = made()
    emissions, given = emissions_of()
    outputs = crf(given, mask=MASK)
    rows = zip(TAGS, emissions, MASK, strict=True)
    losses = np.array([reference.loss(*row, weights) for row in rows])
    share = np.arange(6.0)
    for reduction, total in [
        ("sum", np.sum(losses * share)),
        ("sum_over_batch_size", np.mean(losses * share)),
    ]:
        loss = CRFLoss(crf, reduction=reduction)
        copy = CRFLoss.from_config(loss.get_config())
        assert copy.reduction == reduction
        for sample_weight in (share, share[:, None]):
            found = as_numpy(loss(TAGS, outputs, sample_weight))
            np.testing.assert_allclose(found, total, rtol=1e-5)


def test_a_tag_that_does_not_exist_makes_the_loss_nan():
    crf, _ = made()
    outputs = crf(helpers.random(2, 2, 3))
    losses = CRFLoss(crf, reduction="none")([[0, 2], [3, 0]], outputs)
    assert np.isnan(as_numpy(losses)).tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_it_computes_in_float32(dtype):
    crf, _ = made(dtype=dtype)
    emissions = ops.cast(emissions_of()[0], dtype.removeprefix("mixed_"))
    outputs = crf(emissions, mask=MASK)
    assert keras.backend.standardize_dtype(outputs.dtype) == "float32"
    other = CRF.from_config({**crf.get_config(), "dtype": "float32"})
    other.build((None, None, 3))
    other.set_weights(crf.get_weights())
    expected = other(ops.cast(emissions, "float32"), mask=MASK)
    helpers.assert_close(outputs, expected, rtol=1e-6)


# Of the words, 0 is padding.
WORDS, LABELS = np.random.default_rng(0).integers(0, 4, (2, 8, 12))


def tagger(crf):
    embedding = keras.layers.Embedding(4, 8, mask_zero=True)
    model = keras.Sequential([embedding, keras.layers.Dense(4), crf])
    model.build((None, None))
    return model


def compiled_tagger():
    crf = CRF(name="crf")
    model = tagger(crf)
    adam = keras.optimizers.Adam(0.05)
    model.compile(adam, CRFLoss(crf), metrics=["accuracy"])
    return model


@pytest.mark.slow
def test_it_is_saved_with_its_loss(tmp_path):
    model = compiled_tagger()
    model.train_on_batch(WORDS, LABELS)
    loaded = helpers.reloaded(model, tmp_path)
    again = helpers.reloaded(loaded, tmp_path)
    for _ in range(2):
        expected = model.train_on_batch(WORDS, LABELS)
        for copy in (loaded, again):
            helpers.assert_close(copy.train_on_batch(WORDS, LABELS), expected)
    # The loss has trained the layer of its own model.
    assert np.abs(weights_of(model.get_layer("crf"))[0]).max() > 0.1
    for copy in (loaded, again):
        helpers.assert_close(copy.get_weights(), model.get_weights())


@pytest.mark.slow
def test_a_loss_without_its_layer_says_so():
    model = compiled_tagger()
    copy = keras.models.model_from_json(model.to_json())
    with pytest.raises(ValueError, match="`CRFLoss.*Received: 'no layer'"):
        copy.test_on_batch(WORDS, LABELS)
    copy = keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    copy.compile(loss=CRFLoss(copy.get_layer("crf")))
    found, expected = (
        each.test_on_batch(WORDS, LABELS, return_dict=True)["loss"]
        for each in (copy, model)
    )
    helpers.assert_close(found, expected)


@pytest.mark.parametrize("called", [True, False])
def test_the_loss_of_another_layer_is_refused(called):
    if called and keras.backend.backend() == "jax":
        pytest.skip("The arrays of JAX do not tell their layer")
    model, other = tagger(CRF()), CRF(name="other")
    if called:
        other(np.zeros((1, 2, 3), "float32"))
    model.compile(loss=CRFLoss(other))
    with pytest.raises(
        ValueError, match="the `CRF` at the end.*Received: .*other"
    ):
        model.test_on_batch(WORDS[:2], LABELS[:2])


class Subclass(keras.Model):
    """A model that does not save its layers first."""

    def __init__(self):
        super().__init__()
        self.tagger = CRF()

    def call(self, inputs):
        return self.tagger(inputs)


def test_weights_are_saved_as_those_of_the_layer(tmp_path):
    models = Subclass(), Subclass()
    for model in models:
        model(helpers.random(1, 2, 3))
        helpers.randomize(model)
    models[0].compile(loss=CRFLoss(models[0].tagger))
    models[0].save_weights(tmp_path / "model.weights.h5")
    models[1].load_weights(tmp_path / "model.weights.h5")
    helpers.assert_close(models[1].get_weights(), models[0].get_weights())


@pytest.mark.skipif(BACKEND != "tensorflow", reason="JAX always compiles")
@pytest.mark.slow
@pytest.mark.parametrize("scale", [1, 100])
def test_xla_compiles_a_training_step(scale):
    crf, _ = made(scale=scale)
    model = model_of_gradients(crf)
    model.get_layer("dense").kernel.assign(scale * helpers.random(2, 3))
    start = model.get_weights()
    inputs = helpers.random(*MASK.shape, 2)
    found = []
    for jit_compile in (True, False):
        model.set_weights(start)
        model.compile(
            keras.optimizers.SGD(1.0), CRFLoss(crf), jit_compile=jit_compile
        )
        loss = model.train_on_batch([inputs, np.zeros((6, 4, 3)), MASK], TAGS)
        found.append([loss, *model.get_weights()])
    helpers.assert_close(*found)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_tag_scheme_allows_the_phrases_that_it_describes(scheme):
    prefixes = sorted(set("BIESLU") & set(SCHEMES[scheme]))
    labels = ["O", *(f"{a}-{b}" for b in "xy" for a in prefixes)]
    crf = helpers.copy_of(CRF(labels, scheme))
    crf.build((None, None, len(labels)))
    for steps in (1, 2, 3):
        paths = list(itertools.product(range(len(labels)), repeat=steps))
        emissions = np.zeros((len(paths), steps, len(labels)), "float32")
        scores = as_numpy(crf.score(emissions, np.array(paths)))
        for path, score in zip(paths, scores, strict=True):
            text = "".join(labels[tag] for tag in path).replace("-", "")
            allowed = re.fullmatch(SCHEMES[scheme], text) is not None
            assert allowed == (score == 0), text


def test_no_path_breaks_the_scheme():
    """Not even one whose emissions ask for it."""
    crf, weights = made(labels=["B-x", "I-x", "O"], scheme="IOB2")
    transitions, start, end = weights
    transitions[2, 1] = start[1] = -1e4
    emissions = helpers.random(*MASK.shape, 3)
    emissions[..., 1] += 300
    for row, mask, (best, *_), p in zip(
        emissions,
        MASK,
        as_numpy(crf.n_best(emissions, 3, MASK)[0]),
        as_numpy(crf.marginals(emissions, MASK)),
        strict=True,
    ):
        args = row, mask, [transitions, start, end]
        (expected, score), *_ = reference.all_paths(*args)
        assert tuple(best) == expected and score > -5e3
        np.testing.assert_allclose(p, reference.marginals(*args), atol=1e-4)


def outputs_of(crf, steps=4):
    return crf(helpers.random(2, steps, 3)[:, :steps])


def loss_of(labels, *weights):
    crf = CRF()
    return CRFLoss(crf)(labels, outputs_of(crf), *weights)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: CRF(scheme="IOB2"),
            "labels=None and scheme='IOB2'",
        ),
        (
            lambda: CRF(["O"], "IO"),
            "'BILOU'. Received: scheme='IO'",
        ),
        (lambda: CRF(["E-x"], "IOB2"), "B or I .* Received: 'E-x'"),
        (lambda: CRF(["E-x"], "BILOU"), "Received: 'E-x'"),
        (lambda: CRF(["B"], "BIOES"), "Received: 'B'"),
        (
            lambda: CRF(["a", "b"]).build((None, None, 3)),
            "Expected: 2 tags. Received: 3",
        ),
        (lambda: outputs_of(CRF(), 0), r"one step.*\(2, 0, 3\)"),
        (
            lambda: CRF().n_best(helpers.random(2, 4, 3), 0),
            "Received: n=0",
        ),
        (
            lambda: loss_of(np.zeros((2, 4, 3))),
            r"y_true.shape=\(2, 4, 3\)",
        ),
        (
            lambda: loss_of(np.zeros((2, 4)), np.ones((2, 4))),
            r"sample_weight.shape=\(2, 4\)",
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_tags_may_have_a_last_axis_of_one():
    crf, _ = made()
    outputs = crf(helpers.random(2, 4, 3))
    tags = np.array([[0, 2, 1, 1], [2, 2, 0, 1]])
    loss = CRFLoss(crf)
    helpers.assert_close(loss(tags[..., None], outputs), loss(tags, outputs))
