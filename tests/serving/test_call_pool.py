import asyncio
import threading

import pytest

from kerasrnn.serving.call_pool import CallPool
from kerasrnn.serving.call_pool import PoolIsFull


def test_calls_run_side_by_side():
    pool = CallPool(threads=2, waiting=0, timeout=5)
    meet = threading.Barrier(2)

    async def both():
        await asyncio.gather(pool.run(meet.wait), pool.run(meet.wait))

    asyncio.run(both())
    assert pool.unfinished == 0
    pool.close()


def test_an_error_of_a_call_is_that_of_its_caller():
    pool = CallPool(threads=1, waiting=1, timeout=5)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(pool.run(divmod, 1, 0))
    assert pool.unfinished == 0
    pool.close()


def test_what_cannot_wait_is_refused_and_what_is_late_ends():
    pool = CallPool(threads=1, waiting=1, timeout=0.05)
    go_on = threading.Event()
    begun = []

    async def overload():
        late = [
            asyncio.create_task(pool.run(go_on.wait)),
            asyncio.create_task(pool.run(begun.append, "waited")),
        ]
        await asyncio.sleep(0)
        with pytest.raises(PoolIsFull, match="2 calls"):
            await pool.run(divmod, 1, 1)
        for task in late:
            with pytest.raises(TimeoutError, match="0.05 seconds"):
                await task
        # The running call still has its thread; the other is forgotten.
        assert pool.unfinished == 1
        go_on.set()
        return await pool.run(divmod, 7, 2)

    assert asyncio.run(overload()) == (3, 1)
    assert not begun
    pool.close()
