import importlib.util
import os
import signal
import subprocess
import sys
import time

import pytest

from kerasrnn.serving.corpus import command
from kerasrnn.serving.corpus.command import answer_corpus
from tests.serving import toys

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
    line_answers = command.line_answers

    def fail_late(signature, lines, batch_size):
        if len(answered) == 2:
            raise RuntimeError("no more")
        answered.append(lines[0])
        return line_answers(signature, lines, batch_size)

    monkeypatch.setattr(command, "line_answers", fail_late)
    with pytest.raises(RuntimeError, match="no more"):
        answer_corpus(model, source, target, shards=5)
    assert not target.exists()
    first = set(answered)
    # The next run would fail at its second shard.
    answered.pop()
    capsys.readouterr()
    with pytest.raises(RuntimeError, match="no more"):
        answer_corpus(model, source, target, shards=5)
    assert capsys.readouterr().err.startswith("2 of 5 shards, 20 of 50 lines")
    assert answered[-1] not in first
    monkeypatch.undo()
    answer_corpus(model, source, target, shards=5)
    assert target.read_text().splitlines() == [x.upper() for x in LINES]


def test_a_line_that_the_model_refuses_is_a_bad_line(tmp_path, source):
    path = toys.heavy(tmp_path / "heavy")
    lines = [
        f"a bad text {i}" if i in (7, 41) else x for i, x in enumerate(LINES)
    ]
    lines[20] = "x" * 100
    source.write_text("\n".join(lines) + "\n")
    target = tmp_path / "output.txt"
    answer_corpus(path, source, target, shards=3, max_bytes=50)
    answers = target.read_text().splitlines()
    assert [i for i, answer in enumerate(answers) if not answer] == [7, 20, 41]
    assert answers[6] == "SENTENCE 6"
    bad = (tmp_path / "output.txt.bad.tsv").read_text().splitlines()
    assert [row.split("\t")[0] for row in bad] == ["8", "21", "42"]
    assert "a bad text" in bad[0] and "too long" in bad[1]


@pytest.mark.skipif(
    importlib.util.find_spec("apache_beam") is not None,
    reason="Apache Beam is installed",
)
def test_beam_is_an_extra(model, source, tmp_path):
    target = tmp_path / "output.txt"
    with pytest.raises(ImportError, match="pip install 'kerasrnn.beam.'"):
        command.main([str(model), str(source), str(target), "--beam"])


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("2", "model='toy/1'.*Received: model='toy"),
        ("1", "checksum=.*Received:.*checksum="),  # written anew
        ("1/assets", "checksum=.*Received:.*checksum="),  # a file more
    ],
)
def test_a_new_version_is_not_mixed_with_an_old_one(
    source, tmp_path, monkeypatch, version, message
):
    path = toys.translator(tmp_path / "toy")
    target = tmp_path / "output.txt"
    monkeypatch.setattr(command, "line_answers", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        answer_corpus(path, source, target)
    if version == "1/assets":
        (path / version / "more.txt").touch()
    else:
        toys.export(path, {"serving_default": toys.greedy}, version=version)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=message):
        answer_corpus(path, source, target)
    if version == "2":
        answer_corpus(path, source, target, version=1)
        assert target.read_text().startswith("SENTENCE 0\n")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": "missing.txt"}, "missing"),
        ({"model": "missing"}, "versions of a SavedModel"),
        ({"shards": 0}, "`shards` must be an integer >= 1.*=0"),
        ({"batch_size": 0}, "`batch_size` must be an integer >= 1.*=0"),
        ({"max_bytes": 0}, "`max_bytes` must be an integer >= 1.*=0"),
        ({"version": 3}, "Received: 3"),
        ({"target": "input.txt"}, "must be different files"),
        ({"target": "."}, "`target` must be a file. Received: the folder"),
    ],
)
def test_wrong_arguments_are_named(changes, message, model, source, tmp_path):
    given = {"model": model, "source": source, "target": tmp_path / "out.txt"}
    if "target" in changes:
        changes = {"target": tmp_path / changes["target"]}
    with pytest.raises((ValueError, OSError), match=message):
        answer_corpus(**given | changes)


def test_the_command_names_the_bad_lines(model, source, tmp_path, capsys):
    source.write_bytes(b"good\nb\xffd\ngood\n")
    target = tmp_path / "output.txt"
    command.main([str(model), str(source), str(target), "--max-bytes", "9"])
    assert target.read_text() == "GOOD\n\nGOOD\n"
    listed = f"{target}.bad.tsv"
    assert listed in capsys.readouterr().err
    with open(listed) as file:
        assert file.read().startswith("2\tinvalid UTF-8")


@pytest.mark.slow
def test_a_killed_run_is_continued(model, source, tmp_path):
    source.write_text("\n".join(LINES * 400) + "\n")
    target = tmp_path / "output.txt"
    command = [sys.executable, "-m", "kerasrnn.serving.corpus.command"]
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
    command[-1] = "64"
    if importlib.util.find_spec("apache_beam") is not None:
        # By two processes, each of which loads the model.
        command += ["--beam", "--direct_num_workers=2"]
        command += ["--direct_running_mode=multi_processing"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{finished} of 20 shards" in done.stderr
    assert target.read_text().splitlines() == [x.upper() for x in LINES * 400]
