"""The files that only one task needs."""

import pathlib
import sys

import pytest
import task_files

ROOT = pathlib.Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("task", "own", "shared"),
    [
        ("tag", "kerasrnn/data/tagged_words.py", "kerasrnn/pipelines/xla.py"),
        ("music", "kerasrnn/data/music/midi.py", "kerasrnn/pipelines/run.py"),
    ],
)
def test_files_of_one_task(task, own, shared, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["task_files.py", task])
    task_files.main()
    found = capsys.readouterr().out.split()
    assert own in found and f"recipes/{task}.py" in found
    assert shared not in found and "recipes/forecast.py" not in found
