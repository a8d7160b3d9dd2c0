import keras
import numpy as np
import pytest

from kerasrnn.layers import CRF
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import CharacterReader
from kerasrnn.models import Tagger
from kerasrnn.training import TokenCrossentropy
from tests import helpers

WORDS = np.array([[3, 1, 2, 1], [2, 2, 0, 0], [0, 0, 0, 0]])
LETTERS = WORDS[..., None] * np.array([1, 0])
INPUTS = {"words": WORDS, "characters": LETTERS}


def small(crf=True, characters=True, reading=0.0, **options):
    reader = CharacterReader(4, filters=3, dropout=reading)
    tagger = Tagger(
        4,
        3,
        FastGRUCell(5),
        6,
        reader if characters else None,
        crf=CRF() if crf else None,
        **options,
    )
    tagger.build()
    helpers.randomize(tagger)
    return tagger


@pytest.mark.parametrize("crf, pad_id", [(True, 0), (False, -1)])
def test_padding_has_no_influence(crf, pad_id):
    tagger = small(crf, pad_id=pad_id)
    inputs = INPUTS | {"words": np.where(WORDS > 0, WORDS, pad_id)}
    scores = helpers.as_numpy(tagger(inputs))
    short = {name: x[1:2, :2] for name, x in inputs.items()}
    helpers.assert_close(tagger(short)[0], scores[1, :2])
    shares = helpers.as_numpy(tagger.probabilities(scores))
    real = WORDS > 0
    helpers.assert_close(shares[real].sum(-1), np.ones(real.sum()))
    if crf:
        assert not shares[~real].any()


def test_each_tag_sees_both_sides():
    tagger = small(crf=False)
    scores = helpers.as_numpy(tagger(INPUTS))
    for place in (0, 3):
        changed = {name: x.copy() for name, x in INPUTS.items()}
        changed["characters"][0, place, 0] = 2
        others = helpers.as_numpy(tagger(changed))
        assert np.all(np.any(others[0] != scores[0], axis=-1))


def test_its_layers_are_as_told():
    options = {"depth": 2, "bidirectional": False, "factorized": True}
    tagger = small(**options)
    shapes = [tuple(x.shape) for x in tagger.stack.weights]
    assert shapes == 2 * [(5, 15), (5, 15), (2, 15)]
    copy = helpers.copy_of(tagger)
    copy.set_weights(tagger.get_weights())
    helpers.assert_close(copy(INPUTS), tagger(INPUTS))


@pytest.mark.parametrize("part", ["words", "characters", "inputs", "outputs"])
def test_dropout_is_for_training(part):
    rates = {"words": "word_dropout", "characters": "reading"}
    rate = rates.get(part, "dropout")
    tagger = small(crf=False, **{rate: 0.9})
    others = {
        "inputs": tagger.stack.dropouts,
        "outputs": [tagger.input_dropout],
    }
    for layer in others.get(part, ()):
        layer.rate = 0.0
    plain, again, noisy = (
        helpers.as_numpy(tagger(INPUTS, training=x))
        for x in (False, False, True)
    )
    np.testing.assert_array_equal(plain, again)
    assert (plain != noisy).any()


@pytest.mark.slow
@pytest.mark.parametrize("crf", [True, False])
def test_fit_learns_and_survives_a_file(crf, tmp_path):
    """Tags that depend on the tag before, and on the word."""
    keras.utils.set_random_seed(0)
    words = np.random.default_rng(0).integers(1, 4, (64, 7))
    tags = np.cumsum(words, axis=1) % 3
    tags[:, 5:], words[:, 5:] = -1, 0
    tagger = small(crf, characters=False, dropout=0.0)
    loss = tagger.crf_loss() if crf else TokenCrossentropy(pad_id=-1)
    tagger.compile(keras.optimizers.Adam(0.03), loss)
    tagger.fit(words, tags, epochs=60, verbose=0)
    found = tagger.predict(words, verbose=0).argmax(-1)
    assert np.mean(found[:, :5] == tags[:, :5]) > 0.9
    loaded = helpers.reloaded(tagger, tmp_path)
    helpers.assert_close(loaded(words[:3]), tagger(words[:3]))
    again = loaded.evaluate(words, tags, verbose=0)
    assert again == pytest.approx(tagger.evaluate(words, tags, verbose=0), 1e-4)


def test_what_it_reads_is_checked():
    with pytest.raises(ValueError, match="characters and words"):
        small()(WORDS)
    with pytest.raises(ValueError, match="TokenCrossentropy"):
        small(crf=False).crf_loss()
    with pytest.raises(ValueError, match="without"):
        small(characters=False)(INPUTS)
