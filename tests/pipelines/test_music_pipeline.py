import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import RHNCell
from kerasrnn.models import PianoRollModel
from kerasrnn.pipelines import MusicPipeline
from tests.helpers import randomize
from tests.helpers import reloaded

KEYS = 5
RNG = np.random.default_rng(0)
ROLLS = [
    (RNG.random((time, KEYS)) < 0.4).astype("uint8") for time in (6, 2, 9, 3)
]


def pipeline(cell=None):
    model = PianoRollModel(cell or FastGRUCell(4), keys=KEYS)
    model.build()
    randomize(model)
    return MusicPipeline(model)


@pytest.fixture(scope="module")
def music():
    return pipeline()


@pytest.mark.parametrize("wrong", [0, 1.5, "4"])
def test_a_beat_has_whole_steps(wrong):
    with pytest.raises(ValueError, match="steps_per_beat=.*" + str(wrong)):
        MusicPipeline(PianoRollModel(FastGRUCell(4)), steps_per_beat=wrong)


def expected_scores(music, roll):
    """Log-likelihoods, key by key, of one roll without padding."""
    inputs = np.pad(roll[:-1], [(1, 0), (0, 0)])[None].astype("float32")
    logits = music.model.predict_on_batch(inputs)[0].astype("float64")
    p = 1 / (1 + np.exp(-logits))
    return np.log(np.where(roll, p, 1 - p)).sum(axis=1), p


def test_scores_do_not_depend_on_the_other_rolls(music):
    for size in (1, 3, 32):
        found = music.score(ROLLS, size)
        for scores, roll in zip(found, ROLLS, strict=True):
            expected, _ = expected_scores(music, roll)
            np.testing.assert_allclose(scores, expected, rtol=1e-4)


def test_probabilities_are_those_of_the_scores(music):
    for roll in ROLLS:
        _, expected = expected_scores(music, roll)
        found = music.probabilities(roll)
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_the_ways_to_average(music):
    costs = [-expected_scores(music, roll)[0] for roll in ROLLS]
    later = [x[1:] for x in costs]
    assert music.evaluate(ROLLS, batch_size=3) == pytest.approx(
        {
            "nll": np.concatenate(costs).mean(),
            "nll_by_piece": np.mean([x.mean() for x in costs]),
            "nll_without_first": np.concatenate(later).mean(),
            "nll_by_piece_without_first": np.mean([x.mean() for x in later]),
            "steps": 20,
        },
        rel=1e-5,
    )


def test_the_metric_of_fit_is_the_mean_over_all_steps(music):
    music.compile("sgd")
    found = music.model.evaluate(
        music.batches(ROLLS, 3), verbose=0, return_dict=True
    )
    assert found["nll"] == pytest.approx(music.evaluate(ROLLS)["nll"], rel=1e-5)


def test_a_piece_of_one_step_has_no_later_steps(music):
    found = music.evaluate([ROLLS[0], ROLLS[0][:1]])
    alone = music.evaluate([ROLLS[0]])
    for end in ("nll_without_first", "nll_by_piece_without_first"):
        assert found[end] == pytest.approx(alone[end], rel=1e-5)
    assert found["steps"] == alone["steps"] + 1


def test_velocities_and_gaps_are_not_rolls(music):
    for value in (100, -1, np.nan):
        rolls = [np.full((3, KEYS), value)]
        for use in (music.score, music.batches):
            with pytest.raises(ValueError, match="1 where a key sounds"):
                use(rolls)
    with pytest.raises(ValueError, match="batch_size=-1"):
        music.score(ROLLS, batch_size=-1)


def step_by_step(music, prompt, sample):
    """Continues a prompt by calls of `step`; `sample` chooses the keys."""
    step = music.signatures["step"]
    states = music.model.initial_states(1)
    roll = np.concatenate([np.zeros((1, KEYS)), prompt])[None]
    written = []
    for t in range(6):
        found = step(tf.constant(roll, tf.float32), *states)
        states = [found[f"state_{i}"] for i in range(len(states))]
        keys = sample(t, found["probabilities"].numpy()[0, -1])
        written.append(keys)
        roll = keys[None, None]
    return np.array(written)


@pytest.mark.parametrize(
    "shape, message",
    [((1, 3), "same number of rows.*1 2"), ((2, 0), "one step")],
)
def test_a_step_needs_keys_of_the_rows_of_its_states(music, shape, message):
    states = music.model.initial_states(2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        music.signatures["step"](tf.zeros((*shape, KEYS)), *states)


def test_writing_is_step_by_step(music):
    def sample(t, p):
        return tf.random.stateless_uniform((1, KEYS), [7, t]).numpy()[0] < p

    prompt = ROLLS[1]
    found = music.write(prompt, seed=7, steps=6)
    assert found.dtype == "uint8"
    np.testing.assert_array_equal(found[:2], prompt)
    expected = step_by_step(music, prompt, sample)
    np.testing.assert_array_equal(found[2:], expected)
    cold = music.write(prompt, temperature=0.0, steps=6)
    expected = step_by_step(music, prompt, lambda t, p: p > 0.5)
    np.testing.assert_array_equal(cold[2:], expected)


def test_what_is_written_depends_on_seed_and_temperature(music):
    first = music.write(seed=1, steps=40)
    assert first.shape == (40, KEYS) and set(np.unique(first)) == {0, 1}
    np.testing.assert_array_equal(music.write(seed=1, steps=40), first)
    assert np.any(music.write(seed=2, steps=40) != first)
    assert np.any(music.write(seed=1, temperature=0.3, steps=40) != first)
    assert music.write(steps=0).shape == (0, KEYS)


def test_a_saved_pipeline_is_the_same(tmp_path):
    music = MusicPipeline(pipeline(RHNCell(4, depth=2)).model, 3)
    loaded = reloaded(music, tmp_path)
    assert isinstance(loaded, MusicPipeline)
    assert loaded.served_facts() == {"steps_per_beat": 3}
    for found, expected in zip(
        loaded.score(ROLLS), music.score(ROLLS), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_empty_rolls_are_served(music):
    found = music.signatures["serving_default"](tf.zeros((2, 0, KEYS)))
    assert found["log_likelihoods"].shape == (2, 0)
    assert found["total"].numpy().tolist() == [0, 0]
    assert music.score([]) == []
    scores = music.score([ROLLS[0][:0], ROLLS[0]])
    assert [len(x) for x in scores] == [0, 6]


def test_at_first_keys_are_as_likely_as_in_the_pieces():
    music = pipeline()
    music.assign_frequencies(ROLLS)
    whole = np.concatenate(ROLLS)
    odds = (whole.sum(axis=0) + 1) / ((1 - whole).sum(axis=0) + 1)
    bias = music.model.output_projection.bias.numpy()
    np.testing.assert_allclose(np.exp(bias), odds, rtol=1e-5)


def generated(music, prompt=ROLLS[0], **given):
    given = {"seed": 3, "temperature": 1.0, "steps": 5, **given}
    return music.signatures["generate"](
        prompt=tf.constant(prompt[None], tf.float32),
        **{key: tf.constant(x) for key, x in given.items()},
    )


def test_it_cannot_go_on_with_other_keys(music):
    with pytest.raises(ValueError, match=r"\(time, 5\).*Received: shape"):
        music.write(np.zeros((3, 9)))


@pytest.mark.parametrize(
    "given, message",
    [
        ({"steps": 15_001}, "At most 15000 steps are allowed"),
        ({"steps": -1}, "steps must be >= 0"),
        ({"temperature": np.nan}, "temperature must be >= 0"),
    ],
)
def test_what_is_not_served(music, given, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        generated(music, **given)


def test_the_served_functions_refuse_other_values_than_0_and_1(music):
    roll = np.array(ROLLS[0], "float32")
    padded, half = roll.copy(), roll.copy()
    padded[3:], half[1, 2] = -1, 0.5
    score, step = (music.signatures[x] for x in ("serving_default", "step"))
    states = music.model.initial_states(1)
    assert score(padded[None])["length"].numpy() == [3]
    for function, wrong in (
        (score, half),
        (lambda x: step(x, *states), half),
        (lambda x: step(x, *states), padded),
        (lambda x: generated(music, x[0]), half),
    ):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="A key of a roll must be"
        ):
            function(tf.constant(wrong[None]))
