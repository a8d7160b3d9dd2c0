"""The examples of the docstrings run, and print what they say."""

import ast
import dataclasses
import doctest
import functools
import importlib
import json
import pathlib
import re
import warnings

import keras
import numpy as np
import pytest

import kerasrnn
from kerasrnn.training import Settings
from tests.test_layering import FILES
from tests.test_layering import PACKAGE
from tests.test_layering import public_names

ROOT = PACKAGE.parent
PARTS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
EXAMPLE = re.compile(r"^Example.*:\s+(.*)", re.MULTILINE)
# What needs no TensorFlow.
EVERYWHERE = {"decoding", "layers", "metrics", "models", "training"}
OF_RECIPES = {
    f"kerasrnn.pipelines.{name}"
    for name in (
        "run",
        "saved_model",
        "text_translator",
    )
}
# They train a pipeline or write a SavedModel.
SLOW = OF_RECIPES | {
    "kerasrnn.data.translation_batches",
    "kerasrnn.layers.attention.coverage_attention",
    "kerasrnn.layers.attention.self_attention",
    "kerasrnn.layers.crf.crf_loss",
    "kerasrnn.models.dynamic_evaluation",
    "kerasrnn.pipelines.litert",
    "kerasrnn.pipelines.music_pipeline",
    "kerasrnn.pipelines.series_forecaster",
    "kerasrnn.pipelines.text_labeller",
    "kerasrnn.pipelines.text_tagger",
    "kerasrnn.pipelines.text_language_model",
    "kerasrnn.pipelines.text_translator",
    "kerasrnn.training.callbacks",
}

# They need an extra of pyproject.toml.
EXTRAS = {
    "kerasrnn.serving.corpus.beam": "apache_beam",
    "kerasrnn.serving.demo.page": "gradio",
    "kerasrnn.serving.http.json_arrays": "orjson",
    "kerasrnn.serving.onnx.export": "tf2onnx",
    "kerasrnn.serving.http.protocol_v1": "orjson",
    "kerasrnn.serving.demo.text_tabs": "gradio",
}


def name_of(path):
    """The name of the module in a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def namespace():
    """What an example need not import."""
    names = {
        "json": json,
        "keras": keras,
        "kerasrnn": kerasrnn,
        "np": np,
        "ops": keras.ops,
        "pathlib": pathlib,
        "warnings": warnings,
    }
    for part in PARTS:
        module = importlib.import_module(f"kerasrnn.{part}")
        for name in public_names(f"kerasrnn.{part}"):
            names[name] = getattr(module, name)
    return names


@dataclasses.dataclass(frozen=True, kw_only=True)
class Small(Settings):
    """Those that all recipes have."""


def given(name):
    """What the example of a module leaves to the recipe that it is taken from.

    That is its settings, its data and a function that builds a pipeline.
    """
    if name.startswith("kerasrnn.serving"):
        small = importlib.import_module("tests.serving.small")
        return {"export_small_model": small.export_small_model}
    if name not in OF_RECIPES:
        return {}
    # It needs TensorFlow.
    small = importlib.import_module("tests.pipelines.small")
    output = pathlib.Path("out")
    return {
        "settings": Small(
            output=output, epochs=1, batch_size=4, learning_rate=0.01
        ),
        "build_translator": small.translator,
        "pairs": small.PAIRS,
        "dev": small.PAIRS[:4],
    }


class Checker(doctest.OutputChecker):
    """Compares where an example shows an output.

    The shape of a tensor prints as a tuple, on every backend.
    """

    def check_output(self, want, got, optionflags):
        got = re.sub(r"TensorShape\(\[(.*?)\]\)", r"(\1)", got)
        return not want or super().check_output(want, got, optionflags)


def cases():
    """The modules with examples; on JAX, those of the parts that run there."""
    for path in FILES:
        name = name_of(path)
        _, part, *_ = f"{name}..".split(".")
        runs = keras.backend.backend() == "tensorflow" or part in EVERYWHERE
        if runs and ">>> " in path.read_text(encoding="utf-8"):
            marks = [pytest.mark.slow] if name in SLOW else []
            yield pytest.param(name, id=name, marks=marks)


@pytest.mark.filterwarnings("ignore:.* texts were cut")
@pytest.mark.parametrize("name", list(cases()))
def test_the_examples_of_a_module_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name.endswith("run"):
        # Exports and graphs of training are tested elsewhere, and take seconds.
        pipeline = importlib.import_module("kerasrnn.pipelines").TextPipeline
        monkeypatch.setattr(pipeline, "export", lambda self, path, card: path)
        eagerly = functools.partialmethod(pipeline.compile, run_eagerly=True)
        monkeypatch.setattr(pipeline, "compile", eagerly)
    extra = EXTRAS.get(name)
    if extra is not None:
        pytest.importorskip(extra, reason=f"needs {extra}")
    module = importlib.import_module(name)
    names = namespace() | given(name)
    # Two parts may have a public name in common: that of its own is meant.
    own = importlib.import_module(".".join(name.split(".")[:2]))
    names |= {x: getattr(own, x) for x in getattr(own, "__all__", ())}
    failures = []
    runner = doctest.DocTestRunner(
        Checker(),
        verbose=False,  # The default reads the `-v` of pytest.
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )
    finder = doctest.DocTestFinder()
    for test in finder.find(module, extraglobs=names):
        runner.run(test, out=failures.append)
    assert not failures, "".join(failures)
    assert runner.tries


def test_every_example_is_one_that_runs():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node) or ""
                assert "```" not in text, path
                for first in EXAMPLE.findall(text):
                    assert first.startswith(">>> "), (path, first)
