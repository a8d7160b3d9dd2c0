"""Console scripts without their extra say so in one line."""

import importlib
import importlib.util
import sys
import tomllib

import pytest

from kerasrnn_commands import scripts
from tests.serving import small
from tests.test_layering import ROOT


def run(command, *args):
    """The exit code of a command, or its last words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [f"kerasrnn-{command}", *args])
        with pytest.raises(SystemExit) as ended:
            getattr(scripts, command)()
    return ended.value.code


@pytest.mark.parametrize("needed", ["tensorflow_text", "tyro"])
def test_a_missing_extra_of_the_server_is_named(needed, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == needed else find("sys"),
    )
    assert run("serve") == (
        f"kerasrnn-serve needs {needed}: pip install 'kerasrnn[serve]'"
    )


@pytest.mark.parametrize(
    ("command", "library", "args"),
    [
        ("demo", "gradio", ["saved_models"]),
        ("onnx", "onnx", ["shout/1", "out"]),
        ("ray", "ray", ["2", "recipe.py"]),
    ],
)
def test_only_help_does_without_an_extra(
    command, library, args, monkeypatch, capsys, tmp_path
):
    monkeypatch.chdir(tmp_path)
    small.export_small_model("shout")
    monkeypatch.delitem(
        sys.modules, "kerasrnn.serving.demo.page", raising=False
    )
    monkeypatch.setitem(sys.modules, library, None)
    assert run(command, "--help") == 0
    assert f"usage: kerasrnn-{command}" in capsys.readouterr().out
    # `quiet` shows it in one line.
    message = rf"'{library}'.*pip install 'kerasrnn\[{command}\]'"
    with pytest.raises(ImportError, match=message):
        run(command, *args)


def test_every_command_is_a_function():
    with (ROOT / "pyproject.toml").open("rb") as file:
        commands = tomllib.load(file)["project"]["scripts"]
    for name, target in commands.items():
        module, _, function = target.partition(":")
        assert callable(getattr(importlib.import_module(module), function)), (
            name
        )
