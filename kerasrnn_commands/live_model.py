"""Serves the newest working version of a model, with hot replacement."""

import asyncio
import contextlib
import gc
import logging
import pathlib
from collections.abc import Awaitable
from collections.abc import Callable

from starlette.exceptions import HTTPException

from kerasrnn_commands.messages import Answer
from kerasrnn_commands.messages import Request
from kerasrnn_commands.messages import ServerSettings
from kerasrnn_commands.model_process import Worker
from kerasrnn_commands.model_process import WorkerEnded
from kerasrnn_commands.model_process import WorkerKilled
from kerasrnn_commands.versions import Version
from kerasrnn_commands.versions import newest_first

log = logging.getLogger(__name__)


def again_later(text: str) -> HTTPException:
    """Returns the error for a client that should try again.

    Args:
        text: The reason.
    """
    headers = {"Retry-After": "1"}
    return HTTPException(503, f"{text} Try again later.", headers)


class LiveModel:
    """Follows the versions of a model and runs each in its own process.

    A new version is loaded and warmed up before it replaces the old one, whose
    process ends after its last call. A process that crashes or hangs, or has a
    call that exceeds its time, is replaced in the same way. A version that does
    not load in time is skipped while another works.

    Args:
        path: The folder `NAME` that contains the versions.
        start: Function that starts the `Worker` of a version, given its folder
            and a callback for when it should be replaced.
        settings: The `ServerSettings`.

    Attributes:
        worker: The `Worker` of the served version, or `None`.
        looked: Whether it has tried to load a version.
        unfinished: Number of running and waiting calls.
    """

    def __init__(
        self,
        path: pathlib.Path,
        start: Callable[[pathlib.Path, Callable[[], None]], Awaitable[Worker]],
        settings: ServerSettings,
    ):
        self.path, self.settings = path, settings
        self.unfinished = 0
        self.worker: Worker | None = None
        self.looked = False
        self._start = start
        self._served: Version | None = None
        self._loading: dict[Version, asyncio.Task[None]] = {}
        self._failed: dict[Version, WorkerEnded] = {}
        self._look, self._settled = asyncio.Event(), asyncio.Event()
        self._alone = asyncio.Lock()

    @property
    def version(self) -> int | None:
        """The number of the version that was loaded last, if any."""
        return self._served and self._served.number

    def serving(self) -> Worker:
        """Returns the process of the served version.

        Raises:
            HTTPException: when there is none, with the reason.
        """
        worker, name = self.worker, self.path.name
        if worker is not None and not (worker.worn and worker.silent):
            return worker
        if not self._settled.is_set():
            state = "has ended" if worker is None else "hangs"
            why = "" if self._served is None else f", as its process {state}"
            raise again_later(f"'{name}' is being loaded{why}.")
        failed = sorted(self._failed.items())
        reasons = [f"version {x.number} {reason}" for x, reason in failed]
        why = ", ".join(reasons) or "its folder has no version"
        raise again_later(f"No version of '{name}' works: {why}.")

    async def call(self, request: Request) -> Answer:
        """Answers a request.

        If the process crashes during the call, any of its calls may be the
        reason. So they are sent to the next process one by one, before other
        calls.

        Args:
            request: The `Request`.

        Raises:
            HTTPException: when no version works, too many calls are waiting,
                the answer takes too long, or a second process crashed, too.
        """
        self.serving()
        if self.unfinished >= self.settings.waiting:
            raise again_later(
                f"'{self.path.name}' has {self.unfinished} running and waiting "
                "calls, which is the maximum."
            )
        self.unfinished += 1
        try:
            async with asyncio.timeout(self.settings.timeout):
                return await self._answer(request)
        except TimeoutError as error:
            raise HTTPException(
                504,
                "The answer took longer than "
                f"{self.settings.timeout:g} seconds.",
            ) from error
        finally:
            self.unfinished -= 1

    async def _answer(self, request):
        async with self._alone:
            pass  # Calls that may have crashed a process come first.
        if self.worker is not None:
            with contextlib.suppress(WorkerEnded):
                return await self.worker.call(request)
        async with self._alone:
            await self._settled.wait()
            with contextlib.suppress(WorkerEnded):
                return await self.serving().call(request)
        raise HTTPException(
            503,
            f"Two processes of '{self.path.name}' crashed during the call, "
            "which may be the reason. Do not repeat it.",
        )

    async def follow(self) -> None:
        """Loads new versions until it is cancelled; then ends all processes."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                while True:
                    self._look.clear()
                    found = await asyncio.to_thread(newest_first, self.path)
                    self._load_from(found)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(self.settings.poll_seconds):
                            await self._look.wait()
        finally:
            if self.worker is not None:
                self.worker.end()

    def _load_from(self, found):
        """Starts and cancels the loading of versions.

        It loads the newest version that has not failed, if it is newer than a
        served one that works. If the process of the served version must be
        replaced, that version is loaded, too. If loading fails, it is loaded
        again at each check, because it has worked before. While none works, so
        are versions whose process was killed or too slow: memory may have been
        short, or a disk slow. Loading of other versions is cancelled.
        """
        works = self.worker is not None and not self.worker.worn
        # The served version stays even if its files are damaged, but not if
        # they are removed.
        stays = works and self.version in [x.number for x in found]
        again = not works and self._settled.is_set()
        self._failed = {
            x: y
            for x, y in self._failed.items()
            if x in found
            and not (
                again and (x == self._served or isinstance(y, WorkerKilled))
            )
        }
        untried = [
            x
            for x in found
            if x not in self._failed
            and not (stays and (x == self._served or x.number < self.version))
        ]
        wanted = {*untried[:1], *{self._served}.intersection(untried)}
        for version in self._loading.keys() - wanted:
            self._loading[version].cancel()
        for version in wanted - self._loading.keys():
            task = self._tasks.create_task(self._load(version))
            self._loading[version] = task
        if not wanted:
            self._settle()
        elif not works:
            self._settled.clear()

    async def _load(self, version):
        seconds = self.settings.load_timeout
        if version == self._served:
            log.error("The process of '%s' ended or hangs.", version.path)
        log.info("'%s' is being loaded.", version.path)
        try:
            async with asyncio.timeout(seconds):
                worker = await self._start(version.path, self._changed)
            self._switch(version, worker)
        except WorkerEnded as error:
            self._failed[version] = error
        except TimeoutError:
            reason = f"did not load within {seconds:g} seconds"
            self._failed[version] = WorkerKilled(reason)
        except Exception as error:
            # The fault is in the system, not in the version. The next check
            # tries again. Other models need not wait for it.
            self.looked = True
            log.error("'%s' cannot be loaded now: %s", version.path, error)
        finally:
            del self._loading[version]
        if version in self._failed:
            found = self._failed[version]
            log.error("'%s' is skipped: it %s.", version.path, found)
            self._look.set()

    def _switch(self, version, worker):
        old, self.worker = self.worker, worker
        self._served = version
        self._settle()
        self._look.set()
        # If a process ends in the middle of an answer, the connection to it and
        # what it has sent refer to each other.
        gc.collect()
        log.info("'%s' is served.", version.path)
        if old is not None:
            self._tasks.create_task(old.drain(self.settings.timeout))

    def _settle(self):
        """Records that calls need not wait: a version works, or none does."""
        self.looked = True
        self._settled.set()

    def _changed(self):
        """Called when a process has ended or should be replaced."""
        if self.worker is not None and self.worker.ended:
            self.worker = None
            self._settled.clear()
        self._look.set()
