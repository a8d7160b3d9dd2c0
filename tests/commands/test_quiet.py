"""A command shows no row of a library, and a traceback of faults only."""

import importlib
import os
import subprocess
import sys
import tempfile

import pytest

from kerasrnn.arguments import positive_integer
from kerasrnn.data import CorpusError
from kerasrnn_commands import quiet


@pytest.mark.parametrize(
    "error, said",
    [
        (CorpusError("No row is usable."), "tag.py: No row is usable.\n"),
        (FileNotFoundError("No file."), "tag.py: No file.\n"),
        (KeyboardInterrupt(), "\ntag.py: interrupted.\n"),
        (KeyboardInterrupt("Again."), "\ntag.py: interrupted. Again.\n"),
        (ValueError("Another."), "ValueError: Another.\n"),
    ],
)
def test_what_a_user_can_mend_is_one_line(error, said, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["recipes/tag.py"])
    sys.excepthook(type(error), error, None)
    assert sys.excepthook is quiet.without_traceback
    assert capsys.readouterr().err == said


def refuse():
    positive_integer("units", 0)


def fail():
    raise ValueError("Received: nothing of ours.")


def crash():
    positive_integer()


@pytest.mark.parametrize(
    "call, level, has_trace",
    [
        (refuse, "3", False),
        (refuse, "0", True),
        (fail, "3", True),
        (crash, "3", True),
    ],
)
def test_what_the_package_refuses_has_no_traceback(
    call, level, has_trace, monkeypatch, capsys
):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", level)
    monkeypatch.setattr(sys, "argv", ["recipes/tag.py"])
    monkeypatch.setattr(sys, "path", ["elsewhere", *sys.path])
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    sys.excepthook(raised.type, raised.value, raised.tb)
    said = capsys.readouterr().err
    assert said.startswith("Traceback" if has_trace else "tag.py: `units` must")


def test_a_command_starts_where_nothing_can_be_written(monkeypatch):
    """TensorFlow asks for a folder while it is imported."""

    def fail():
        raise FileNotFoundError

    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "gettempdir", fail)
    importlib.reload(quiet)
    assert tempfile.tempdir == os.curdir


@pytest.mark.slow
def test_a_command_shows_no_row_of_a_library():
    code = "from kerasrnn_commands import scripts; scripts.corpus()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.stdout.startswith("usage: kerasrnn-corpus")
    assert done.stderr == ""
