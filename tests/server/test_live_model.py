import asyncio
import gc
import logging
import shutil
import weakref

import pytest

pytest.importorskip("starlette")

from starlette.exceptions import HTTPException  # noqa: E402

from kerasrnn_commands.model_process import WorkerEnded  # noqa: E402
from kerasrnn_commands.model_process import WorkerKilled  # noqa: E402
from tests.server.fakes import Folder  # noqa: E402
from tests.server.fakes import until  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    return make(tmp_path)


def make(tmp_path, **settings):
    folder = Folder(tmp_path / "shout", **settings)
    folder.add(1)
    return folder


def run(folder, scenario):
    """Runs a scenario while the versions are followed."""

    async def followed():
        async with folder.followed():
            await scenario()

    asyncio.run(followed())
    assert all(worker.ended for worker in folder.started)


def messages(caplog, level):
    return [x.getMessage() for x in caplog.records if x.levelname == level]


def test_a_new_version_replaces_the_old_one(folder):
    async def scenario():
        assert await folder.ask() == "1"
        before = asyncio.create_task(folder.ask(b"wait"))
        await asyncio.sleep(0.01)
        folder.add(2)
        await until(lambda: folder.live.version == 2)
        assert await folder.ask() == "2"
        # The old one ends after its last call.
        assert not folder.started[0].ended
        before.cancel()
        await until(lambda: folder.started[0].ended)
        await asyncio.sleep(0.1)
        assert len(folder.started) == 2

    run(folder, scenario)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("is broken", "cannot be loaded"),
        ("hangs", "did not load within 0.1 seconds"),
    ],
)
def test_a_version_that_does_not_load_is_left_out_until_it_is_repaired(
    tmp_path, caplog, content, reason
):
    async def scenario():
        folder.add(2, content)
        await until(lambda: messages(caplog, "ERROR"))
        await asyncio.sleep(0.2)
        assert await folder.ask() == "1"
        assert folder.tried.count("2") == 1
        folder.add(2)
        await until(lambda: folder.live.version == 2)
        assert await folder.ask() == "2"

    folder = make(tmp_path, load_timeout=0.1)
    with caplog.at_level(logging.ERROR):
        run(folder, scenario)
    [message] = messages(caplog, "ERROR")  # One message, not one a look.
    assert message.endswith(f"2' is skipped: it {reason}.")


def test_a_version_that_is_written_again_is_taken_up(folder):
    async def scenario():
        folder.add(1)
        await until(lambda: len(folder.started) == 2)
        await until(lambda: folder.started[0].ended)
        assert await folder.ask() == "1"

    run(folder, scenario)


def test_the_version_before_is_served_when_the_newest_is_removed(folder):
    async def scenario():
        assert await folder.ask() == "2"
        shutil.rmtree(folder.path / "2")
        await until(lambda: folder.live.version == 1)
        assert await folder.ask() == "1"
        # And goes on when nothing is left.
        shutil.rmtree(folder.path)
        await asyncio.sleep(0.1)
        assert await folder.ask() == "1"

    folder.add(2)
    run(folder, scenario)


def test_a_process_goes_on_whose_files_are_damaged(folder):
    """An older version would be another model."""

    async def scenario():
        folder.add(2, "is broken")
        await asyncio.sleep(0.1)
        assert await folder.ask() == "2"
        assert len(folder.started) == 1
        # The other comes once there is no choice.
        folder.started[0].end()
        await until(lambda: folder.live.worker)
        assert await folder.ask() == "1"

    folder.add(2)
    run(folder, scenario)


def test_without_a_version_that_works_a_call_is_refused_at_once(folder):
    async def refused(reason):
        with pytest.raises(HTTPException, match=reason):
            folder.live.serving()
        with pytest.raises(HTTPException, match=reason) as error:
            async with asyncio.timeout(0.5):
                await folder.ask()
        assert error.value.status_code == 503
        assert error.value.headers == {"Retry-After": "1"}

    async def scenario():
        waiting = asyncio.create_task(folder.ask(b"wait"))
        await asyncio.sleep(0.01)
        folder.add(1, "is damaged")
        folder.add(10, "hangs")
        folder.add(9, "is damaged, too")
        folder.started[0].end()
        await refused("'shout' is being loaded, as its process has ended. Try")
        # What it has taken waits for the next process, in vain.
        await until(waiting.done)
        reason = (
            "No version of 'shout' works: version 1 cannot be loaded, version "
            "9 cannot be loaded, version 10 did not load within 0.3 seconds."
        )
        await refused(reason)
        with pytest.raises(HTTPException, match=reason):
            await waiting
        assert folder.live.unfinished == 0
        shutil.rmtree(folder.path)
        await asyncio.sleep(0.4)
        await refused("No version of 'shout' works: its folder has no version.")
        folder.add(1)
        await until(lambda: folder.live.worker)
        assert await folder.ask() == "1"

    folder = make(folder.path.parent, load_timeout=0.3, poll_seconds=0.2)
    run(folder, scenario)


def test_it_looks_again_at_once_after_a_failure(folder):
    async def scenario():
        assert await folder.ask() == "1"

    folder = make(folder.path.parent, poll_seconds=60)
    folder.add(2, "is broken")
    run(folder, scenario)


def test_nobody_waits_for_a_version_that_loads(folder):
    """Neither a later one, nor the one that is served, if its process ends."""

    async def scenario():
        folder.add(2, "hangs")
        await asyncio.sleep(0.1)
        folder.started[0].end()
        await until(lambda: folder.live.worker)
        assert await folder.ask() == "1"
        folder.add(3, "hangs")
        await until(lambda: folder.abandoned == ["2"])
        shutil.rmtree(folder.path / "3")
        await until(lambda: folder.abandoned[:2] == ["2", "3"])
        folder.add(4)
        await until(lambda: folder.live.version == 4)
        # The second was tried again while it was the newest.
        assert folder.abandoned in (["2", "3"], ["2", "3", "2"])

    run(folder, scenario)


@pytest.mark.parametrize(
    ("error", "worked"),
    [
        (WorkerEnded(), True),
        (WorkerKilled(), False),
        (TimeoutError(), False),
        (OSError(), True),
        (OSError(), False),
    ],
)
def test_what_may_work_later_is_tried_again(folder, error, worked):
    """Memory may be short now, for a version that worked, or any process."""

    async def scenario():
        if worked:
            folder.error = error
            folder.started[0].end()
        count = len(folder.tried)
        await until(lambda: len(folder.tried) > count + 2)
        assert folder.live.looked
        folder.error = None
        await until(lambda: folder.live.worker)
        assert await folder.ask() == "1"
        # Once a look, not again and again.
        assert len(folder.tried) < 20

    folder.error = None if worked else error
    run(folder, scenario)


def test_only_the_request_that_ends_processes_is_refused(folder):
    """The others of its process are sent to the next ones one by one."""

    calls = []

    async def start(path, changed):
        worker = await folder.start(path, changed)
        if len(folder.started) == 2:
            # What comes then does not meet the one that ends processes.
            asyncio.get_running_loop().call_soon(ask, [b""] * 10)
        return worker

    def ask(bodies):
        calls.extend(asyncio.create_task(folder.ask(x)) for x in bodies)

    async def scenario():
        folder.live._start = start
        ask([b"crash"] + [b""] * 20)
        await until(lambda: len(calls) == 31)
        bad, *found = await asyncio.gather(*calls, return_exceptions=True)
        assert found == ["1"] * 30
        assert isinstance(bad, HTTPException)
        assert (bad.status_code, bad.detail, bad.headers) == (
            503,
            "Two processes of 'shout' crashed during the call, which may be "
            "the reason. Do not repeat it.",
            None,
        )
        most = [worker.most for worker in folder.started]
        assert most[:2] == [21, 1] and len(most) == 3

    run(folder, scenario)


def test_what_a_lost_process_has_left_is_freed(folder, caplog):
    """Such as the rest of an answer. Its connection refers to itself."""

    async def scenario():
        worker = folder.started.pop()
        worker.itself, left = worker, weakref.ref(worker)
        worker.end()
        del worker
        await until(lambda: folder.live.worker)
        assert left() is None
        [message] = messages(caplog, "ERROR")
        assert message.endswith("/1' ended or hangs.")

    gc.disable()
    try:
        run(folder, scenario)
    finally:
        gc.enable()


def test_calls_of_one_model_are_limited(tmp_path):
    async def scenario():
        calls = [asyncio.create_task(folder.ask(b"wait")) for _ in "ab"]
        await asyncio.sleep(0)
        assert folder.live.unfinished == 2
        with pytest.raises(
            HTTPException, match="'shout' has 2 running"
        ) as error:
            await folder.ask()
        assert error.value.status_code == 503
        for call in calls:
            with pytest.raises(HTTPException, match="than 0.2 sec") as error:
                await call
            assert error.value.status_code == 504
        assert (await folder.ask(), folder.live.unfinished) == ("1", 0)

    folder = make(tmp_path, waiting=2, timeout=0.2)
    run(folder, scenario)


def test_a_process_with_an_endless_call_serves_until_it_is_replaced(folder):
    async def scenario():
        [worker] = folder.started
        folder.error = OSError()
        worker.worn = True
        worker.changed()
        await until(lambda: len(folder.tried) > 2)
        assert await folder.ask() == "1"
        assert not worker.ended
        worker.silent = True
        with pytest.raises(HTTPException, match="as its process hangs. Try"):
            await folder.ask()
        folder.error = None
        await until(lambda: worker.ended)
        assert len(folder.started) == 2

    run(folder, scenario)
