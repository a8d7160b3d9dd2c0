"""Missing extras: the message says what to install."""

import importlib
import importlib.util
import re
import sys
import tomllib

import pandas
import pytest

from kerasrnn.optional import BACKENDS
from kerasrnn.optional import import_pandas
from kerasrnn.optional import needs
from kerasrnn.optional import needs_backend
from tests.test_layering import FILES
from tests.test_layering import ROOT


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mido", None)
    message = r"'mido'.*pip install 'kerasrnn\[recipes\]'. Received: .*mido"
    with pytest.raises(ImportError, match=message):
        with needs("mido", "recipes"):
            import mido  # noqa: F401


def test_other_errors_pass():
    with pytest.raises(ValueError, match="^mine$"):
        with needs("mido", "recipes"):
            raise ValueError("mine")
    with pytest.raises(ModuleNotFoundError, match="^No module named 'mine'$"):
        with needs_backend():
            raise ModuleNotFoundError("No module named 'mine'", name="mine")


def test_pandas_is_returned_or_named(monkeypatch):
    assert import_pandas() is pandas
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"'pandas'.*kerasrnn\[recipes\]"):
        import_pandas()


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("data", "tensorflow-text"),
        ("pipelines", "tensorflow-text"),
        ("serving", "tensorflow-text"),
        ("tokenizers", "tensorflow-text"),
        ("tokenizers.sentence_piece_tokenizer", "sentencepiece"),
    ],
)
def test_modules_name_the_extra_for_text(name, library, monkeypatch):
    module = importlib.import_module(f"kerasrnn.{name}")
    if name in ("data", "pipelines"):
        # It is imported anew, and is what fails.
        monkeypatch.delitem(sys.modules, "kerasrnn.tokenizers")
    monkeypatch.setitem(sys.modules, library.replace("-", "_"), None)
    message = rf"'{library}'.*pip install 'kerasrnn\[text\]'. Received: "
    with pytest.raises(ImportError, match=message):
        importlib.reload(module)


@pytest.mark.parametrize(
    ("installed", "chosen", "expected"),
    [
        (
            [],
            None,
            "pip install 'kerasrnn[tensorflow]'; or 'kerasrnn[jax]' or "
            "'kerasrnn[torch]', with KERAS_BACKEND=jax or KERAS_BACKEND=torch "
            "in the environment. Received: KERAS_BACKEND=(not set), and No "
            "module named 'tensorflow'",
        ),
        (
            ["jax", "torch"],
            "tensorflow",
            "KERAS_BACKEND=jax or torch in the environment, set before Keras "
            "is imported. Received: KERAS_BACKEND=tensorflow, and No module "
            "named 'tensorflow'",
        ),
        (
            ["tensorflow"],
            "numpy",
            "KERAS_BACKEND=tensorflow in the environment, set before Keras is "
            "imported. Received: KERAS_BACKEND=numpy, and No module named "
            "'scipy'",
        ),
    ],
)
def test_without_a_backend(installed, chosen, expected, monkeypatch):
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    if chosen:
        monkeypatch.setenv("KERAS_BACKEND", chosen)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: name in installed
    )
    name = "scipy" if chosen == "numpy" else "tensorflow"
    with pytest.raises(ImportError) as raised:
        with needs_backend():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    said = "Keras found no backend that kerasrnn can run on. Expected: "
    assert str(raised.value) == said + expected


def test_every_extra_that_an_error_names_is_offered():
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    named = set(BACKENDS)
    for path in [*FILES, *(ROOT / "kerasrnn_commands").glob("*.py")]:
        text = path.read_text("utf-8")
        named.update(re.findall(r'needs\("[^"]+", "(\w+)"\)', text))
        named.update(re.findall(r"kerasrnn\[(\w+)\]", text))
    assert {"text", "recipes", "serve"} <= named <= extras.keys()
