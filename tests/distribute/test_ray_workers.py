import json
import os
import pathlib
import sys

import pytest

from kerasrnn.distribute.ray_workers import main
from kerasrnn.distribute.ray_workers import run_script

SCRIPT = """
import json, os, pathlib, sys
config = json.loads(os.environ.get("TF_CONFIG", "{}"))
name = config.get("task", {}).get("index")
pathlib.Path(f"{name}.json").write_text(json.dumps(sys.argv[1:]))
raise SystemExit(sys.argv[1])
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("TF_CONFIG", raising=False)
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def facts(script, *args):
    return {"script": str(script), "args": args, "folder": str(script.parent)}


def test_a_script_runs_in_its_folder_with_its_flags(script):
    os.chdir("/")
    with pytest.raises(RuntimeError, match="script.py.* Received: wrong"):
        run_script(facts(script, "wrong", "--flag"))
    written = (script.parent / "None.json").read_text()
    assert json.loads(written) == ["wrong", "--flag"]


def test_the_end_of_a_script_is_no_error(script):
    script.write_text("raise SystemExit(0)")
    run_script(facts(script))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Those of Ray about itself.
def test_ray_starts_two_workers(script):
    pytest.importorskip("ray", reason="needs the extra ray")
    script.write_text(SCRIPT.replace("sys.argv[1])", "0)"))
    main(["2", str(script), "--epochs", "3"])
    for worker in range(2):
        flags = json.loads(pathlib.Path(f"{worker}.json").read_text())
        assert flags == ["--epochs", "3", "--distribute", "workers"]
