"""A command shows no row of a library, and a traceback of faults only."""

import os
import subprocess
import sys

import pytest

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


@pytest.mark.slow
def test_a_command_shows_no_row_of_a_library():
    code = "from kerasrnn_commands import scripts; scripts.corpus()"
    level = "TF_CPP_MIN_LOG_LEVEL"
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"],
        capture_output=True,
        text=True,
        env={name: x for name, x in os.environ.items() if name != level},
    )
    assert done.stdout.startswith("usage: kerasrnn-corpus")
    assert done.stderr == ""
