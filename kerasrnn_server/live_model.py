"""The newest version of a model that works, exchanged while it is in use."""

import asyncio
import contextlib
import logging
import pathlib
from collections.abc import Awaitable
from collections.abc import Callable

from kerasrnn_server.messages import Answer
from kerasrnn_server.messages import Request
from kerasrnn_server.versions import files_of
from kerasrnn_server.versions import versions
from kerasrnn_server.worker import Worker
from kerasrnn_server.worker import WorkerEnded

log = logging.getLogger(__name__)


class LiveModel:
    """Follows the versions of a model, each in a process of its own.

    A new version is loaded and warmed up before it replaces the old one, whose
    process ends after its last call. A process that ends by itself, or has a
    call that does not end in time, is replaced in the same way. A version that
    does not load is left out until its files change.

    Args:
        path: The folder `NAME` above the versions.
        start: Starts the `Worker` of a version, given its folder and a
            function to call when it should be replaced.
        timeout: Seconds that a call may take.

    Attributes:
        version: Number of the version that is served, or `None`.
        worker: Its `Worker`, or `None`.
        looked: Whether it has tried to take up a version.
    """

    def __init__(
        self,
        path: pathlib.Path,
        start: Callable[[pathlib.Path, Callable[[], None]], Awaitable[Worker]],
        timeout: float,
    ):
        self.path, self.timeout = path, timeout
        self.worker: Worker | None = None
        self.looked = False
        self.version: int | None = None
        self._start = start
        self._files: object = None
        self._broken: dict[pathlib.Path, object] = {}
        self._look, self._taken_up = asyncio.Event(), asyncio.Event()
        self._draining: dict[asyncio.Task[None], Worker] = {}

    async def follow(self, seconds: float) -> None:
        """Takes up new versions forever.

        Args:
            seconds: Time between two looks.
        """
        while True:
            self._look.clear()
            try:
                await self.refresh()
            except OSError as error:
                log.error("'%s' cannot be read: %s", self.path, error)
            self.looked = True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._look.wait()

    async def refresh(self) -> None:
        """Takes up the newest version that works, an older one if need be."""
        found = versions(self.path)
        for number, path in reversed(found.items()):
            files = await asyncio.to_thread(files_of, path)
            same = files == self._files
            if same and self.worker is not None and not self.worker.worn:
                return
            if files == self._broken.get(path):
                continue
            try:
                worker = await self._start(path, self._look.set)
            except WorkerEnded as error:
                log.error("%s What was served before stays.", error)
                if not same:
                    self._broken[path] = files
                continue
            self._switch(worker, number, files)
            return

    async def call(self, request: Request) -> Answer:
        """Answers a request.

        If the process ends meanwhile, the request is sent to the next one: it
        may have been another request that ended it.

        Args:
            request: The `Request`.

        Raises:
            TimeoutError: when the answer takes too long.
            WorkerEnded: when no version works, or the request has ended two
                processes.
        """
        end = asyncio.get_running_loop().time() + self.timeout
        if self.worker is None:
            raise WorkerEnded(f"No version of '{self.path.name}' works.")
        for _ in range(2):
            async with asyncio.timeout_at(end):
                await self._taken_up.wait()
            worker = self.worker
            with contextlib.suppress(WorkerEnded):
                return await worker.call(request, end)
            if worker is self.worker:
                self._taken_up.clear()
        raise WorkerEnded(
            f"Two processes of '{self.path.name}' ended during the call."
        )

    def close(self) -> None:
        """Ends all processes at once."""
        for worker in (self.worker, *self._draining.values()):
            if worker is not None:
                worker.end()

    def _switch(self, worker, number, files):
        old, self.worker = self.worker, worker
        self.version, self._files = number, files
        self._taken_up.set()
        log.info("'%s' is served.", self.path / str(number))
        if old is not None:
            task = asyncio.create_task(old.drain(self.timeout))
            self._draining[task] = old
            task.add_done_callback(self._draining.pop)
