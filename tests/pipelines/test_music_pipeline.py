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


def test_writing_is_step_by_step(music):
    def sample(t, p):
        return tf.random.stateless_uniform((1, KEYS), [7, t]).numpy()[0] < p

    prompt = ROLLS[1]
    found = music.write(prompt, seed=7, steps=6)
    assert found.dtype == "uint8"
    np.testing.assert_array_equal(found[:2], prompt)
    expected = step_by_step(music, prompt, sample)
    np.testing.assert_array_equal(found[2:], expected)
    cold = music.write(prompt.tolist(), temperature=0.0, steps=6)
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


def of_beats(steps):
    return MusicPipeline(PianoRollModel(FastGRUCell(4)), steps_per_beat=steps)


def given_to(music, name, value):
    getattr(music, name)([np.full((3, KEYS), value)])


WRONG = {
    **{
        f"{steps} steps": (
            lambda x, steps=steps: of_beats(steps),
            f"steps_per_beat=.*{steps}",
        )
        for steps in (0, 1.5, "4")
    },
    **{
        f"{value} to {name}": (
            lambda x, name=name, value=value: given_to(x, name, value),
            "1 where a key sounds",
        )
        for value in (100, -1, np.nan)
        for name in ("score", "batches")
    },
    "a batch": (lambda x: x.score(ROLLS, batch_size=-1), "batch_size=-1"),
    "other keys": (
        lambda x: x.write(np.zeros((3, 9))),
        r"\(time, 5\).*Received: shape",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name, music):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call(music)


def stepped(music, roll, rows=1):
    states = music.model.initial_states(rows)
    return music.signatures["step"](tf.constant(roll, tf.float32), *states)


def scored(music, roll):
    return music.signatures["serving_default"](tf.constant(roll, tf.float32))


HALF, PADDED = (np.array(ROLLS[0][None], "float32") for _ in range(2))
HALF[0, 1, 2], PADDED[:, 3:] = 0.5, -1
REFUSED = {
    "many steps": (
        lambda x: generated(x, steps=15_001),
        "At most 15000 steps are allowed",
    ),
    "-1 steps": (lambda x: generated(x, steps=-1), "steps must be >= 0"),
    "no temperature": (
        lambda x: generated(x, temperature=np.nan),
        "temperature must be >= 0",
    ),
    "other rows": (
        lambda x: stepped(x, np.zeros((1, 3, KEYS)), 2),
        "same number of rows.*1 2",
    ),
    "no step": (lambda x: stepped(x, np.zeros((2, 0, KEYS)), 2), "one step"),
    "half a key": (lambda x: scored(x, HALF), "A key of a roll must be"),
    "a step of half a key": (
        lambda x: stepped(x, HALF),
        "A key of a roll must be",
    ),
    "a step of padding": (
        lambda x: stepped(x, PADDED),
        "A key of a roll must be",
    ),
    "half a key to go on from": (
        lambda x: generated(x, HALF[0]),
        "A key of a roll must be",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_served(name, music):
    call, message = REFUSED[name]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call(music)


def test_padding_is_no_step_of_a_roll(music):
    assert scored(music, PADDED)["length"].numpy() == [3]
