import time

from kerasrnn.training import Stopwatch


def test_a_stopwatch_tells_sleeping_from_working():
    clock = Stopwatch()
    time.sleep(0.1)
    rested = clock.read()
    assert 0.1 <= rested["wall_seconds"]
    assert rested["cpu_seconds"] < 0.1
    while time.process_time() - clock.cpu < 0.1:
        pass
    worked = clock.read()
    assert worked["cpu_seconds"] >= 0.1
    assert worked["wall_seconds"] > rested["wall_seconds"]
