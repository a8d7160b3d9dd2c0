import numpy as np
import pytest

from kerasrnn.layers import CRF
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import CharacterReader
from kerasrnn.models import Tagger
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


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: small()(WORDS), "characters and words"),
        (lambda: small(crf=False).crf_loss(), "TokenCrossentropy"),
        (lambda: small(characters=False)(INPUTS), "without"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
