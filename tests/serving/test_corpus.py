import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("apache_beam", reason="needs the extra `beam`")

from kerasrnn.serving import corpus  # noqa: E402
from kerasrnn.serving.corpus import answer_corpus  # noqa: E402
from kerasrnn.serving.corpus_pipeline import SavedModelHandler  # noqa: E402
from tests.serving import toys  # noqa: E402

LINES = [f"sentence {i}" for i in range(50)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return toys.translator(tmp_path_factory.mktemp("models") / "toy")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "input.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_a_text_is_answered_in_the_order_of_its_lines(
    model, source, tmp_path, capsys
):
    target = tmp_path / "output.txt"
    answer_corpus(model, source, target, shards=3, batch_size=4)
    assert target.read_text().splitlines() == [x.upper() for x in LINES]
    assert sorted(tmp_path.iterdir()) == [source, target]
    assert "3 of 3 shards, 50 of 50 lines" in capsys.readouterr().err


def test_finished_shards_are_not_answered_again(
    model, source, tmp_path, monkeypatch, capsys
):
    target, answered = tmp_path / "output.txt", []
    run_inference = SavedModelHandler.run_inference

    def fail_late(self, batch, *args):
        if len(answered) == 2:
            raise RuntimeError("no more")
        answered.extend(lines[0] for lines in batch)
        return run_inference(self, batch, *args)

    monkeypatch.setattr(SavedModelHandler, "run_inference", fail_late)
    with pytest.raises(RuntimeError, match="no more"):
        answer_corpus(model, source, target, shards=5)
    assert not target.exists()
    first = set(answered)
    answered.clear()
    monkeypatch.setattr(
        SavedModelHandler,
        "run_inference",
        lambda self, batch, *args: (
            answered.extend(lines[0] for lines in batch)
            or run_inference(self, batch, *args)
        ),
    )
    capsys.readouterr()
    answer_corpus(model, source, target, shards=5)
    assert capsys.readouterr().err.startswith("2 of 5 shards, 20 of 50 lines")
    assert len(first) == 2 and len(answered) == 3
    assert not first & set(answered)
    assert target.read_text().splitlines() == [x.upper() for x in LINES]


def test_a_new_version_is_not_mixed_with_an_old_one(
    source, tmp_path, monkeypatch
):
    path = toys.translator(tmp_path / "toy")
    target = tmp_path / "output.txt"
    monkeypatch.setattr(corpus, "answer_shards", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        answer_corpus(path, source, target)
    toys.export(path, {"serving_default": toys.greedy}, version="2")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="model='toy/1'.*Received: model='toy"):
        answer_corpus(path, source, target)
    answer_corpus(path, source, target, version=1)
    assert target.read_text().startswith("SENTENCE 0\n")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": "missing.txt"}, "missing"),
        ({"model": "missing"}, "versions of a SavedModel"),
        ({"shards": 0}, "`shards` must be a positive.*Received: 0"),
        ({"batch_size": 0}, "`batch_size` must be a positive.*Received: 0"),
        ({"version": 3}, "Received: 3"),
    ],
)
def test_wrong_arguments_are_named(changes, message, model, source, tmp_path):
    given = {"model": model, "source": source, "target": tmp_path / "out.txt"}
    with pytest.raises((ValueError, OSError), match=message):
        answer_corpus(**given | changes)


def test_the_command_names_the_bad_lines(model, source, tmp_path, capsys):
    source.write_bytes(b"good\nb\xffd\ngood\n")
    target = tmp_path / "output.txt"
    corpus.main([str(model), str(source), str(target), "--max-bytes", "9"])
    assert target.read_text() == "GOOD\n\nGOOD\n"
    listed = f"{target}.bad.tsv"
    assert listed in capsys.readouterr().err
    with open(listed) as file:
        assert file.read().startswith("2\tinvalid UTF-8")
    with pytest.raises(SystemExit):
        corpus.main([str(model), str(tmp_path / "missing"), str(target)])
    assert "kerasrnn-corpus: The file 'missing'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_run_is_continued(model, source, tmp_path):
    source.write_text("\n".join(LINES * 2000) + "\n")
    target = tmp_path / "output.txt"
    command = [sys.executable, "-m", "kerasrnn.serving.corpus"]
    command += map(str, [model, source, target, "--shards", 20])
    command += ["--batch-size", "1"]
    killed = subprocess.Popen(command, start_new_session=True)
    folder = tmp_path / "output.txt.shards"
    while len(list(folder.glob("output-*"))) < 3:
        assert killed.poll() is None
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    finished = len(list(folder.glob("output-*")))
    assert finished < 20
    # By two processes of Beam, each of which loads the model.
    done = subprocess.run(
        [*command[:-1], "64", "--direct_num_workers=2"]
        + ["--direct_running_mode=multi_processing"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"{finished} of 20 shards" in done.stderr
    assert target.read_text().splitlines() == [x.upper() for x in LINES * 2000]


def test_counts_are_positive(model, source, tmp_path):
    for name in ("shards", "batch_size", "max_bytes"):
        with pytest.raises(ValueError, match=f"`{name}` must be a positive"):
            answer_corpus(model, source, tmp_path / "x", **{name: 0})
