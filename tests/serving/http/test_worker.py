"""The requests of a process; tests/server runs it whole."""

import dataclasses
import json
import socket
import sys
import threading

import pytest

pytest.importorskip("orjson", reason="needs the extra `serve`")

from kerasrnn.serving import ModelFolder  # noqa: E402
from kerasrnn.serving.http import worker  # noqa: E402
from kerasrnn.serving.http.worker import Calls  # noqa: E402
from kerasrnn_commands import scripts  # noqa: E402
from kerasrnn_commands.messages import ALIVE  # noqa: E402
from kerasrnn_commands.messages import EXAMPLE  # noqa: E402
from kerasrnn_commands.messages import Request  # noqa: E402
from kerasrnn_commands.messages import ServerSettings  # noqa: E402
from kerasrnn_commands.messages import read  # noqa: E402
from tests.serving.small import export_small_model  # noqa: E402


def test_calls_are_read_taken_back_or_refused(tmp_path, monkeypatch):
    model = ModelFolder(export_small_model(tmp_path / "shout")).load()
    ours, theirs = socket.socketpair()
    (model.path / "card.json").write_text('{"batch_rows": 9}')
    monkeypatch.setattr(Calls, "_work", lambda self: None)  # No call runs.
    limits = ServerSettings(batch_rows=8, max_rows=2, max_values=3)
    assert Calls(model, limits, theirs)._queue.batch_rows == 8
    calls = Calls(model, dataclasses.replace(limits, batch_rows=32), theirs)
    assert calls._queue.batch_rows == 9
    with ours, theirs, ours.makefile("rb") as messages:
        ours.settimeout(10)
        calls.begin(3, Request("v1", b'{"instances": ["a"]}'))
        calls.begin(3, None)
        assert read(messages) == (3, None)
        calls.begin(5, None)  # It runs: what is answered is of the next.
        calls.begin(ALIVE, None)
        assert read(messages) == (ALIVE, None)
        calls.begin(EXAMPLE, None)
        [call] = calls._queue.take()
        assert call.number == EXAMPLE
        assert call.run()["loud"].tolist() == ["A"]
        wide = {"inputs": [[1, 2, 3]], "signature_name": "square"}
        for body in ({"instances": [*"abc"]}, wide):
            calls.begin(4, Request("v1", json.dumps(body).encode()))
            number, answer = read(messages)
            assert (number, answer.status) == (4, 400)
        deep = b"[" * 1020 + b"]" * 1020
        for protocol, body in [
            ("v1", b'{"instances": %s}'),
            ("v2", b'{"inputs": [], "id": %s, "parameters": %s}'),
        ]:
            calls.begin(5, Request(protocol, body.replace(b"%s", deep)))
            number, answer = read(messages)
            assert (number, answer.status) == (5, 400)
            assert b"nested too deeply" in answer.body


@pytest.mark.parametrize("loads", [True, False])
def test_it_ends_with_a_server_that_was_killed(tmp_path, monkeypatch, loads):
    """If an answer was not read, the end is an error of the connection."""

    def end(status):
        raise SystemExit(status)

    def kill():
        ours.recv(1, socket.MSG_PEEK)
        ours.close()

    path = export_small_model(tmp_path / "shout") / "1"
    (ours, theirs), loaded = socket.socketpair(), threading.Event()
    monkeypatch.setattr(worker.os, "_exit", end)
    monkeypatch.setattr(worker.signal, "signal", lambda *_: None)
    monkeypatch.setattr(worker.socket, "socket", lambda fileno: theirs)
    monkeypatch.setattr(sys, "argv", ["", str(path), "3", "{}"])
    killing = threading.Thread(target=kill)
    if loads:
        monkeypatch.setattr(worker, "_load", lambda *_: loaded.wait(10))
        ours.close()
    else:
        killing.start()
    with theirs, pytest.raises(SystemExit) as error:
        worker.main()
    loaded.set()
    assert error.value.code == 0


def test_a_model_is_served_without_matplotlib(monkeypatch):
    """Keras would load it, and it needs a folder to write to."""
    monkeypatch.setitem(sys.modules, "matplotlib", sys)
    monkeypatch.setattr(worker, "main", lambda: run.append(1))
    run = []
    scripts.worker()
    assert run and sys.modules["matplotlib"] is None
