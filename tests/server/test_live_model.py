import asyncio
import logging
import pathlib
import shutil

import pytest

from kerasrnn_server.live_model import LiveModel
from kerasrnn_server.messages import Answer
from kerasrnn_server.messages import Request
from kerasrnn_server.worker import WorkerEnded

REQUEST = Request("v1", b"")


class Worker:
    """Stands for a process that answers with the name of its version."""

    def __init__(self, path, changed):
        self.path, self.changed = path, changed
        self.worn = self.ended = False

    async def call(self, request, end):
        if self.ended:
            raise WorkerEnded
        return Answer(200, self.path.name.encode())

    async def drain(self, seconds):
        self.end()

    def end(self):
        self.worn = self.ended = True
        self.changed()


class Folder:
    """Versions without a model, and the workers that were started for them."""

    def __init__(self, path):
        self.path = path
        self.started = []
        self.live = LiveModel(path, self.start, timeout=0.5)

    def add(self, version, content="works"):
        path = self.path / str(version)
        path.mkdir(parents=True, exist_ok=True)
        (path / "saved_model.pb").write_text(content)

    async def start(self, path, changed):
        if (path / "saved_model.pb").read_text() != "works":
            raise WorkerEnded(f"'{path}' does not work.")
        self.started.append(Worker(path, changed))
        return self.started[-1]

    async def answer(self):
        return (await self.live.call(REQUEST)).body.decode()


@pytest.fixture
def folder(tmp_path):
    folder = Folder(pathlib.Path(tmp_path, "shout"))
    folder.add(1)
    return folder


def test_a_new_version_replaces_the_old_one(folder):
    async def scenario():
        await folder.live.refresh()
        assert await folder.answer() == "1"
        folder.add(2)
        await folder.live.refresh()
        assert (await folder.answer(), folder.live.version) == ("2", 2)
        await asyncio.sleep(0)
        # The process of the old one has ended.
        assert [worker.ended for worker in folder.started] == [True, False]
        await folder.live.refresh()
        assert len(folder.started) == 2

    asyncio.run(scenario())


def test_a_broken_version_is_left_out_until_it_is_repaired(folder, caplog):
    async def scenario():
        await folder.live.refresh()
        folder.add(2, "is broken")
        with caplog.at_level(logging.ERROR):
            await folder.live.refresh()
            await folder.live.refresh()
        [record] = caplog.records  # One message, not one a look.
        assert "2' does not work" in record.getMessage()
        assert await folder.answer() == "1"
        folder.add(2)
        await folder.live.refresh()
        assert await folder.answer() == "2"

    asyncio.run(scenario())


def test_the_version_before_is_served_when_the_newest_is_removed(folder):
    async def scenario():
        folder.add(2)
        await folder.live.refresh()
        shutil.rmtree(folder.path / "2")
        await folder.live.refresh()
        assert await folder.answer() == "1"
        # And goes on when nothing is left.
        shutil.rmtree(folder.path)
        await folder.live.refresh()
        assert await folder.answer() == "1"

    asyncio.run(scenario())


def test_a_request_whose_process_ends_is_sent_to_the_next(folder):
    async def scenario():
        follow = asyncio.create_task(folder.live.follow(seconds=60))
        await asyncio.sleep(0.2)
        folder.started[0].end()
        assert await folder.answer() == "1"
        assert len(folder.started) == 2
        follow.cancel()

    asyncio.run(scenario())


def test_a_request_that_ends_two_processes_is_refused(folder, monkeypatch):
    async def crash(worker, request, end):
        worker.end()
        raise WorkerEnded

    async def scenario():
        follow = asyncio.create_task(folder.live.follow(seconds=60))
        await asyncio.sleep(0.2)
        with monkeypatch.context() as patch:
            patch.setattr(Worker, "call", crash)
            with pytest.raises(WorkerEnded, match="Two processes of 'shout'"):
                await folder.answer()
        # Others are answered by the third.
        assert await folder.answer() == "1"
        assert len(folder.started) == 3
        follow.cancel()

    asyncio.run(scenario())


def test_a_process_with_an_endless_call_serves_until_it_is_replaced(folder):
    async def scenario():
        follow = asyncio.create_task(folder.live.follow(seconds=60))
        await asyncio.sleep(0.2)
        [worker] = folder.started
        worker.worn = True
        assert await folder.answer() == "1"
        worker.changed()
        await asyncio.sleep(0.2)
        assert [worker.ended for worker in folder.started] == [True, False]
        follow.cancel()

    asyncio.run(scenario())


def test_without_a_version_that_works_there_is_no_answer(folder):
    async def scenario():
        folder.add(1, "is broken")
        await folder.live.refresh()
        with pytest.raises(WorkerEnded, match="No version of 'shout' works"):
            await folder.answer()
        folder.add(1)
        await folder.live.refresh()
        # It ends, and none comes in its place.
        folder.started[0].end()
        with pytest.raises(TimeoutError):
            await folder.answer()

    asyncio.run(scenario())
