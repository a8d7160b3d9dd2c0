"""The server as a process of its own, and clients of it."""

import contextlib
import http.client
import importlib.util
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

needs_server = pytest.mark.skipif(
    importlib.util.find_spec("uvicorn") is None or sys.platform != "linux",
    reason="needs the extra `serve`, and Linux to look at processes",
)


class Running:
    """A server that is ready.

    Args:
        folder: Folder of the models.
        ready: The path that says so.
        **options: Options of the command line.
    """

    def __init__(self, folder, ready="/v2/health/ready", **options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        options = {"port": self.port, "poll_seconds": 0.2, **options}
        env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        # With one thread of TensorFlow, a long call holds up all others.
        env.pop("TF_NUM_INTEROP_THREADS", None)
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "kerasrnn_commands.server"),
                str(folder),
                *(
                    part
                    for name, value in options.items()
                    for part in (f"--{name.replace('_', '-')}", str(value))
                ),
            ],
            env=env,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log = []
        self._reader = threading.Thread(target=self._read_log)
        self._reader.start()
        until(lambda: self.get(ready)[0] == 200)

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line)

    def ask(self, method, path, body=None, headers=()):
        """Returns the status, the body and the headers of an answer."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(client):
            client.request(method, path, body, dict(headers))
            answer = client.getresponse()
            return answer.status, answer.read(), answer.headers

    def get(self, path):
        """Returns the status and the JSON of an answer."""
        try:
            status, body, _ = self.ask("GET", path)
        except OSError:
            return None, None
        return status, json.loads(body)

    def post(self, path, body):
        """The same for a request in JSON."""
        status, found, _ = self.ask("POST", path, json.dumps(body))
        return status, json.loads(found)

    def processes(self):
        """The numbers of the server's process and of those that it started."""
        found = [self.process.pid]
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                after_name = path.read_text().rpartition(")")[2].split()
                if int(after_name[1]) == self.process.pid:
                    found.append(int(path.parent.name))
        return found

    def memory(self):
        """The MiB of all of them; what they share counts once."""
        total = 0
        for number in self.processes():
            with contextlib.suppress(OSError):
                path = pathlib.Path(f"/proc/{number}/smaps_rollup")
                total += int(path.read_text().partition("\nPss:")[2].split()[0])
        return total / 1024

    def end(self, number=signal.SIGTERM):
        """Tells the server to end, and returns its exit status."""
        self.process.send_signal(number)
        status = self.process.wait(60)
        self._reader.join()
        self.process.stderr.close()
        return status


@contextlib.contextmanager
def running(*args, **options):
    """Yields a `Running` server, and ends it."""
    server = Running(*args, **options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()


def alive(number):
    """Whether there is a process of this number."""
    return pathlib.Path(f"/proc/{number}").exists()


def until(reached, seconds=120):
    """Waits for a condition."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.1)


class Clients:
    """Threads that ask the same again and again.

    Args:
        count: How many.
        ask: A function of no arguments.

    Attributes:
        answers: What it has returned, or the error that it has raised.
    """

    def __init__(self, count, ask):
        self.answers = []
        self._ask, self._done = ask, threading.Event()
        self._threads = [
            threading.Thread(target=self._run) for _ in range(count)
        ]

    def _run(self):
        while not self._done.is_set():
            try:
                self.answers.append(self._ask())
            except Exception as error:
                self.answers.append(error)

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        for thread in self._threads:
            thread.join()
