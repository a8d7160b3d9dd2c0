"""Trainings on two devices and by two workers, each in its own process."""

import functools
import importlib
import json

import keras
import pytest

from tests.distribute import processes

if keras.backend.backend() != "tensorflow":
    pytest.skip("started with TensorFlow's strategies", allow_module_level=True)

# It imports TensorFlow.
trainings = importlib.import_module("tests.distribute.trainings")

SCRIPT = ("-m", "tests.distribute.trainings")
CELLS = ("lstm", "gam_rhn")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Returns what one device, this process, logs for a cell."""

    @functools.cache
    def logs(cell):
        return trainings.trained(cell, tmp_path_factory.mktemp(cell), 0)

    return logs


def assert_same(found, expected, cells=CELLS):
    assert set(found) == set(cells)
    for cell in cells:
        assert len(found[cell]["loss"]) == 3
        for name, values in expected(cell).items():
            assert found[cell][name] == pytest.approx(values, rel=1e-5), cell


@pytest.mark.thorough
def test_two_devices_learn_what_one_does(expected, tmp_path):
    command = (*SCRIPT, "mirrored", tmp_path, 0, *CELLS)
    assert_same(processes.answer(processes.start(*command)), expected)


@pytest.mark.thorough
def test_two_workers_learn_what_one_process_does(expected, tmp_path):
    output, others = tmp_path / "output", tmp_path / "others"
    others.mkdir()
    command = (*SCRIPT, "workers", output, 0, *CELLS)
    # Autograph would leave modules that it compiled.
    settings = {"TMPDIR": str(others), "PYTHONDONTWRITEBYTECODE": "1"}
    workers = processes.start_workers(*command, **settings)
    for worker in workers:
        assert_same(processes.answer(worker), expected)
    # The first writes; what the other wrote meanwhile is gone.
    folders = list(output.glob("training-*"))
    assert len(folders) == len(CELLS)
    assert all((path / "best.weights.h5").exists() for path in folders)
    assert not list(others.iterdir())


@pytest.mark.thorough
def test_a_killed_worker_ends_the_others_and_all_resume(expected, tmp_path):
    command = (*SCRIPT, "workers", tmp_path)
    first, second = processes.start_workers(*command, 0.3, "lstm")
    for line in first.stdout:
        if line.startswith("batch 3 of epoch 2"):
            break
    first.kill()
    _, errors = second.communicate(timeout=120)
    assert second.returncode != 0
    assert "RuntimeError: Worker 0 has stopped" in errors
    first.communicate()
    # Three epochs of six batches, of which the last was interrupted.
    for worker in processes.start_workers(*command, 0, "lstm"):
        printed = processes.output(worker).splitlines()
        assert "resumes after epoch 2 and 0 batches" in "".join(printed)
        assert_same(json.loads(printed[-1]), expected, ["lstm"])


@pytest.mark.thorough
def test_a_recipe_on_two_workers(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    lines = [f"a {c} {d}\t{d} {c} b\n" for c in "klmn" for d in "pqrs"]
    pairs.write_text("".join(lines))
    both = processes.start_workers(
        *("recipes/translate.py", "--train", pairs, "--tokenizer", "word"),
        *("--output", tmp_path / "out", "--units", 4, "--epochs", 1),
        *("--batch-size", 4, "--max-tokens", 12),
        *("--distribute", "workers"),
    )
    first, second = map(processes.output, both)
    assert "Train further" in first and "Train further" not in second
    assert {path.name for path in (tmp_path / "out").iterdir()} > {
        *("1", "card.json", "translator.keras", "training.png"),
    }


@pytest.mark.slow
def test_all_workers_get_the_text_of_the_first():
    script = """
from kerasrnn import distribute
from kerasrnn.distribute.workers import text_of_first_worker

strategy = distribute.make_strategy("workers")
with strategy.scope():
    name = "float32" if distribute.is_first_worker() else "mixed_bfloat16"
    print(text_of_first_worker(name, strategy))
"""
    for worker in processes.start_workers("-c", script):
        assert processes.output(worker).split()[-1] == "float32"


@pytest.mark.slow
def test_workers_with_other_data_are_told_so(tmp_path):
    script = """
import sys, pathlib
from kerasrnn import distribute
from kerasrnn.distribute.workers import copy_from_first_worker

strategy = distribute.make_strategy("workers")
with strategy.scope():
    name = "one" if distribute.is_first_worker() else "other"
    folder = pathlib.Path(sys.argv[1], name)
    folder.mkdir()
    copy_from_first_worker(folder, [], strategy)
"""
    first, second = processes.start_workers("-c", script, tmp_path)
    processes.output(first)
    assert (
        "'one' in the first worker and 'other' here"
        in (second.communicate(timeout=120)[1])
    )
