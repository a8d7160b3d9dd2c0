"""Trains two models on JAX, searches with them, and says what it saw.

`test_without_tensorflow.py` runs it where there is no TensorFlow.
"""

import importlib
import json
import sys

import keras
import numpy as np

import kerasrnn
from kerasrnn.decoding import BeamSearch
from kerasrnn.layers import RHNCell
from kerasrnn.metrics import Perplexity
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import Translator
from kerasrnn.training import TokenCrossentropy

SYMBOLS = 5  # Behind padding, start and end: the ids 3 to 7.
SEARCH = BeamSearch(max_length=4, beam_width=3)


def fit(model, x, y):
    """Trains for 60 batches; returns the first and the last perplexity."""
    adam = keras.optimizers.Adam(0.02)
    model.compile(adam, TokenCrossentropy(), metrics=[Perplexity()])
    history = model.fit(x, y, batch_size=20, epochs=12, verbose=0)
    values = history.history["perplexity"]
    return [values[0], values[-1]]


def best(found):
    return keras.ops.convert_to_numpy(found.ids)[:, 0].tolist()


def count_on(path):
    """A language model of texts that count: 3, 4, 5, 6, 7, 3, ..."""
    first = np.arange(100)[:, None]
    text = 3 + (first + np.arange(7)) % SYMBOLS
    model = LanguageModel(3 + SYMBOLS, RHNCell(16, 2))
    seen = fit(model, text[:, :-1], text[:, 1:])
    model.save(path)
    model = keras.saving.load_model(path)

    def step(ids, states, memory):
        logits, states = model.run(ids[:, None], states)
        return logits[:, 0], states, None

    # The texts do not end, so a model gives an end whatever chance it likes.
    search = BeamSearch(start_id=6, max_length=4, min_length=4, beam_width=3)
    return seen, best(search(step, model.initial_states(1)))


def copy():
    """A translator of single words into themselves."""
    words = 3 + np.arange(100)[:, None] % SYMBOLS
    end, start = np.full_like(words, 2), np.full_like(words, 1)
    source = np.concatenate([words, end], axis=1)
    cell = RHNCell(16, 2)
    model = Translator(Encoder(3 + SYMBOLS, cell), Decoder(3 + SYMBOLS, cell))
    target = np.concatenate([start, words], axis=1)
    seen = fit(model, {"source": source, "target": target}, source)
    found = SEARCH(model.decode_step, *model.encode(source[:SYMBOLS]))
    return seen, best(found)


def error(module):
    """What importing a module says, `None` where it can be imported."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        return str(error)


keras.utils.set_random_seed(0)
modules = "tensorflow", "kerasrnn.data", "kerasrnn.pipelines"
print(
    json.dumps(
        {
            "backend": keras.backend.backend(),
            "package": kerasrnn.__file__,
            "language model": count_on(sys.argv[1]),
            "translator": copy(),
            "errors": {module: error(module) for module in modules},
        }
    )
)
