"""Training under `tf.distribute`, in a process with two devices."""

import keras
import pytest

from tests import fresh_process

if keras.backend.backend() != "tensorflow":
    pytest.skip("`tf.distribute` is TensorFlow's", allow_module_level=True)

pytestmark = pytest.mark.thorough

SCRIPT = """
import contextlib, json

import keras
import numpy as np
import tensorflow as tf

cpu, = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(
    cpu, 2 * [tf.config.LogicalDeviceConfiguration()]
)

from kerasrnn.training import TokenCrossentropy
from kerasrnn.metrics import Perplexity
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import Translator

rng = np.random.default_rng(0)


def language_model(batch_size):
    keras.utils.set_random_seed(1)
    model = LanguageModel(20, keras.layers.GRUCell(5), batch_size=batch_size)
    model.build()
    model.compile(
        keras.optimizers.SGD(1.0),
        TokenCrossentropy(-1, label_smoothing=0.1),
        metrics=[Perplexity(-1)],
        weighted_metrics=[Perplexity(-1, name="weighted")],
    )
    return model


def trained(model, *data, **options):
    history = model.fit(
        *data, epochs=2, batch_size=4, shuffle=False, verbose=0, **options
    ).history
    return {**history, "weights": float(np.abs(model.get_weights()[1]).sum())}


def batches(scope):
    with scope:
        model = language_model(None)
    ids, labels = rng.integers(0, 20, (2, 4, 7))
    labels[1:, 5:] = -1  # Replicas have different numbers of tokens.
    return trained(model, ids, labels, sample_weight=np.arange(1.0, 5.0))


def windows(scope):
    with scope:
        model = language_model(4)
    ids, labels = rng.integers(0, 20, (2, 3, 4, 10))
    fresh = np.array([4 * [1], 4 * [0], 4 * [0]])
    text = tf.data.Dataset.from_tensor_slices(
        ({"ids": ids, "fresh": fresh}, labels)
    )
    found = trained(model, text, validation_data=text)
    model.save("PATH")
    loaded = keras.saving.load_model("PATH")
    return {**found, "loaded": loaded.evaluate(text, verbose=0)}


def alignments(scope):
    with scope:
        keras.utils.set_random_seed(1)
        cell = keras.layers.GRUCell(5)
        model = Translator(Encoder(20, cell, 5), Decoder(20, cell, 5))
        model.compile(keras.optimizers.SGD(1.0), TokenCrossentropy(-1))
    source, target, labels = rng.integers(1, 20, (3, 4, 6))
    alignment = np.tile(np.eye(6), (4, 1, 1))
    alignment[1:, 2:] = 0  # Replicas have different numbers of aligned tokens.
    inputs = {"source": source, "target": target, "alignment": alignment}
    return trained(model, inputs, labels)


strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
results = {}
for run in (batches, windows, alignments):
    for scope in (contextlib.nullcontext(), strategy.scope()):
        rng = np.random.default_rng(0)
        results.setdefault(run.__name__, []).append(run(scope))
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("replicas") / "model.keras"
    return fresh_process.answer(SCRIPT.replace("PATH", str(path)))


@pytest.mark.parametrize("run", ["batches", "windows", "alignments"])
def test_two_replicas_learn_what_one_device_does(results, run):
    """States that are carried on, and the cost of attention, too."""
    alone, together = results[run]
    assert together["loss"][1] < together["loss"][0]
    for name, expected in alone.items():
        assert together[name] == pytest.approx(expected, rel=1e-5), name
