import json
import math
import os

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from kerasrnn.layers import FastGRU
from kerasrnn.pipelines import export_saved_model
from kerasrnn.pipelines import next_version
from kerasrnn.pipelines.saved_model import simplify_graphs
from kerasrnn.pipelines.saved_model import write_warm_up
from kerasrnn.serving.warm_up import recorded_requests


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
