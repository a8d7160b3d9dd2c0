"""The seconds that something takes."""

import time


class Stopwatch:
    """Measures the wall and CPU seconds since it was created.

    Example:

    >>> clock = Stopwatch()
    >>> clock.read()
    {'wall_seconds': ..., 'cpu_seconds': ...}
    """

    def __init__(self) -> None:
        self.wall = time.perf_counter()
        self.cpu = time.process_time()

    def read(self) -> dict[str, float]:
        """Returns the seconds so far, as a dictionary."""
        return {
            "wall_seconds": round(time.perf_counter() - self.wall, 2),
            "cpu_seconds": round(time.process_time() - self.cpu, 2),
        }
