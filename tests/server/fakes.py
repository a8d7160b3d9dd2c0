"""Versions without a model, and what stands for their processes."""

import asyncio
import contextlib

from kerasrnn_commands.live_model import LiveModel
from kerasrnn_commands.messages import Answer
from kerasrnn_commands.messages import Request
from kerasrnn_commands.messages import ServerSettings
from kerasrnn_commands.model_process import WorkerEnded


async def until(reached, seconds=10):
    """Waits for a condition."""
    async with asyncio.timeout(seconds):
        while not reached():
            await asyncio.sleep(0.005)


class Worker:
    """Stands for a process that answers with the name of its version.

    The body `b"crash"` ends it, and `b"wait"` is never answered.
    """

    metadata = {
        "v1": {"attend": 1},
        "v2": {"attend": {"inputs": []}, "serving_default": {"inputs": [2]}},
    }

    def __init__(self, path, changed):
        self.path, self.changed = path, changed
        self.worn = self.ended = self.silent = False
        self.calls, self.most, self._ending = 0, 0, asyncio.Event()

    async def call(self, request):
        if self.ended:
            raise WorkerEnded
        self.calls += 1
        self.most = max(self.most, self.calls)
        try:
            async with asyncio.timeout(60 if request.body == b"wait" else 0.01):
                await self._ending.wait()
        except TimeoutError:
            if request.body != b"crash":
                return Answer(200, self.path.name.encode())
            self.end()
        finally:
            self.calls -= 1
        raise WorkerEnded

    async def drain(self, seconds):
        try:
            async with asyncio.timeout(seconds):
                while self.calls:
                    await asyncio.sleep(0.005)
        finally:
            self.end()

    def end(self):
        self.worn = self.ended = True
        self._ending.set()
        self.changed()


class Folder:
    """The folder of a model, and the processes that were started for it.

    Args:
        path: The folder.
        **settings: Of the server.

    Attributes:
        live: The `LiveModel`.
        started: List of each `Worker`.
        tried: Names of the versions that were to be started.
        abandoned: Those of which the start was given up.
        error: What is raised in place of a start.
    """

    def __init__(self, path, **settings):
        settings = {"timeout": 5.0, "poll_seconds": 0.02, **settings}
        self.path, self.error = path, None
        self.started, self.tried, self.abandoned = [], [], []
        self.live = LiveModel(path, self.start, ServerSettings(**settings))

    def add(self, version, content="works"):
        path = self.path / str(version)
        path.mkdir(parents=True, exist_ok=True)
        # Nobody finds a part of it.
        partial = self.path.with_name(".partial")
        partial.write_text(content)
        partial.rename(path / "saved_model.pb")

    async def start(self, path, changed):
        """What is in the file of a version says what becomes of it."""
        content = (path / "saved_model.pb").read_text()
        self.tried.append(path.name)
        if self.error is not None:
            raise self.error
        if content == "hangs":
            try:
                await asyncio.Event().wait()
            finally:
                self.abandoned.append(path.name)
        if content != "works":
            raise WorkerEnded("cannot be loaded")
        self.started.append(Worker(path, changed))
        return self.started[-1]

    @contextlib.asynccontextmanager
    async def followed(self):
        """Follows the versions, and first waits until one was tried."""
        task = asyncio.create_task(self.live.follow())
        try:
            await until(lambda: self.live.looked or self.error)
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def ask(self, body=b""):
        return (await self.live.call(Request("v1", body))).body.decode()
