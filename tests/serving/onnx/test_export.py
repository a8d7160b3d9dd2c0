"""ONNX files of signatures; those that need no tf2onnx come first."""

import importlib.util
import sys
import types

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import read_series
from kerasrnn.layers import CRF
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastRNN
from kerasrnn.models import LanguageModel
from kerasrnn.models import PianoRollModel
from kerasrnn.pipelines import MusicPipeline
from kerasrnn.pipelines import TextLanguageModel
from kerasrnn.serving import ExportedModel
from kerasrnn.serving.onnx import export
from kerasrnn.serving.onnx.conversion import write_with_ifs
from kerasrnn.serving.onnx.export import export_onnx
from tests import helpers
from tests.pipelines import small
from tests.serving.small import export_small_model

HAS_ONNX = all(map(importlib.util.find_spec, ("onnxruntime", "tf2onnx")))
needs_onnx = pytest.mark.skipif(not HAS_ONNX, reason="needs the extra `onnx`")


@pytest.fixture
def found(monkeypatch):
    """As if the extra were installed."""
    for name in ("onnx", "onnxruntime", "tf2onnx"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))


@pytest.fixture
def model(tmp_path):
    return export_small_model(tmp_path / "shout") / "1"


def test_folders_that_will_not_do_are_errors(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="no saved_model.pb"):
        export_onnx(tmp_path, tmp_path / "onnx")
    with pytest.raises(FileExistsError, match="must be a new folder"):
        export_onnx(model, tmp_path)


@pytest.mark.parametrize("difference, kept", [(1e-6, True), (1e-3, False)])
def test_only_a_model_that_agrees_is_left(
    found, model, tmp_path, monkeypatch, difference, kept
):
    monkeypatch.setattr(export, "converted", lambda signature: b"model")
    monkeypatch.setattr(export, "largest_difference", lambda *given: difference)
    output = tmp_path / "onnx"
    if kept:
        outcomes = export_onnx(model, output)
        assert [path.name for path in output.iterdir()] == ["square.onnx"]
        assert "at most 1.0e-06" in outcomes["square"]
        assert outcomes["repeat"] == "left out: it takes strings"
    else:
        with pytest.raises(ValueError, match="differs from the SavedModel"):
            export_onnx(model, output)
        assert sorted(tmp_path.iterdir()) == [tmp_path / "shout"]


def test_a_choice_is_the_same_without_a_case(tmp_path):
    choose = tf.function(
        lambda index: {"y": tf.switch_case(index, [lambda: 1.0, lambda: 2.0])},
        [tf.TensorSpec([], tf.int32, "index")],
    )
    tf.saved_model.save(tf.Module(), str(tmp_path / "1"), signatures=choose)
    write_with_ifs(tmp_path / "1", tmp_path / "2")
    served = ExportedModel(tmp_path / "2").signatures["serving_default"]
    assert [float(served(index=i)["y"]) for i in (0, 1)] == [1, 2]


def test_differences_are_relative_to_great_numbers():
    def difference(found, expected):
        return export.difference(np.array(found), np.array(expected))

    assert difference([0.5, 202.0], [1.0, 200.0]) == 0.5
    assert difference([np.inf, np.nan], [np.inf, np.nan]) == 0.0
    assert difference([1.0, 2.0], [1.0, np.nan]) == np.inf
    assert difference([[1.0]], [1.0]) == np.inf
    assert difference([1, 2], [1, 2]) == 0.0
    assert difference([1, 2], [1, 3]) == np.inf


def test_random_ids_reach_to_the_last_that_the_model_takes(model):
    square = ExportedModel(model).signatures["square"]
    random = np.random.default_rng(0)
    accepted = export._accepted(square, random)
    assert accepted == (4, False, False)
    inputs = export.random_inputs(square, random, 3, 5, 4, True, False)
    assert inputs["ids"].shape == (3, 5) and inputs["ids"].max() == 3
    for row in inputs["ids"]:
        real = row >= 0
        assert real[0] and (np.sort(real)[::-1] == real).all()


@needs_onnx
def test_a_model_that_differs_is_found_out(model):
    from kerasrnn.serving.onnx.conversion import converted

    loaded = ExportedModel(model)
    square = loaded.signatures["square"]
    found = converted(square)
    assert export.largest_difference(found, square) == 0.0
    loaded._loaded.table.assign([0.0, 1.0, 4.0, 10.0])
    assert export.largest_difference(found, square) == pytest.approx(0.1)


def music():
    model = PianoRollModel(FastGRUCell(4), keys=6)
    model.build()
    return MusicPipeline(model)


def forecaster():
    pipeline = small.forecaster()
    pipeline.adapt(read_series(small.series(), "date"))
    return pipeline


@needs_onnx
@pytest.mark.slow
@pytest.mark.parametrize(
    "build, expected",
    [
        (small.translator, {"decode_step", "encode_ids", "translate_ids"}),
        (small.labeller, {"label_ids"}),
        (small.language, {"score_ids", "step"}),
        (small.tagger, {"tag_ids"}),
        (music, {"serving_default", "step"}),
        (forecaster, {"serving_default", "start", "step"}),
    ],
)
def test_pipelines_answer_in_onnxruntime(tmp_path, build, expected, capsys):
    build().export(tmp_path / "1")
    export.main([str(tmp_path / "1"), str(tmp_path / "onnx")])
    files = {path.stem for path in (tmp_path / "onnx").iterdir()}
    assert files == expected
    takes_strings = "serving_default: left out: it takes str"
    said = takes_strings in capsys.readouterr().out
    assert said == ("serving_default" not in expected)


@needs_onnx
@pytest.mark.slow
def test_loops_of_this_package_are_converted(tmp_path):
    layer = FastRNN(FastGRUCell(4), return_sequences=True)
    layer.build((None, None, 3))
    module = tf.Module()
    module.weights = [v.value for v in layer.variables]

    @tf.function(input_signature=[tf.TensorSpec([None, None, 3], name="x")])
    def run(x):
        return {"outputs": layer(x, mask=x[:, :, 0] < 1.0)}

    tf.saved_model.save(
        module,
        tmp_path / "1",
        {"serving_default": run},
        tf.saved_model.SaveOptions(experimental_custom_gradients=False),
    )
    outcomes = export_onnx(tmp_path / "1", tmp_path / "onnx")
    assert "at most" in outcomes["serving_default"]


@needs_onnx
@pytest.mark.slow
def test_a_loop_around_our_loops_is_converted(tmp_path):
    """Windows of a text are a loop, around loops and a branch for blocks."""
    tokenizer = small.language().tokenizer
    model = LanguageModel(tokenizer.vocabulary_size, FastGRUCell(4))
    model.build()
    TextLanguageModel(model, tokenizer).export(tmp_path / "1")
    outcomes = export_onnx(tmp_path / "1", tmp_path / "onnx")
    assert "at most" in outcomes["score_ids"]
    assert "at most" in outcomes["step"]


@needs_onnx
@pytest.mark.slow
def test_a_keras_model_with_a_crf_is_converted(tmp_path):
    """Its best path is found from the last step to the first."""
    inputs = keras.Input((None, 4))
    outputs = keras.layers.Bidirectional(FastLSTM(4, return_sequences=True))(
        inputs
    )
    crf = CRF()
    model = keras.Model(inputs, crf(keras.layers.Dense(3)(outputs)))
    crf.set_weights([3 * helpers.random(*x.shape) for x in crf.weights])
    model.export(tmp_path / "1", verbose=False)
    outcomes = export_onnx(tmp_path / "1", tmp_path / "onnx")
    assert "at most" in outcomes["serve"]
