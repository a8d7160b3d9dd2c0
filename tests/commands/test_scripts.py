"""Console scripts without their extra say so in one line."""

import importlib
import importlib.util
import sys
import tomllib

import pytest

from kerasrnn_commands import scripts
from tests.test_layering import ROOT


@pytest.mark.parametrize(
    ("command", "extra", "needed"),
    [
        ("corpus", "text", "tensorflow_text"),
        ("demo", "demo", "tensorflow_text"),
        ("demo", "demo", "gradio"),
        ("onnx", "onnx", "tf2onnx"),
        ("ray", "ray", "tensorflow"),
        ("ray", "ray", "ray"),
        ("serve", "serve", "tensorflow_text"),
        ("serve", "serve", "tyro"),
    ],
)
def test_a_missing_extra_is_named(command, extra, needed, monkeypatch):
    # Even for `--help`.
    monkeypatch.setattr(sys, "argv", [f"kerasrnn-{command}", "--help"])
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == needed else find("sys"),
    )
    with pytest.raises(SystemExit) as ended:
        getattr(scripts, command)()
    assert ended.value.code == (
        f"kerasrnn-{command} needs {needed}: pip install 'kerasrnn[{extra}]'"
    )


def test_a_command_runs_with_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["kerasrnn-ray", "--help"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    with pytest.raises(SystemExit, match="0"):
        scripts.ray()
    assert "usage: kerasrnn-ray" in capsys.readouterr().out


def test_every_command_is_a_function():
    with (ROOT / "pyproject.toml").open("rb") as file:
        commands = tomllib.load(file)["project"]["scripts"]
    for name, target in commands.items():
        module, _, function = target.partition(":")
        assert callable(getattr(importlib.import_module(module), function)), (
            name
        )
