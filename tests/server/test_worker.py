"""The process of a version, as the HTTP process sees it."""

import asyncio
import contextlib
import itertools
import os
import pathlib
import signal
import sys

import pytest

from kerasrnn_commands import model_process as worker_module
from kerasrnn_commands.messages import Request
from kerasrnn_commands.messages import ServerSettings
from kerasrnn_commands.model_process import Worker
from kerasrnn_commands.model_process import WorkerEnded
from kerasrnn_commands.model_process import WorkerKilled
from tests.server.fakes import until

SETTINGS = ServerSettings(max_rows=7)
# In place of `scripts.worker`, without TensorFlow. The name of the
# version, and the body of a request, say what it does.
PROCESS = """
import json, os, socket, sys, time
sys.path.append(os.environ["ROOT"])
from kerasrnn_commands.messages import ALIVE, EXAMPLE, Answer, packed, read
*_, path, descriptor, limits = sys.argv
if "hang" in path:
    open(path, "w").write(str(os.getpid()))
    time.sleep(60)
if "fail" in path:
    sys.exit(1)
if "kill" in path:
    os.kill(os.getpid(), 9)
connection = socket.socket(fileno=int(descriptor))
pool = int(os.environ["TF_NUM_INTEROP_THREADS"])
connection.sendall(packed({**json.loads(limits), "pool": pool}))
bodies = {}
with connection.makefile("rb") as messages:
    while (message := read(messages)) is not None:
        number, request = message
        if number == ALIVE:
            connection.sendall(packed((number, None)))
            continue
        if number == EXAMPLE:
            if b"mute" not in bodies.values():
                connection.sendall(packed((number, Answer(200, b""))))
            continue
        body = bodies.setdefault(number, request and request.body)
        if body == b"stop":
            os.kill(os.getpid(), 19)
        if body == b"crash":
            sys.exit(1)
        if body == b"compute":
            time.sleep(1)
        if request is None and body == b"wait":
            connection.sendall(packed((number, None)))
        if body == b"end":  # of those that wait
            for number, body in reversed(bodies.items()):
                connection.sendall(packed((number, Answer(200, body))))
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a scenario with such a process, and what it has called."""
    python = tmp_path / "python"
    (tmp_path / "process.py").write_text(PROCESS)
    python.write_text(
        f'#!/bin/sh\nexec {sys.executable} {tmp_path}/process.py "$@"\n'
    )
    python.chmod(0o700)
    monkeypatch.setattr(worker_module.sys, "executable", str(python))
    root = pathlib.Path(worker_module.__file__).parents[1]
    monkeypatch.setenv("ROOT", str(root))
    monkeypatch.delenv("TF_NUM_INTEROP_THREADS", raising=False)
    monkeypatch.setattr(worker_module, "_GRACE", 0.3)
    changes, processes = [], []
    execute = asyncio.create_subprocess_exec

    async def noted(*args, **options):
        processes.append(await execute(*args, **options))
        return processes[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)

    async def started(scenario):
        worker = await Worker.start(
            tmp_path / "1", SETTINGS, lambda: changes.append(1)
        )
        try:
            await scenario(worker, changes)
        finally:
            worker.end()
            for process in processes:
                await asyncio.wait_for(process.wait(), 10)

    return lambda scenario: asyncio.run(started(scenario))


def call(worker, body):
    return asyncio.create_task(worker.call(Request("v1", body)))


def test_each_request_gets_its_own_answer(run):
    async def scenario(worker, changes):
        assert worker.metadata["max_rows"] == 7
        # For each call of 8, and for others than loops.
        assert worker.metadata["pool"] > 8
        bodies = [b"wait", b"wait, too", b"end"]
        answers = await asyncio.gather(*(call(worker, x) for x in bodies))
        assert [answer.body for answer in answers] == bodies
        assert not (worker.worn or worker.ended or changes)

    run(scenario)


def test_a_call_that_is_cancelled_is_taken_back(run):
    async def scenario(worker, changes):
        for body, worn in [(b"wait", False), (b"go on", True)]:
            waiting = call(worker, body)
            await asyncio.sleep(0.05)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await until(lambda: worker.worn or not worker._pending)
            assert (worker.worn, bool(changes)) == (worn, worn)
        # It still answers those that it has.
        assert not worker.ended
        assert (await call(worker, b"end")).body == b"end"

    run(scenario)


@pytest.mark.parametrize("killed", [True, False])
def test_a_process_that_ends_ends_its_calls(run, caplog, killed):
    async def scenario(worker, changes):
        calls = [call(worker, b"wait") for _ in "ab"]
        await asyncio.sleep(0.05)
        if killed:
            # The next call comes before the end is noticed.
            number = worker._process.pid
            os.kill(number, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)
        calls.append(call(worker, b"a" * 10**7 if killed else b"crash"))
        late = worker.call(Request("v1", b"end"))  # begins when awaited
        for waiting in [*calls, late]:
            with pytest.raises(WorkerEnded):
                async with asyncio.timeout(10):
                    await waiting
        assert worker.worn and worker.ended and len(changes) == 1
        # Nor is it asked on whether it lives.
        await until(lambda: all(task.done() for task in worker._tasks))
        assert len(changes) == 1 and not caplog.messages

    run(scenario)


def test_a_process_that_stops_is_ended_and_one_that_computes_is_not(
    run, monkeypatch, caplog
):
    """Calls do not wait for its end, which a disk that hangs may delay."""
    killed = []

    async def scenario(worker, changes):
        monkeypatch.setattr(worker_module, "_GRACE", 0.1)
        monkeypatch.setattr(worker_module, "_kill", killed.append)
        computes = call(worker, b"wait")
        await asyncio.sleep(0.9)
        assert not (computes.done() or worker.ended or caplog.messages)
        stops = call(worker, b"stop")
        for waiting in (computes, stops, worker.call(Request("v1", b""))):
            with pytest.raises(WorkerEnded):
                async with asyncio.timeout(10):
                    await waiting
        assert worker.ended and len(changes) == 1
        process = worker._process
        assert killed == [process] and process.returncode is None
        line = f"Process {process.pid} is ended: it hangs."
        assert caplog.messages == [line]
        process.kill()

    run(scenario)


@pytest.mark.parametrize(("seconds", "ended"), [(0.01, False), (9, True)])
def test_a_process_that_gets_little_time_is_not_ended(
    run, monkeypatch, seconds, ended
):
    """Each time it is asked, it has computed for so many seconds."""

    async def scenario(worker, changes):
        calls = [call(worker, b"compute"), call(worker, b"end")]
        found = await asyncio.gather(*calls, return_exceptions=True)
        errors = [isinstance(x, WorkerEnded) for x in found]
        assert errors == [ended] * 2 and worker.ended == ended

    used = worker_module._processor_seconds(os.getpid())
    assert used == pytest.approx(sum(os.times()[:2]), abs=0.1)
    times = itertools.count(0, seconds)
    monkeypatch.setattr(
        worker_module, "_processor_seconds", lambda _: next(times)
    )
    monkeypatch.setattr(worker_module, "_GRACE", 0.1)
    run(scenario)


def test_a_process_that_answers_no_call_is_silent(run, monkeypatch):
    async def scenario(worker, changes):
        monkeypatch.setattr(worker_module, "_GRACE", 0.05)
        monkeypatch.setattr(worker_module, "_UNANSWERED", 6)
        waiting = call(worker, b"wait")
        # This call is long, but an example is answered.
        await until(lambda: worker._silent == 6)
        await until(lambda: worker._silent < 6)
        mute = call(worker, b"mute")
        await until(lambda: worker.silent)
        await call(worker, b"end")
        await asyncio.gather(waiting, mute)
        assert not (worker.silent or worker.worn or changes)
        # Without calls, the example tells that it hangs.
        await until(lambda: worker.worn)
        assert worker.silent and changes and not worker.ended

    run(scenario)


def test_a_process_is_drained_before_it_ends(run):
    async def scenario(worker, changes):
        waiting = call(worker, b"wait")
        await asyncio.sleep(0.05)
        draining = asyncio.create_task(worker.drain(10))
        await asyncio.sleep(0.05)
        assert not (draining.done() or worker.ended)
        await call(worker, b"end")
        assert (await waiting).body == b"wait"
        await draining
        await until(lambda: worker.ended)

    async def in_vain(worker, changes):
        waiting = call(worker, b"wait")
        await asyncio.sleep(0.05)
        await worker.drain(0.1)
        with pytest.raises(WorkerEnded):
            await waiting

    run(scenario)
    run(in_vain)


def test_a_version_that_does_not_come_up_leaves_nothing(run, tmp_path):
    async def scenario(worker, changes):
        for name, error in [("fails", WorkerEnded), ("killed", WorkerKilled)]:
            with pytest.raises(WorkerEnded) as found:
                await Worker.start(tmp_path / name, SETTINGS, lambda: None)
            assert found.type is error
        path = tmp_path / "hangs"
        start = Worker.start(path, SETTINGS, lambda: None)
        start = asyncio.create_task(start)
        await until(lambda: path.exists() and path.read_text())
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start

    run(scenario)  # All processes have ended.


def test_without_a_process_the_connection_to_it_is_closed(
    tmp_path, monkeypatch
):
    writers, connect = [], asyncio.open_connection

    async def open_connection(**options):
        reader, writer = await connect(**options)
        writers.append(writer)
        return reader, writer

    async def start(*_, **__):
        raise OSError("Too many processes")

    monkeypatch.setattr(asyncio, "open_connection", open_connection)
    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    with pytest.raises(OSError, match="Too many"):
        asyncio.run(Worker.start(tmp_path, SETTINGS, lambda: None))
    [writer] = writers
    assert writer.is_closing()
