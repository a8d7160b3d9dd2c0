"""A file has what of the layers inside another one is trained."""

import operator

import keras
import numpy as np
import pytest

from kerasrnn.layers import RHN
from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastRNN
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SelfAttentionRNN
from kerasrnn.layers import SHACell
from kerasrnn.models import AttentionSummary
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Forecaster
from kerasrnn.models import LanguageModel
from kerasrnn.models import Tagger
from kerasrnn.models import TextClassifier
from kerasrnn.models import Translator


def gru():
    return FastGRUCell(4)


def built(layer, shape=(None, None)):
    layer.build(shape)
    return layer


def called(layer, *shapes):
    layer(*map(keras.Input, shapes))
    return layer


def encoder(**kwargs):
    return built(Encoder(9, gru(), 3, **kwargs))


def language_model(cell=None, **kwargs):
    model = LanguageModel(9, cell or gru(), 3, batch_size=2, **kwargs)
    model.build()
    return model


# Layers, and the paths of what may be frozen in them.
LAYERS = {
    "language model": (
        language_model,
        ["stack", "embedding", "output_projection"],
    ),
    "untied": (
        lambda: language_model(tie_embeddings=False),
        ["output_projection"],
    ),
    "two layers": (
        lambda: language_model(depth=2),
        ["stack.first", "stack.second", "stack.first.cell"],
    ),
    "blocks": (
        lambda: language_model(SHACell(gru())),
        ["stack", "cell.attention", "cell.attention.query_norm", "cell.cell"],
    ),
    "encoder": (lambda: encoder(depth=2), ["embedding", "stack.first"]),
    "classifier": (
        lambda: built(TextClassifier(encoder())),
        ["encoder", "encoder.embedding", "output_projection"],
    ),
    "translator": (
        lambda: Translator(encoder(), Decoder(8, gru(), 4)),
        ["encoder", "decoder.output_projection", "decoder.bridge"],
    ),
    "tagger": (
        lambda: built(Tagger(9, 3, gru(), 4)),
        ["embedding", "output_projection"],
    ),
    "forecaster": (
        lambda: built(Forecaster(gru(), 2), None),
        ["stack", "projection", "embedding"],
    ),
    "mechanism": (
        lambda: called(BahdanauAttention(4), (1, 8), (5, 6)),
        ["query_projection", "memory_projection"],
    ),
    "summary": (
        lambda: built(AttentionSummary(units=3), (2, 5, 4)),
        ["attention", "attention.query_projection"],
    ),
    "rnn": (lambda: built(FastRNN(gru()), (2, 3, 4)), ["cell"]),
    "rhn": (lambda: built(RHN(4), (2, 3, 4)), ["cell"]),
    "self-attention": (
        lambda: built(
            SelfAttentionRNN(SelfAttentionCell(gru(), "additive", window=2)),
            (2, 3, 4),
        ),
        ["cell.cell", "cell.attention"],
    ),
    "attention": (
        lambda: called(
            AttentionRNN(AttentionCell(gru(), BahdanauAttention(3))),
            (5, 4),
            (6, 6),
        ),
        ["cell.cell", "cell.attention"],
    ),
}
CASES = [(name, path) for name, (_, paths) in LAYERS.items() for path in paths]


def part(layer, path):
    path = path.replace("stack.first", "stack.rnns.0")
    for name in path.replace("stack.second", "stack.rnns.1").split("."):
        here = name.isdigit()
        layer = layer[int(name)] if here else operator.attrgetter(name)(layer)
    return layer


def flags(layer):
    return [weight.trainable for weight in layer.weights]


def copy_of(layer):
    config = keras.saving.serialize_keras_object(layer)
    return keras.saving.deserialize_keras_object(config)


@pytest.mark.parametrize("name, path", CASES)
def test_a_frozen_part_stays_so(name, path):
    layer = LAYERS[name][0]()
    assert flags(copy_of(layer)) == flags(layer)
    part(layer, path).trainable = False
    copy = copy_of(layer)
    assert flags(copy) == flags(layer)
    assert not all(flags(layer)[:1] + flags(part(layer, path)))
    assert flags(copy_of(copy)) == flags(layer)


# A translator makes nothing itself.
@pytest.mark.parametrize("name", sorted(LAYERS.keys() - {"translator"}))
def test_what_is_made_frozen_is_so_inside(name):
    layer = LAYERS[name][0]()
    copy = type(layer).from_config(layer.get_config() | {"trainable": False})
    copy.build_from_config(layer.get_build_config())
    assert len(flags(copy)) == len(flags(layer))
    assert not any(flags(copy) + flags(copy_of(copy)))
    copy.trainable = True
    assert flags(copy) == flags(layer)


def sequential(layer):
    return keras.Sequential([keras.Input((6, 4)), layer])


@pytest.mark.parametrize("by_argument", [True, False])
def test_what_keras_makes_of_a_frozen_layer_is_frozen(by_argument):
    layer = FastLSTM(5, trainable=not by_argument)
    model = sequential(layer)
    layer.trainable = False
    both = sequential(keras.layers.Bidirectional(layer))
    for frozen in (model, keras.models.clone_model(model), both):
        assert flags(frozen) and not any(flags(frozen))


def test_what_is_frozen_is_not_trained():
    model = sequential(FastLSTM(5, trainable=False))
    model.add(keras.layers.Dense(1))
    model.compile("sgd", "mse")
    before = model.layers[0].get_weights()
    model.fit(np.ones((2, 6, 4)), np.ones((2, 1)), verbose=0)
    for weight, old in zip(model.layers[0].weights, before, strict=True):
        np.testing.assert_array_equal(weight, old)


def test_a_frozen_cell_may_be_in_a_layer_that_is_trained():
    model = sequential(FastRNN([FastGRUCell(4, trainable=False), gru()]))
    expected = [False] * 3 + [True] * 3
    assert flags(model) == expected
    assert flags(keras.models.clone_model(model)) == expected


def test_a_part_of_what_is_frozen_may_be_trained():
    model = language_model()
    model.trainable = False
    model.stack.trainable = True
    assert flags(copy_of(model)) == flags(model)
    classifier = built(TextClassifier(encoder()))
    classifier.encoder.trainable = False
    classifier.encoder.stack.trainable = True
    assert flags(copy_of(classifier)) == flags(classifier)
    count = len(classifier.trainable_variables)
    assert len(copy_of(classifier).trainable_variables) == count


def test_what_was_thawed_stays_so():
    """On JAX, Keras builds a model once more where it is evaluated."""
    model = built(TextClassifier(encoder()))
    model.trainable = False
    model.encoder.stack.trainable = True
    expected = flags(model)
    model.compile(loss=keras.losses.BinaryCrossentropy(from_logits=True))
    model.evaluate(np.ones((2, 3), "int32"), np.ones((2, 1)), verbose=0)
    assert flags(model) == expected


attention_rnn, _ = LAYERS["attention"]
# What is inside two parts: a frozen one and a trained one, by path.
SHARED = {
    "tied": (language_model, "output_projection", "embedding"),
    "rnn": (attention_rnn, "rnn", "cell.cell"),
    "attention": (attention_rnn, "cell", "cell.attention"),
}


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("frozen", [True, False])
def test_a_layer_inside_two_others_has_its_own_flag(name, frozen):
    make, outer, inner = SHARED[name]
    layer = make()
    part(layer, outer).trainable = not frozen
    part(layer, inner).trainable = frozen
    assert flags(copy_of(layer)) == flags(layer)


def test_a_copy_for_another_batch_size_is_frozen_alike():
    model = language_model()
    model.embedding.trainable = False
    assert flags(model.with_batch_size(3)) == flags(model)


IDS, LABELS = np.ones((2, 5), "int32"), np.ones((2, 1))


def trained_and_loaded(model, folder):
    """A classifier from a file, which has the optimizer of what is trained."""
    model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
    model.fit(IDS, LABELS, verbose=0)
    model.save(folder / "model.keras")
    # Keras warns if they differ.
    loaded = keras.saving.load_model(folder / "model.keras")
    assert len(loaded.optimizer.variables) == len(model.optimizer.variables)
    return loaded


def test_a_file_has_the_optimizer_of_what_is_trained(tmp_path):
    model = TextClassifier(encoder())
    model.encoder.embedding.trainable = False
    loaded = trained_and_loaded(model, tmp_path)
    table = loaded.encoder.embedding.get_weights()
    loaded.fit(IDS, LABELS, verbose=0)
    np.testing.assert_array_equal(table, loaded.encoder.embedding.get_weights())


def with_lora(layer):
    """A layer where of `Dense` and `Embedding` layers only LoRA is trained."""
    for inner in layer._flatten_layers():
        if isinstance(inner, (keras.layers.Dense, keras.layers.Embedding)):
            inner.enable_lora(2, lora_alpha=3)
    return layer


def lora(layer):
    return [
        (inner.lora_rank, inner.lora_alpha)
        for inner in layer._flatten_layers()
        if getattr(inner, "lora_enabled", False)
    ]


@pytest.mark.parametrize(
    "name", ["language model", "untied", "translator", "mechanism", "attention"]
)
def test_lora_is_kept(name):
    layer = with_lora(LAYERS[name][0]())
    copy = copy_of(layer)
    assert lora(copy) == lora(layer) != []
    assert flags(copy) == flags(layer)
    # Another frozen layer makes no difference to the kernels under LoRA.
    layer._flatten_layers()[-1].trainable = False
    assert flags(copy_of(copy_of(layer))) == flags(layer)


def test_lora_is_kept_in_what_is_given_to_a_frozen_layer():
    classifier = built(TextClassifier(encoder()))
    classifier.trainable = False
    classifier.encoder.embedding.trainable = True
    with_lora(classifier.encoder.embedding)
    assert flags(copy_of(copy_of(classifier))) == flags(classifier)


def test_a_copy_for_another_batch_size_has_lora():
    model = with_lora(language_model())
    assert flags(model.with_batch_size(3)) == flags(model)


def test_a_file_has_the_optimizer_of_lora(tmp_path):
    model = TextClassifier(encoder())
    model(IDS)
    model.encoder.stack.trainable = False
    with_lora(model)
    loaded = trained_and_loaded(model, tmp_path)
    np.testing.assert_allclose(loaded(IDS), model(IDS), 1e-5, 1e-6)
