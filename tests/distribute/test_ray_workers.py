import json
import os
import pathlib
import sys
import types

import pytest

from kerasrnn.distribute.ray_workers import main
from kerasrnn.distribute.ray_workers import run_script

SCRIPT = """
import json, os, pathlib, sys
import beside_the_script
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
    (tmp_path / "beside_the_script.py").touch()
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
    # Its end is no error.
    script.write_text("raise SystemExit(0)")
    run_script(facts(script))


def test_ray_is_asked_for_what_the_flags_say(monkeypatch):
    asked = []

    class Trainer:
        def __init__(self, *args, **options):
            asked.append((args, options))

        def fit(self):
            asked.append("fit")

    train = types.ModuleType("ray.train")
    train.ScalingConfig = train.RunConfig = train.FailureConfig = dict
    parts = {"ray": types.SimpleNamespace(train=train), "ray.train": train}
    parts["ray.train.tensorflow"] = types.SimpleNamespace(
        TensorflowTrainer=Trainer
    )
    for name, part in parts.items():
        monkeypatch.setitem(sys.modules, name, part)
    main(["3", "--gpu", "--restarts", "2", "run.py", "--seed", "5"])
    flags = ["--seed", "5", "--distribute", "workers"]
    config = {"script": "run.py", "args": flags, "folder": os.getcwd()}
    expected = {
        "train_loop_config": config,
        "scaling_config": {"num_workers": 3, "use_gpu": True},
        "run_config": {"failure_config": {"max_failures": 2}},
    }
    assert asked == [((run_script,), expected), "fit"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Those of Ray about itself.
def test_ray_starts_two_workers(script):
    pytest.importorskip("ray", reason="needs the extra ray")
    script.write_text(SCRIPT.replace("sys.argv[1])", "0)"))
    main(["2", str(script), "--epochs", "3"])
    for worker in range(2):
        flags = json.loads(pathlib.Path(f"{worker}.json").read_text())
        assert flags == ["--epochs", "3", "--distribute", "workers"]
