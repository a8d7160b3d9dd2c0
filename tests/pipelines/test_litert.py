"""Models for phones, in the interpreter of TensorFlow Lite."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.layers import CRF
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import RHNCell
from kerasrnn.models import LanguageModel
from kerasrnn.models import Tagger
from kerasrnn.pipelines import TextLanguageModel
from kerasrnn.pipelines import TextTagger
from kerasrnn.pipelines import litert_model
from kerasrnn.tokenizers import WordTokenizer
from tests.helpers import randomize
from tests.pipelines import small

# The interpreter of TensorFlow is the same as that of `ai-edge-litert`.
pytestmark = pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter")


def interpreted(model, **inputs):
    """The answer of the interpreter, without operations of TensorFlow."""
    interpreter = tf.lite.Interpreter(
        model_content=model,
        experimental_op_resolver_type=(
            tf.lite.experimental.OpResolverType.BUILTIN_REF
        ),
    )
    return interpreter.get_signature_runner()(**inputs)


def language(cell):
    tokenizer = small.language().tokenizer
    model = LanguageModel(tokenizer.vocabulary_size, cell, batch_size=2)
    model.build()
    randomize(model)
    return TextLanguageModel(model, tokenizer)


@pytest.mark.slow
@pytest.mark.parametrize("int8", [False, True])
def test_steps_of_a_language_model_go_on_from_each_other(int8):
    cell = RHNCell(64, depth=2, recurrent_dropout=0.2)
    pipeline = language(cell)
    converted = litert_model(pipeline, int8=int8)
    [size] = pipeline.model.state_sizes
    state, found = np.zeros((1, size), "float32"), []
    ids = np.array([[0, 3, 1, 4]], "int32")
    for i in range(4):
        answer = interpreted(converted, ids=ids[:, i : i + 1], state_0=state)
        state = answer["next_state_0"]
        found.append(answer["logits"])
    expected = keras.ops.convert_to_numpy(pipeline.model(ids))
    found = np.concatenate(found, axis=1)
    if int8:
        assert len(converted) < 0.6 * len(litert_model(pipeline))
        assert np.abs(found - expected).max() > 1e-3
        assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.98
    else:
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_model_of_ones_own_answers_alike():
    x = keras.Input((None, 3), name="x")
    given = keras.Input((2,), name="given")
    rnn = FastRNN(RHNCell(6), return_sequences=True, return_state=True)
    h, state = rnn(x)
    y = keras.layers.Concatenate()([state, given])
    model = keras.Model({"x": x, "given": given}, [h, keras.layers.Dense(2)(y)])
    randomize(model)
    rng = np.random.default_rng(0)
    inputs = {
        "x": rng.normal(size=(1, 4, 3)).astype("float32"),
        "given": rng.normal(size=(1, 2)).astype("float32"),
    }
    found = interpreted(litert_model(model, length=4), **inputs)
    for i, expected in enumerate(model(inputs)):
        np.testing.assert_allclose(found[f"output_{i}"], expected, atol=1e-5)
    assert not rnn.unroll  # only for the file


@pytest.mark.slow
def test_a_tagger_finds_the_path_that_it_finds_in_tensorflow():
    tagger = small.tagger()
    converted = litert_model(tagger, length=7)
    generator, several = np.random.default_rng(0), set()
    for count in (7, 4, 1):
        words = np.full((1, 7), tagger.words.pad_id, "int32")
        letters = np.full((1, 7, tagger.max_letters), 0, "int32")
        words[0, :count] = generator.integers(2, 9, count)
        letters[0, :count, :3] = generator.integers(2, 9, (count, 3))
        found = interpreted(converted, words=words, characters=letters)
        scores = tagger.model({"words": words, "characters": letters})
        expected = keras.ops.convert_to_numpy(scores).argmax(axis=-1)
        assert found["tags"][0, :count].tolist() == expected[0, :count].tolist()
        several |= {*found["tags"][0].tolist()}
    assert len(several) > 1


@pytest.mark.slow
def test_transitions_between_many_tags_are_not_rounded():
    """Of a table of 34 x 34 weights, which has those of no tag beside it."""
    words = WordTokenizer([f"w{n}" for n in range(20)])
    model = Tagger(20, 33, FastGRUCell(8), 8, crf=CRF())
    model.build()
    randomize(model)
    randomize(model.crf, 10.0)
    tagger = TextTagger(model, words, [f"t{n}" for n in range(33)])
    converted = litert_model(tagger, length=12, int8=True)
    ids = np.arange(3, 15, dtype="int32")[None]
    expected = keras.ops.convert_to_numpy(model(ids)).argmax(axis=-1)
    found = interpreted(converted, words=ids)["tags"]
    assert found.tolist() == expected.tolist()
    assert len({*found[0].tolist()}) > 3


@pytest.mark.slow
def test_a_classifier_pays_no_heed_to_padding():
    labeller = small.labeller()
    converted = litert_model(labeller, length=6)
    ids = np.array([[3, 4, 5]], "int32")
    padded = np.full((1, 6), labeller.tokenizer.pad_id, "int32")
    padded[:, :3] = ids
    np.testing.assert_allclose(
        interpreted(converted, ids=padded)["logits"],
        labeller.model(ids),
        atol=1e-5,
    )


def test_other_pipelines_are_errors():
    with pytest.raises(TypeError, match="Received: a SeriesForecaster"):
        litert_model(small.forecaster())


def test_inference_changes_no_variable():
    """A file for a phone has none, and an export would write at each call."""
    model = language(FastGRUCell(4, dropout=0.1, recurrent_dropout=0.2)).model
    function = tf.function(
        lambda ids: model(ids),
        [tf.TensorSpec([None, None], tf.int32)],
        autograph=False,
    )
    graph = function.get_concrete_function().graph.as_graph_def()
    nodes = [
        *graph.node,
        *(x for f in graph.library.function for x in f.node_def),
    ]
    assert not [node.name for node in nodes if "Assign" in node.op]


@pytest.mark.filterwarnings("ignore:.*does not have a `quantize`")
@pytest.mark.parametrize("how", ["mixed_bfloat16", "int8"])
def test_a_model_in_another_precision_is_refused(how):
    mixed = how == "mixed_bfloat16"
    cell = FastGRUCell(16, dtype=how if mixed else "float32")
    pipeline = language(cell)
    if not mixed:
        pipeline.model.quantize(how)
    with pytest.raises(ValueError, match="Only float32 models without quant"):
        litert_model(pipeline)
    with pytest.raises(ValueError, match="`length` must be an integer >= 1"):
        litert_model(pipeline, length=0)
