"""The process of a model, seen from the HTTP process."""

import asyncio
import contextlib
import dataclasses
import hashlib
import importlib.metadata
import itertools
import json
import logging
import os
import pathlib
import platform
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any
from typing import Self

from kerasrnn_commands.messages import ALIVE
from kerasrnn_commands.messages import EXAMPLE
from kerasrnn_commands.messages import Answer
from kerasrnn_commands.messages import Request
from kerasrnn_commands.messages import ServerSettings
from kerasrnn_commands.messages import packed
from kerasrnn_commands.messages import receive

log = logging.getLogger(__name__)

_VARIABLE = "TF_XLA_FLAGS"
_FLAG = "--tf_xla_persistent_cache_directory"


def with_programs() -> dict[str, str] | None:
    """Returns an environment in which processes keep compiled XLA programs.

    The programs are in the user's cache, in a folder for this processor and
    this version of TensorFlow, because programs for others may not run.

    Returns:
        Dictionary of all variables; `None` if the folder cannot be created, or
        `TF_XLA_FLAGS` already names another.
    """
    flags = os.environ.get(_VARIABLE, "")
    if _FLAG in flags:
        return None
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = pathlib.Path(cache, "kerasrnn", "xla", _fingerprint())
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        log.warning("Compiled XLA programs are not cached: %s", error)
        return None
    # Unquoted, a path would end at a space.
    flags = f'{flags} {_FLAG}="{folder}"'.strip()
    return {**os.environ, _VARIABLE: flags}


def _fingerprint():
    """Returns a name for this processor and version of TensorFlow."""
    facts = [platform.machine(), platform.processor()]
    with contextlib.suppress(OSError):
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        facts += [x for x in lines if x.startswith(("model name", "flags"))][:2]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        facts.append(importlib.metadata.version("tensorflow"))
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


_COMMAND = "from kerasrnn_commands.scripts import worker; worker()"
_BUFFER = 2**20
# Time for a process to take back a call, or to prove that it lives.
_GRACE = 1.0
# A process is ended when it has not answered so often in succession. The times
# are not added up, because this process may have been stopped as well. While
# its processor time grows, it is only slow, until it has used as many seconds.
# If it has calls and answers none for as long, it gets an example, which it
# must answer within the same time.
_UNANSWERED = 5


class WorkerEnded(Exception):
    """The process of a version has ended or did not start."""


class WorkerKilled(WorkerEnded):
    """It was killed before it had started, such as when memory is short."""


class Worker:
    """Sends requests to a process and returns its answers.

    Args:
        process: The process.
        reader, writer: The connection to it.
        metadata: Its description of the model.
        changed: Callback for when the process should be replaced.

    Attributes:
        metadata: Dictionary with the descriptions of the signatures in the
            protocols `"v1"` and `"v2"`.
        worn: Whether the process should be replaced: it has ended, or a call
            runs on after its timeout, or an example does.
        ended: Whether it accepts no more calls.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        metadata: dict[str, Any],
        changed: Callable[[], None],
    ):
        self.metadata = metadata
        self.worn = self.ended = False
        self._process, self._writer = process, writer
        self._changed = changed
        self._numbers = itertools.count()
        self._pending: dict[int, asyncio.Future[Answer]] = {}
        self._unanswered = self._silent = 0
        self._example_runs = False
        listening = asyncio.create_task(self._listen(reader))
        self._tasks = {listening, asyncio.create_task(self._check(listening))}

    @classmethod
    async def start(
        cls,
        path: pathlib.Path,
        settings: ServerSettings,
        changed: Callable[[], None],
        env: dict[str, str] | None = None,
    ) -> Self:
        """Starts a process and waits until it has loaded a version.

        Args:
            path: Folder of the version.
            settings: The `ServerSettings`.
            changed: Callback for when the process should be replaced.
            env: Its environment; `None` for that of this process.

        Raises:
            OSError: when the system cannot start a process.
            WorkerKilled: when its process was killed.
            WorkerEnded: when the version does not work.
        """
        options = json.dumps(dataclasses.asdict(settings))
        # The loop of a long call keeps one of TensorFlow's threads. By default,
        # there is one for each core.
        pool = str(settings.threads + (os.cpu_count() or 1))
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours, limit=_BUFFER)
        with contextlib.ExitStack() as undo:
            undo.callback(writer.close)
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-c", _COMMAND),
                    *(str(path), str(theirs.fileno()), options),
                    pass_fds=[theirs.fileno()],
                    env={"TF_NUM_INTEROP_THREADS": pool, **(env or os.environ)},
                )
            undo.callback(_kill, process)
            try:
                metadata = await receive(reader)
            except (asyncio.IncompleteReadError, OSError) as error:
                if await process.wait() == -signal.SIGKILL:
                    reason = "was killed while it was loaded"
                    raise WorkerKilled(reason) from error
                raise WorkerEnded("cannot be loaded") from error
            undo.pop_all()
        return cls(process, reader, writer, metadata, changed)

    async def call(self, request: Request) -> Answer:
        """Sends a request and waits for the answer.

        A cancelled call is removed from the queue. If it has started and does
        not end by itself, this worker is `worn`.

        Args:
            request: The `Request`.

        Raises:
            WorkerEnded: when the process ends before it answers.
        """
        if self.ended:
            raise WorkerEnded
        number = next(self._numbers)
        found = asyncio.get_running_loop().create_future()
        self._pending[number] = found
        try:
            self._writer.write(packed((number, request)))
            # Without a connection, the process will end soon.
            with contextlib.suppress(ConnectionError):
                await self._writer.drain()
            return await asyncio.shield(found)
        except asyncio.CancelledError:
            task = asyncio.create_task(self._give_up(number, found))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            raise

    @property
    def silent(self) -> bool:
        """Whether it answers none of its calls, not even an example."""
        return self._silent >= 2 * _UNANSWERED

    async def drain(self, seconds: float) -> None:
        """Waits for running calls, then ends the process.

        Args:
            seconds: Maximum time to wait.
        """
        try:
            if self._pending:
                await asyncio.wait(self._pending.values(), timeout=seconds)
        finally:
            self.end()

    def end(self) -> None:
        """Ends the process immediately."""
        _kill(self._process)

    async def _listen(self, reader):
        """Delivers answers until the process ends."""
        try:
            while True:
                number, answer = await receive(reader)
                self._unanswered = 0
                if answer is not None:
                    self._silent = 0
                if number == EXAMPLE:
                    self._example_runs = False
                found = self._pending.pop(number, None)
                if found is not None and not found.done():
                    found.set_result(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.ended = True
            for found in self._pending.values():
                found.set_exception(WorkerEnded())
                found.exception()  # Nobody may be waiting for it.
            self._pending.clear()
            self._writer.close()
            self._wear()

    async def _check(self, listening):
        """Ends the process if it stops answering, as if it had crashed."""
        before = at_answer = 0.0
        while self._unanswered < _UNANSWERED:
            if listening.done():
                return
            used = _processor_seconds(self._process.pid)
            if not self._unanswered:
                at_answer = used
            elif before < used < at_answer + _UNANSWERED:
                self._unanswered = 1
            before = used
            self._unanswered += 1
            self._writer.write(packed((ALIVE, None)))
            waits = self._pending or self._example_runs
            self._silent = self._silent + 1 if waits else 0
            if self._silent == _UNANSWERED and not self._example_runs:
                self._example_runs = True
                self._writer.write(packed((EXAMPLE, None)))
            if self.silent and not self._pending:
                self._wear()  # No call will exceed its time.
            await asyncio.sleep(_GRACE)
        log.error("Process %d is ended: it hangs.", self._process.pid)
        self.end()
        # The system may not end it soon, such as while a disk hangs.
        listening.cancel()

    async def _give_up(self, number, found):
        """Cancels a call; the process is worn if the call runs on."""
        self._writer.write(packed((number, None)))
        await asyncio.wait([found], timeout=_GRACE)
        if self._pending.pop(number, None) is not None:
            self._wear()

    def _wear(self):
        self.worn = True
        self._changed()


def _processor_seconds(pid):
    """Returns the processor time of a process; 0 where it is unknown."""
    with contextlib.suppress(OSError):
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
        # The name of the program, in brackets, may contain blanks.
        fields = text.rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _kill(process):
    with contextlib.suppress(ProcessLookupError):
        process.kill()
