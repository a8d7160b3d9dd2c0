"""Calls in threads, as many as the machine can bear."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import Any


class PoolIsFull(Exception):
    """So many calls run and wait that no more are accepted."""


class CallPool:
    """Runs calls in threads; refuses what it cannot run in time.

    TensorFlow releases Python's lock, so threads run side by side. A running
    call of TensorFlow cannot be stopped: after `timeout`, its caller gets an
    error, but its thread stays taken until the call ends.

    Args:
        threads: Number of calls that run at once.
        waiting: Number of calls that may wait for a thread.
        timeout: Seconds for a call, the time that it waits included.

    Example:

    >>> pool = CallPool(threads=2, waiting=8, timeout=1.0)
    >>> asyncio.run(pool.run(sum, [1, 2]))
    3
    >>> pool.close()
    """

    def __init__(self, threads: int, waiting: int, timeout: float):
        self.timeout = timeout
        self.capacity = threads + waiting
        self.unfinished = 0
        self._lock = threading.Lock()
        self._threads = concurrent.futures.ThreadPoolExecutor(threads, "call")

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Calls a function in a thread and waits for what it returns.

        Args:
            function: The function.
            *args: Its arguments.

        Returns:
            What the function returns.

        Raises:
            PoolIsFull: when too many calls wait.
            TimeoutError: when the time is over. The call is left out if it has
                not begun.
        """
        with self._lock:
            if self.unfinished >= self.capacity:
                raise PoolIsFull(
                    f"{self.unfinished} calls run or wait, which is the most "
                    "allowed. Try again later."
                )
            future = self._threads.submit(function, *args)
            self.unfinished += 1
        future.add_done_callback(self._count_down)
        try:
            return await asyncio.wait_for(
                asyncio.wrap_future(future), self.timeout
            )
        except TimeoutError as error:
            raise TimeoutError(
                f"The answer took longer than {self.timeout:g} seconds."
            ) from error

    def _count_down(self, _):
        with self._lock:
            self.unfinished -= 1

    def close(self) -> None:
        """Forgets the calls that wait; those that run go on to their end."""
        self._threads.shutdown(wait=False, cancel_futures=True)
