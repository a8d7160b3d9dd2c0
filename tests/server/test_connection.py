"""What clients see of a server that refuses them, and what it logs."""

import asyncio
import contextlib
import errno
import logging
import pathlib
import resource
import socket

import pytest

pytest.importorskip("uvicorn")

from starlette.applications import Starlette  # noqa: E402
from starlette.exceptions import HTTPException  # noqa: E402
from starlette.requests import ClientDisconnect  # noqa: E402
from starlette.responses import PlainTextResponse  # noqa: E402
from starlette.routing import Route  # noqa: E402

from kerasrnn_commands.application import _nobody  # noqa: E402
from kerasrnn_commands.application import _refusal  # noqa: E402
from kerasrnn_commands.connection import Connection  # noqa: E402
from kerasrnn_commands.connection import Refusals  # noqa: E402
from kerasrnn_commands.connection import http_server  # noqa: E402
from kerasrnn_commands.messages import Answer  # noqa: E402
from kerasrnn_commands.messages import ServerSettings  # noqa: E402
from kerasrnn_commands.predictions import Predictions  # noqa: E402
from tests.server.fakes import until  # noqa: E402


@pytest.mark.parametrize(
    ("status", "log_all", "level"),
    [
        (200, False, None),
        (399, True, "INFO"),
        (400, False, "INFO"),
        (499, False, "INFO"),
        # The process of the model logs why, in a line.
        (500, False, None),
        (500, True, "ERROR"),
        (503, False, "INFO"),
        (504, False, "ERROR"),
    ],
)
def test_a_line_for_each_answer_that_is_refused(caplog, status, log_all, level):
    """A version that loads, or too many calls, are no fault of the server."""

    async def send(message):
        pass

    app = Refusals(PlainTextResponse("", status), 1, log_all)
    for method, line in [
        ("GET", f"GET /v2/health/ready: {status}"),
        ("A" * 40_000, f"{'A' * 200}: {status}"),
    ]:
        caplog.clear()
        path = b"/v2/health/ready"
        scope = {"method": method, "raw_path": path, "headers": []}
        with caplog.at_level(logging.INFO):
            asyncio.run(app({"type": "http", **scope}, None, send))
        found = [(x.levelname, x.getMessage()) for x in caplog.records]
        assert found == ([(level, line)] if level else [])


SETTINGS = ServerSettings(
    port=0, timeout=1.0, max_connections=4, max_request_bytes=1000
)


class Echo:
    """Stands for a model that answers with the body of a request."""

    path = pathlib.Path("x")

    def serving(self):
        pass

    async def call(self, request):
        return Answer(200, request.body)


async def path(request):
    return PlainTextResponse(request.url.path)


APPLICATION = Starlette(
    routes=[
        Route("/x", Predictions(SETTINGS, lambda request: Echo())),
        Route("/{path:path}", path),
    ],
    exception_handlers={HTTPException: _refusal, ClientDisconnect: _nobody},
)


class Clients:
    """Clients of a server that runs."""

    def __init__(self, server):
        self.server = server
        self.port = server.servers[0].sockets[0].getsockname()[1]
        self.writers = []

    async def connect(self, *parts):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers.append(writer)
        for part in parts:
            writer.write(part)
            await writer.drain()
        return reader, writer

    async def ask(self, *parts):
        """All that is answered until the server closes."""
        reader, _ = await self.connect(*parts)
        return await reader.read()


def run(scenario, caplog):
    """Runs a scenario with a server, and returns the lines of its log.

    The first one says where it serves.
    """

    async def served():
        server = http_server(APPLICATION, SETTINGS)
        serving = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        clients = Clients(server)
        try:
            async with asyncio.timeout(10):
                await scenario(clients)
        finally:
            for writer in clients.writers:
                writer.close()
            server.should_exit = True
            await serving
        return clients.port

    with caplog.at_level(logging.INFO):
        port = asyncio.run(served())
    found = [x for x in caplog.records if x.name != "uvicorn.error"]
    assert not [x for x in caplog.records if x.exc_info]
    first, *lines = [record.getMessage() for record in found]
    assert first == f"Serving at http://127.0.0.1:{port}" and port != 0
    return lines


POST = b"POST /x HTTP/1.1\r\nHost: x\r\n"
GET = b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n"
CLOSE = b"Connection: close\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def test_a_client_that_still_sends_reads_why_it_is_refused(caplog):
    """It sends all before it reads, as `urllib` does, and closes then."""
    size = 10**7
    head = POST + CLOSE + b"Content-Length: %d\r\n\r\n" % size

    async def scenario(clients):
        answer = await clients.ask(head, *[bytes(10**6)] * 10)
        assert answer.startswith(b"HTTP/1.1 413")
        assert answer.endswith(b'must have at most 1000 bytes."}')
        # One that waits for the answer need not send anything.
        reader, writer = await clients.connect(head)
        assert b"1000 bytes." in await reader.readuntil(b"bytes.")
        # Nor is the server held up by one that goes on for too long.
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"x")
                await writer.drain()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(), 0.1)

    assert run(scenario, caplog) == ["POST /x: 413"] * 2


def test_a_client_that_sends_no_http_reads_that(caplog):
    """Also after too long headers, and while it sends on."""

    async def scenario(clients):
        for broken in (b"nonsense\r\n", GET[:-2] % 1 + b"X: "):
            answer = await clients.ask(broken, *[bytes(10**6)] * 10)
            assert answer.startswith(b"HTTP/1.1 400")
            assert answer.endswith(
                b'{"error": "Invalid HTTP request received."}'
            )
        # Nor do those that stay keep out others.
        for _ in range(5):
            reader, _ = await clients.connect(b"nonsense\r\n\r\n")
            await reader.readuntil(b"}")
        assert b" 200 OK" in await clients.ask(GET % 1 + GET[:20])

    line = "A request that is not HTTP: 400"
    assert run(scenario, caplog) == [line] * 7


def test_a_client_cannot_hold_up_others_with_small_chunks(caplog, monkeypatch):
    sizes, receive = [], Connection.data_received

    def noted(self, data):
        sizes.append(len(data))
        receive(self, data)

    async def scenario(clients):
        chunks = b"1\r\na\r\n" * 20_000 + b"0\r\n\r\n"
        answer = await clients.ask(POST + CLOSE + CHUNKED + b"\r\n" + chunks)
        assert answer.startswith(b"HTTP/1.1 413")

    monkeypatch.setattr(Connection, "data_received", noted)
    run(scenario, caplog)
    assert sum(sizes) > 120_000
    assert max(sizes) == 2**14


def test_two_lengths_are_refused(caplog):
    both = b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def scenario(clients):
        # The second is the rest of the first, or a request that was hidden.
        answer = await clients.ask(POST + both + b"0\r\n\r\n" + GET % 1)
        assert answer.count(b"HTTP/1.1 ") == 1
        assert answer.startswith(b"HTTP/1.1 400")
        assert b"Content-Length or Transfer-Encoding" in answer

    assert run(scenario, caplog) == ["POST /x: 400"]


@pytest.mark.parametrize("rest", [b"", (GET % 9)[:20], POST])
def test_all_requests_before_the_end_are_answered(caplog, rest):
    async def scenario(clients):
        body = POST + b"Content-Length: 2\r\n\r\nhi"
        sent = b"".join([GET % 1, GET % 2, body, GET % 3, rest])
        reader, writer = await clients.connect(sent)
        writer.write_eof()
        answer = await reader.read()
        places = [answer.index(x) for x in (b"\n/1", b"\n/2", b"\nhi", b"\n/3")]
        assert places == sorted(places)
        assert answer.count(b"HTTP/1.1 200") == 4

    assert not run(scenario, caplog)


GZIPPED = b"Content-Encoding: gzip\r\n"
BROKEN = b"\r\nnot a length\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (POST + CHUNKED + b"\r\n3\r\nabc" + BROKEN, 499),
        (POST + CHUNKED + GZIPPED + b"\r\n3\r\nabc" + BROKEN, 499),
        (POST + CHUNKED + b"\r\n7d0\r\n" + bytes(2000) + BROKEN, 499),
        (POST + CHUNKED + GZIPPED + b"\r\n3\r\nabc\r\n", 400),
        (b"nonsense\r\n\r\n", None),
        (POST + b"Content-Length: x\r\n\r\n", None),
        (GET % 1 + b"nonsense\r\n\r\n", None),
    ],
)
def test_a_broken_request_is_one_line(caplog, sent, status):
    async def scenario(clients):
        reader, writer = await clients.connect(sent)
        await reader.readuntil(b"\r\n")
        if status == 400:
            writer.write(BROKEN)  # once it is answered
        writer.write_eof()
        await reader.read()
        await asyncio.sleep(0.01)

    line = f"POST /x: {status}" if status else "A request that is not HTTP: 400"
    assert run(scenario, caplog) == [line]


def test_who_is_idle_makes_way(caplog):
    """And who is the first of a fifth client, while all others are busy."""

    async def scenario(clients):
        asked, _ = await clients.connect(GET % 1)
        await asked.readuntil(b"/1")
        busy = [
            await clients.connect(POST + b"Content-Length: 2\r\n\r\nh")
            for _ in range(2)
        ]
        idle = [(await clients.connect())[0] for _ in range(50)]
        for _, writer in busy:
            writer.write(b"i")
        for reader, _ in busy:
            assert (await reader.readuntil(b"hi")).startswith(b"HTTP/1.1 200")
        # It has asked before, and they have not.
        clients.writers[0].write(GET % 2)
        await asked.readuntil(b"/2")
        for reader in idle[:-1]:
            assert await reader.read() == b""
        slow = POST + b"Content-Length: 99\r\n\r\n"
        busy = [await clients.connect(slow) for _ in range(4)]
        answer = await clients.ask(GET % 3)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 1" in answer
        assert b"Too many clients" in answer
        # It lives, and restarting it would not help.
        live = (GET % 1).replace(b"/1", b"/v2/health/live", 1)
        reader, _ = await clients.connect(live)
        assert b" 200 OK" in await reader.readuntil(b"\n/v2/health/live")
        # Those that are too slow are refused, too, and can read it.
        for _ in range(12):
            for _, writer in busy:
                writer.write(b"h")
            await asyncio.sleep(0.1)
        for reader, _ in busy:
            answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 408")
            assert b"did not come within 1 seconds." in answer

    assert "GET /3: 503" in run(scenario, caplog)


def test_who_has_asked_is_not_idle(caplog):
    """All come at once, before any request is read."""

    async def scenario(clients):
        with contextlib.ExitStack() as stack:
            address = "127.0.0.1", clients.port
            first, *_ = [
                stack.enter_context(socket.create_connection(address))
                for _ in range(20)
            ]
            first.sendall(GET % 1)
            first.setblocking(False)
            loop = asyncio.get_running_loop()
            assert (await loop.sock_recv(first, 12)).endswith(b"200")

    assert not run(scenario, caplog)


def test_who_has_been_idle_longest_makes_way(caplog):
    async def scenario(clients):
        async def ask(number, reader, writer):
            writer.write(GET % number)
            await reader.readuntil(b"/%d" % number)

        asked = [await clients.connect() for _ in range(4)]
        for number in (1, 2, 3, 0):
            await ask(5 + number, *asked[number])
        await clients.connect()
        assert await asked[1][0].read() == b""
        await ask(9, *asked[0])

    run(scenario, caplog)


@pytest.mark.parametrize(
    ("files", "most"), [(6, 3), (100, 4), (resource.RLIM_INFINITY, 4)]
)
def test_connections_leave_files_for_models(monkeypatch, caplog, files, most):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    server = http_server(APPLICATION, SETTINGS)
    assert server.server_state.most == most
    assert ("may open only 6 files" in caplog.text) == (most == 3)
    assert server.config.backlog == {6: 1, 100: 25}.get(files, 128)


def test_files_that_lack_are_one_line_a_second(caplog):
    server = http_server(APPLICATION, SETTINGS)
    error = OSError(errno.EMFILE, "Too many open files")
    loop = asyncio.new_event_loop()
    for _ in range(100):
        server._failed(loop, {"message": "accept", "exception": error})
    loop.close()
    lines = [x.getMessage() for x in caplog.records]
    assert lines == [f"No connection can be accepted: {error}"]
