import keras
import numpy as np
import pytest

from kerasrnn.layers import RHNCell
from kerasrnn.metrics import Perplexity
from kerasrnn.models import LanguageModel
from kerasrnn.models.language_model import sampled_logits
from kerasrnn.training import TokenCrossentropy
from tests import helpers
from tests.models.test_token_output import VARIANTS
from tests.models.test_token_output import X
from tests.models.test_token_output import make

SIZE = 10
WORDS = np.array([[3, 0, 9, -1, 2], [2, 1, -1, -1, 5]])
RANKS = np.arange(SIZE)
SHARES = np.log((RANKS + 2) / (RANKS + 1)) / np.log(SIZE + 1)


def test_the_shares_of_all_words_are_a_distribution():
    assert SHARES.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", VARIANTS)
def test_logits_are_those_of_the_words_less_how_often_they_are_drawn(name):
    output, count = make(name), 6
    seeds = (keras.random.SeedGenerator(4) for _ in range(2))
    uniform = keras.random.uniform((count,), seed=next(seeds))
    drawn = np.exp(helpers.as_numpy(uniform) * np.log(SIZE + 1)) - 1
    drawn = np.clip(drawn.astype(int), 0, SIZE - 1)
    logits = helpers.as_numpy(output(X))
    right = np.take_along_axis(logits, np.maximum(WORDS, 0)[..., None], axis=2)
    logits = logits - np.log(count * SHARES)
    is_right = drawn == np.maximum(WORDS, 0)[..., None]
    assert is_right.any() and not is_right.all()
    others = np.where(is_right, -1e9, logits[..., drawn])
    found = sampled_logits(output, X, WORDS, count, next(seeds))
    helpers.assert_close(found, np.concatenate([right, others], axis=2))


def test_words_are_drawn_by_their_rank():
    output, count = make("plain"), 40_000
    output.dense.kernel.assign(np.zeros((4, SIZE)))
    output.bias.assign(RANKS + np.log(SHARES))
    seed = keras.random.SeedGenerator(5)
    found = sampled_logits(output, X, WORDS, count, seed)
    # What is left of a logit tells which word it is of.
    drawn = np.round(helpers.as_numpy(found)[0, 0, 1:] + np.log(count))
    shares = [np.mean(drawn == rank) for rank in range(1, SIZE) if rank != 3]
    helpers.assert_close(np.array(shares), np.delete(SHARES, [0, 3]), atol=0.01)


def language_model(**options):
    return LanguageModel(SIZE, RHNCell(6), sampled_words=4, **options)


def test_fit_learns_and_measures_the_first_row():
    model = language_model(batch_size=2)
    model.compile(
        keras.optimizers.Adam(0.05),
        TokenCrossentropy(-1),
        metrics=[Perplexity(-1)],
    )
    ids = np.array([[1, 2, 3, 4, 5], [6, 7, 8, 9, 1]])
    batch = {"ids": ids, "fresh": np.array([True, True])}
    labels = np.roll(ids, -1, axis=1)
    labels[:, -1] = -1
    history = model.fit(
        *(batch, labels),
        batch_size=2,
        epochs=60,
        validation_data=(batch, labels),
        verbose=0,
    ).history
    for name in ("perplexity", "val_perplexity"):
        assert history[name][0] > 5
        assert history[name][-1] < 1.5


def test_padding_has_no_gradient():
    losses = []
    for padding in (1, 2):
        keras.utils.set_random_seed(3)
        model = language_model()
        model.compile("sgd", TokenCrossentropy(-1))
        ids = np.array([[1, 2, 3, padding]])
        losses.append(model.train_on_batch(ids, np.array([[2, 3, 4, -1]])))
    assert float(losses[0]) == float(losses[1])


def test_padding_is_no_word():
    model = language_model()
    model.compile("sgd", TokenCrossentropy(0))
    with pytest.raises(ValueError, match="one with pad_id=0"):
        model.train_on_batch(np.array([[1, 2]]), np.array([[2, 0]]))


def test_a_call_has_the_logits_of_all_words():
    model = language_model()
    ids = np.maximum(WORDS, 0)
    assert model(ids).shape == (2, 5, SIZE)
    answer = model(ids, training=True)
    shapes = {name: tuple(x.shape) for name, x in answer.items()}
    assert shapes == {"outputs": (2, 5, 6), "first_row": (1, 5, SIZE)}
    copy = LanguageModel.from_config(model.get_config())
    assert copy.sampled_words == 4


def test_it_drops_in_training():
    cell = RHNCell(6, dropout=0.5)
    ids = np.arange(10).reshape(2, 5) % SIZE
    for model in (
        language_model(word_dropout=0.5),
        LanguageModel(SIZE, cell, sampled_words=4),
    ):
        first, second = (
            helpers.as_numpy(model(ids, training=True)["outputs"])
            for _ in range(2)
        )
        assert np.any(first != second)


def test_all_words_are_needed_for_the_augmented_loss():
    with pytest.raises(ValueError, match=r"Received: sampled_words=4"):
        language_model(augmented_loss=0.5)
