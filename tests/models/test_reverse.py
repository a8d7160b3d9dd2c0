import keras
import numpy as np
import pytest
from keras.layers import GRUCell

from kerasrnn.decoding import GreedySearch
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Translator
from kerasrnn.training import TokenCrossentropy
from tests import helpers

PAD, START, END, FIRST_DIGIT = range(4)
LONGEST = 8


def digit_strings(count):
    """Random strings of 3 to 8 digits, no two the same."""
    rng = np.random.default_rng(0)
    strings = set()
    while len(strings) < count:
        strings.add(tuple(rng.integers(0, 10, rng.integers(3, LONGEST + 1))))
    return sorted(strings, key=lambda _: rng.random())


def as_ids(strings):
    source = np.full((len(strings), LONGEST + 1), PAD, "int32")
    target = np.full((len(strings), LONGEST + 2), PAD, "int32")
    for i, digits in enumerate(np.array(s) + FIRST_DIGIT for s in strings):
        source[i, : len(digits) + 1] = [*digits, END]
        target[i, : len(digits) + 2] = [START, *digits[::-1], END]
    return source, target


@pytest.mark.thorough
def test_learns_to_reverse_digits():
    keras.utils.set_random_seed(0)
    strings = digit_strings(128 * 150)
    source, target = as_ids(strings[500:])
    cell = GRUCell(64)
    model = Translator(
        Encoder(13, cell, embedding_dim=32),
        Decoder(13, cell, embedding_dim=32, attention="general"),
    )
    rate = keras.optimizers.schedules.CosineDecay(0.01, decay_steps=300)
    model.compile(
        keras.optimizers.Adam(rate, clipnorm=1.0), TokenCrossentropy(PAD)
    )
    model.fit(
        {"source": source, "target": target[:, :-1]},
        target[:, 1:],
        batch_size=128,
        epochs=2,
        verbose=0,
    )
    source, target = as_ids(strings[:500])
    search = GreedySearch(START, END, PAD, max_length=LONGEST + 1)
    found = search(model.decode_step, *model.encode(source))
    ids = helpers.as_numpy(found.ids)[:, 0]
    assert np.mean(np.all(ids == target[:, 1:], axis=1)) >= 0.99
