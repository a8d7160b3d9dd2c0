"""The process of a version of a model.

The HTTP server starts and ends it. It reads, checks and answers requests, so
the server only passes bytes on.
"""

import concurrent.futures
import contextlib
import ctypes
import gc
import json
import logging
import math
import os
import pathlib
import signal
import socket
import sys
import threading
from typing import NoReturn

from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.http.call_queue import Call
from kerasrnn.serving.http.call_queue import CallQueue
from kerasrnn.serving.http.call_queue import answers
from kerasrnn.serving.http.call_queue import positions
from kerasrnn.serving.http.call_queue import refused
from kerasrnn.serving.http.protocol_v1 import describe_v1
from kerasrnn.serving.http.protocol_v1 import receive_v1
from kerasrnn.serving.http.protocol_v2 import describe_v2
from kerasrnn.serving.http.protocol_v2 import receive_v2
from kerasrnn.serving.warm_up import example
from kerasrnn.serving.warm_up import warm_up
from kerasrnn_commands.messages import ALIVE
from kerasrnn_commands.messages import EXAMPLE
from kerasrnn_commands.messages import Answer
from kerasrnn_commands.messages import Request
from kerasrnn_commands.messages import ServerSettings
from kerasrnn_commands.messages import packed
from kerasrnn_commands.messages import read

# Threads that read requests, so that a long one does not block others.
_READERS = 4
_READ = {"v1": receive_v1, "v2": receive_v2}


class Calls:
    """Answers requests to a model, with limited concurrency.

    Args:
        model: The `ExportedModel`.
        settings: The `ServerSettings`.
        connection: Socket for the answers.
    """

    def __init__(
        self,
        model: ExportedModel,
        settings: ServerSettings,
        connection: socket.socket,
    ):
        self.model, self.settings = model, settings
        self._connection, self._sending = connection, threading.Lock()
        card = model.card() or {}
        self._queue = CallQueue(
            min(settings.batch_rows, card.get("batch_rows", math.inf)),
            settings.threads,
            min(os.cpu_count() or 1, max(1, settings.threads // 2)),
        )
        self._readers = concurrent.futures.ThreadPoolExecutor(_READERS)
        for _ in range(settings.threads):
            threading.Thread(target=self._work, daemon=True).start()

    def begin(self, number: int, request: Request | None) -> None:
        """Accepts or cancels a request.

        Args:
            number: Number of the request.
            request: The `Request`; `None` to cancel it if it has not started,
                which is answered with `None`. `ALIVE` and `EXAMPLE` have none.
        """
        if request is not None or number == EXAMPLE:
            self._queue.reserve(number)
            self._readers.submit(self._read, number, request)
        elif self._queue.remove(number) or number == ALIVE:
            self.send(number, None)

    def send(self, number: int, answer: object) -> None:
        """Sends an answer."""
        message = packed((number, answer))
        with self._sending:
            self._connection.sendall(message)

    def _read(self, number, request):
        if number not in self._queue:
            return
        try:
            self._queue.put(self._call(number, request))
        except Exception as error:
            if self._queue.remove(number):
                self.send(number, refused(error))

    def _call(self, number: int, request: Request | None) -> Call:
        """Reads and checks a request."""
        if request is None:
            signature = self.model.signatures["serving_default"]
            inputs, answer = example(signature), Answer(200, b"")
            return Call(number, signature, inputs, 1, lambda _: answer)
        signature, inputs, write = _READ[request.protocol](request, self.model)
        arrays = signature.arrays(inputs)
        size = positions(signature, arrays, self.settings)
        return Call(number, signature, arrays, size, write)

    def _work(self) -> NoReturn:
        while True:
            calls = self._queue.take()
            found = answers(calls)
            self._queue.done(calls)
            for call, answer in zip(calls, found, strict=True):
                self.send(call.number, answer)


def give_back_memory() -> None:
    """Returns freed memory to the system, which the C library keeps."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # Only the GNU library can.
        ctypes.CDLL(None).malloc_trim(0)


def main() -> None:
    """Loads a version and answers requests until the server ends."""
    path, descriptor, options = sys.argv[1:]
    shown = path.replace("%", "%%")
    logging.basicConfig(
        level=logging.INFO,
        format=f"%(asctime)s %(levelname)s '{shown}': %(message)s",
    )
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    # Signals are handled by the server, which then ends this process.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    connection = socket.socket(fileno=int(descriptor))
    settings = ServerSettings(**json.loads(options))
    # Loading a version may take minutes. Meanwhile, the server may end.
    loading = concurrent.futures.ThreadPoolExecutor(1)
    calls = loading.submit(_load, pathlib.Path(path), settings, connection)
    with (
        contextlib.suppress(ConnectionError),
        connection.makefile("rb") as messages,
    ):
        while (message := read(messages)) is not None:
            calls.result().begin(*message)
    # A running call cannot be stopped in another way.
    os._exit(0)


def _load(path, settings, connection):
    """Loads a version and reports it, or ends the process."""
    try:
        model = ExportedModel(path)
        warm_up(model)
        calls = Calls(model, settings, connection)
        give_back_memory()
        described = {
            "v1": describe_v1(model.signatures),
            "v2": describe_v2(model.signatures),
        }
    except Exception:
        logging.exception("This version cannot be loaded.")
        os._exit(1)
    connection.sendall(packed(described))
    return calls
