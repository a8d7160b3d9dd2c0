import json
import math
import os

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from kerasrnn.decoding import BeamSearch
from kerasrnn.layers import FastGRU
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Translator
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines import export_saved_model
from kerasrnn.pipelines import next_version
from kerasrnn.pipelines.saved_model import simplify_graphs
from kerasrnn.pipelines.saved_model import write_warm_up
from kerasrnn.serving.warm_up import WARM_UP_FILE
from kerasrnn.serving.warm_up import recorded_requests
from kerasrnn.tokenizers import SentencePieceTokenizer
from tests import fresh_process
from tests.pipelines.served import check_equal
from tests.pipelines.served import plain

ENGLISH = ["the red book", "who is there", "who knows", "a blue house"] * 3
HINDI = ["लाल किताब", "वहाँ कौन है", "किसे पता", "एक नीला घर"] * 3

# Bytes, as they come from outside.
BATCHES = {
    "sentences": [b"the red book", b"who is there", b"a house", b"WHO!"],
    "one": [b"the red book"],
    "empty string": [b""],
    "only spaces": ["  \t\u00a0".encode()],
    "among others": [b"", b"the red book", b" "],
    "unknown words": ["日本 ਪੰਜਾਬ".encode()],
    "long": [b"the red book is " * 500],
    "mixed scripts": ["the किताब is ру́сский".encode()],
    "invalid": [b"\xff\xfe\x80 the \xc3"],
    "empty batch": [],
}

CLIENT = """
import json
import sys
import time

import tensorflow as tf
import tensorflow_text

model = tf.saved_model.load(sys.argv[1])
assert "kerasrnn" not in sys.modules


def answers(name, **inputs):
    found = model.signatures[name](**inputs)
    return {
        key: [x.hex() for x in value.numpy().ravel()]
        if value.dtype == tf.string
        else value.numpy().tolist()
        for key, value in found.items()
    }


batches, seconds = {}, {}
for name, texts in json.loads(sys.argv[2]).items():
    texts = tf.constant([bytes.fromhex(text) for text in texts], tf.string)
    started = time.perf_counter()
    batches[name] = answers("serving_default", text=texts)
    seconds[name] = time.perf_counter() - started

text = tf.constant(["the red book", "who knows", ""])
given = [tf.constant(texts) for texts in json.loads(sys.argv[4])]
started = model.signatures["encode"](text=tf.constant(["who knows"]))
print(json.dumps({
    "batches": batches,
    "seconds": seconds,
    "ids": answers("translate_ids", ids=tf.constant(json.loads(sys.argv[3]))),
    "attend": answers("attend", text=text),
    "score": answers("score", text=given[0], translation=given[1]),
    "step": answers("decode_step", ids=tf.constant([1]), **started),
    "signatures": {
        name: [
            {
                key: [spec.dtype.name, spec.shape.as_list()]
                for key, spec in specs.items()
            }
            for specs in (
                function.structured_input_signature[1],
                function.structured_outputs,
            )
        ]
        for name, function in model.signatures.items()
    },
}))
"""


@pytest.fixture(scope="module")
def translator():
    keras.utils.set_random_seed(3)
    source = SentencePieceTokenizer.train(ENGLISH, 60)
    target = SentencePieceTokenizer.train(HINDI, 60)
    cell = keras.layers.GRUCell(8)
    model = Translator(
        Encoder(source.vocabulary_size, cell, 8),
        Decoder(target.vocabulary_size, cell, 8),
    )
    for weight in model.trainable_variables:
        weight.assign(weight + keras.random.normal(weight.shape, seed=1))
    # Words come first and the end later, whatever the weights are.
    bias = model.decoder.output_projection.bias
    specials = np.arange(target.vocabulary_size) < 4
    bias.assign(bias - 8.0 * specials)
    search = BeamSearch(max_length=40, beam_width=3)
    return TextTranslator(model, source, target, search)


GIVEN = [["the red book", "who knows"], ["लाल किताब", "लाल किताब"]]
IDS = [[5, 6, 7, 2], [9, 2, -1, -1]]


@pytest.fixture(scope="module")
def saved(translator, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "translator" / "1"
    assert translator.export(path) == path
    return path


# A process of its own takes long: whatever asks it is slow.
@pytest.fixture(
    scope="module", params=[pytest.param("", marks=pytest.mark.slow)]
)
def client(saved):
    """What a process answers that has tensorflow and tensorflow_text only."""
    batches = {
        name: [text.hex() for text in texts] for name, texts in BATCHES.items()
    }
    requests = tf.data.TFRecordDataset(str(saved / WARM_UP_FILE))
    assert [b"a b c" in x for x in requests.as_numpy_iterator()] == 7 * [True]
    return fresh_process.answer(
        CLIENT,
        saved,
        json.dumps(batches),
        json.dumps(IDS),
        json.dumps(GIVEN),
    )


@pytest.mark.parametrize("name", BATCHES)
def test_the_saved_model_answers_as_the_live_one(client, translator, name):
    live = translator.signatures["serving_default"](
        tf.constant(BATCHES[name], tf.string)
    )
    check_equal(client["batches"][name], plain(live))


def test_the_answers_are_worth_comparing(client):
    """They differ from each other, and from nothing."""
    texts = client["batches"]["sentences"]["translation"]
    assert len(set(texts)) == len(texts)
    assert all(texts)


def test_nothing_is_translated_by_nothing(client):
    for name in ("empty string", "only spaces"):
        assert client["batches"][name]["translation"] == [""]
    first, second, third = client["batches"]["among others"]["translation"]
    assert (first, third) == ("", "")
    assert second
    assert client["batches"]["empty batch"] == {"translation": [], "score": []}


def test_the_batch_changes_no_answer(client):
    one, many = (
        client["batches"][name]["translation"] for name in ("one", "sentences")
    )
    assert one == many[:1]


def test_ids_are_translated_without_text(client, translator):
    live = translator.signatures["translate_ids"](tf.constant(IDS))
    check_equal(client["ids"], plain(live))
    assert np.array(client["ids"]["translation_ids"]).any()


def test_attends(client, translator):
    text = tf.constant(["the red book", "who knows", ""])
    check_equal(client["attend"], plain(translator.signatures["attend"](text)))
    assert np.array(client["attend"]["weights"]).ndim == 3


def test_given_translations_are_scored(client, translator):
    live = translator.signatures["score"](
        tf.constant(GIVEN[0]), tf.constant(GIVEN[1])
    )
    check_equal(client["score"], plain(live))


def test_a_step_of_streaming(client, translator):
    started = translator.signatures["encode"](tf.constant(["who knows"]))
    live = translator.signatures["decode_step"](
        tf.constant([1]), *started.values()
    )
    check_equal(client["step"], plain(live))


def test_signatures(client, translator):
    size = translator.target_tokenizer.vocabulary_size
    text = {"text": ["string", [None]]}
    ids = {"ids": ["int32", [None, None]]}
    one = {"translation": ["string", [None]], "score": ["float32", [None]]}
    signatures = client["signatures"]
    started, stepped = (signatures.pop(x) for x in ("encode", "decode_step"))
    states = {x: started[1][x] for x in started[1] if x.startswith("state")}
    assert started[0] == text
    assert signatures.pop("encode_ids") == [ids, started[1]]
    assert stepped[0] == {"ids": ["int32", [None]], **started[1]}
    assert stepped[1] == {
        "log_probabilities": ["float32", [None, size]],
        "weights": ["float32", [None, None]],
        **states,
    }
    assert signatures == {
        "serving_default": [text, one],
        "greedy": [text, one],
        "translate_sentences": [text, one],
        "translate_with": [
            {
                **text,
                "prefix": ["string", [None]],
                "required": ["string", [None, None]],
                "forbidden": ["string", [None, None]],
            },
            one,
        ],
        "n_best": [
            text,
            {
                "translations": ["string", [None, 3]],
                "scores": ["float32", [None, 3]],
            },
        ],
        "translate_ids": [
            ids,
            {
                "translation_ids": ["int32", [None, 40]],
                "score": ["float32", [None]],
            },
        ],
        "score": [
            {**text, "translation": ["string", [None]]},
            {
                "log_probability": ["float32", [None]],
                "length": ["int32", [None]],
            },
        ],
        "attend": [
            text,
            {
                "source_tokens": ["string", [None, None]],
                "target_tokens": ["string", [None, None]],
                "weights": ["float32", [None, None, None]],
            },
        ],
        "tokenize": [text, ids],
        "detokenize": [ids, text],
    }


@pytest.fixture(scope="module")
def gru(tmp_path_factory):
    """A function of a layer, and the SavedModel of it."""
    layer = FastGRU(3)

    @tf.function(input_signature=[tf.TensorSpec([None, 4, 2], name="x")])
    def run(x):
        return {"y": layer(x)}

    path = tmp_path_factory.mktemp("models") / "gru" / "1"
    return run, export_saved_model(path, {"run": run}, [layer])


def test_loading_warns_of_nothing(gru, caplog):
    tf.saved_model.load(gru[1])
    assert not caplog.records


# Replacing an older export.


def scaler(factor):
    """The signature and the resource of a model that multiplies."""
    layer = keras.layers.Dense(
        1,
        use_bias=False,
        kernel_initializer=keras.initializers.Constant(factor),
    )
    layer.build((None, 1))

    @tf.function(input_signature=[tf.TensorSpec([None, 1], name="x")])
    def scale(x):
        return {"y": layer(x)}

    return {"serving_default": scale}, [layer]


def factor_of(path):
    model = tf.saved_model.load(path)
    found = model.signatures["serving_default"](x=tf.ones((1, 1)))
    return float(found["y"][0, 0])


def test_replaces_an_older_export(tmp_path):
    path = tmp_path / "scaler" / "1"
    for factor in (2.0, 3.0):
        export_saved_model(str(path), *scaler(factor))
        assert factor_of(path) == factor
        assert os.listdir(path.parent) == ["1"]


def test_a_full_disk_raises_a_clear_error(tmp_path, monkeypatch):
    def full(*_):
        raise tf.errors.ResourceExhaustedError(None, None, "No space left")

    monkeypatch.setattr(tf.saved_model, "save", full)
    with pytest.raises(OSError, match="No space left.*scaler"):
        export_saved_model(tmp_path / "scaler" / "1", *scaler(3.0))


def test_nothing_but_an_export_is_replaced(tmp_path):
    (tmp_path / "run").mkdir()
    for name in ("run/card.json", "notes.txt"):
        (tmp_path / name).write_text("precious")
        path = tmp_path / name.split("/")[0]
        with pytest.raises(
            ValueError, match=f"NAME/VERSION. Received: '{path}"
        ):
            export_saved_model(path, *scaler(2.0))
        assert (tmp_path / name).read_text() == "precious"


def test_a_server_may_read_the_export(tmp_path):
    """The temporary folder it was written in is for its owner only."""
    path = tmp_path / "scaler" / "1"
    export_saved_model(path, *scaler(2.0))
    (tmp_path / "made").mkdir()
    expected = (tmp_path / "made").stat().st_mode
    assert path.stat().st_mode == expected


def test_the_next_version_is_one_more_than_the_newest(tmp_path):
    assert next_version(tmp_path / "new") == tmp_path / "new" / "1"
    for name in ("1", "9", "10", ".partial-11", "training-12", "card.json"):
        (tmp_path / name).mkdir()
    assert next_version(str(tmp_path)) == tmp_path / "11"


def test_the_card_lies_inside(tmp_path):
    path = export_saved_model(tmp_path / "1", *scaler(2.0), {"bleu": math.nan})
    card = json.loads((path / "card.json").read_text("utf-8"))
    assert card == {
        "bleu": "NaN",
        "signatures": {
            "serving_default": {
                "inputs": {"x": ["float32", [None, 1]]},
                "outputs": {"y": ["float32", [None, 1]]},
            }
        },
    }


def test_each_weight_is_stored_once(tmp_path):
    layer = keras.layers.Dense(300, use_bias=False)
    layer.build((None, 300))
    spec = tf.TensorSpec([None, 300], name="x")
    function = tf.function(lambda x: {"y": layer(x)}, [spec])
    path = export_saved_model(tmp_path / "1", {"call": function}, [layer])
    size = sum(x.stat().st_size for x in path.glob("variables/*"))
    assert 300 * 300 * 4 <= size < 1.1 * 300 * 300 * 4


def test_an_export_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OSError, match="folder must be.*file/scaler'"):
        export_saved_model(tmp_path / "file" / "scaler" / "1", *scaler(2.0))


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def halve_until_small(x):
    """With constants that differ in dtype, are returned and come first."""
    with tf.control_dependencies([tf.constant(2.0, name="before")]):
        steps = tf.constant(2)
    steps, x = tf.while_loop(
        lambda n, x: tf.reduce_max(x) > 2.0,
        lambda n, x: (n + 2, x / 2.0 - 2.0 + 2.0),
        [steps, x],
    )
    return {"x": x + 2.0 - 2.0, "steps": steps, "two": tf.constant(2.0)}


def constants(path):
    """The attributes and inputs of the constants of each function."""
    model = saved_model_pb2.SavedModel.FromString(
        (path / "saved_model.pb").read_bytes()
    )
    return [
        [
            (str(sorted(node.attr.items())), tuple(node.input))
            for node in function.node_def
            if node.op == "Const"
        ]
        for function in model.meta_graphs[0].graph_def.library.function
    ]


def test_equal_constants_are_one_and_nothing_else_changes(tmp_path):
    module = tf.Module()
    module.function = halve_until_small
    tf.saved_model.save(module, str(tmp_path), halve_until_small)
    before = constants(tmp_path)
    simplify_graphs(tmp_path)
    after = constants(tmp_path)
    assert [set(x) for x in after] == [set(x) for x in before]
    # One that follows another node remains.
    alike = [c for x in after for c in set(x) if x.count(c) > 1]
    assert all(inputs for _, inputs in alike)
    assert sum(map(len, after)) < sum(map(len, before))
    x = tf.constant([9.0, 1.0])
    loaded = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    found = {name: y.numpy().tolist() for name, y in loaded(x).items()}
    assert found == {"x": [1.125, 0.125], "steps": 8, "two": 2.0}


@pytest.mark.parametrize(
    "shape, batches, expected",
    [
        ([None], {}, ["a b c"]),
        ([None, None], {}, [["a", "b", "c"]]),
        ([None, None], {"tag": [2 * ["a a"]]}, 2 * [["a", "a"]]),
    ],
)
def test_a_request_has_the_shape_that_the_function_takes(
    shape, batches, expected, tmp_path
):
    function = tf.function(
        lambda given: {"found": given},
        input_signature=[tf.TensorSpec(shape, tf.string, "given")],
    )
    functions = {"tag": function.get_concrete_function()}
    write_warm_up(tmp_path, functions, batches)
    [(name, inputs)] = recorded_requests(tmp_path)
    assert name == "tag"
    np.testing.assert_array_equal(
        inputs["given"], np.array(expected).astype("S")
    )
