"""What clients did to stop a server, or to spoil the answers of others."""

import contextlib
import json
import os
import signal
import socket
import time

import pytest

from tests.server.running import Clients
from tests.server.running import alive
from tests.server.running import needs_server
from tests.server.running import running
from tests.server.running import until
from tests.serving import toys

pytestmark = [pytest.mark.slow, needs_server]

SHOUT = "/v1/models/heavy:predict"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    toys.heavy(path / "heavy")
    return path


@pytest.fixture(scope="module")
def server(folder):
    with running(folder, timeout=20) as server:
        yield server


@pytest.fixture(autouse=True)
def others_are_answered(request, folder):
    """Other clients ask on, whatever a test does to the server."""
    if "server" not in request.fixturenames:
        yield
        return
    server = request.getfixturevalue("server")
    resting, most = server.memory(), []

    def watch():
        most.append(server.memory())
        time.sleep(0.1)

    def ask():
        return server.post(SHOUT, {"instances": ["a"]})

    with Clients(4, ask) as clients, Clients(1, watch):
        until(lambda: len(clients.answers) > 8)
        yield
        count = len(clients.answers)
        until(lambda: len(clients.answers) > count + 8)
    wrong = [x for x in clients.answers if x != (200, {"predictions": ["A"]})]
    assert not wrong
    assert max(most) < 2 * resting


def call(server, signature, **inputs):
    return server.post(SHOUT, {"signature_name": signature, "inputs": inputs})


def test_what_asks_for_too_much_is_refused_at_once(server):
    start = time.monotonic()
    for _ in range(8):
        prompts = ["a"] * 1024
        status, body = call(
            server, "generate", prompt=prompts, max_tokens=15_000
        )
        assert status == 400
        assert "at most 65536 positions" in body["error"]
        assert "1024 rows of 2 characters or ids, plus 15000" in body["error"]
        status, body = call(server, "step", ids=[[1] * 60_000])
        assert status == 400
        assert "at most 2097152 values" in body["error"]
        status, body = server.post(SHOUT, {"instances": ["a"] * 100_000})
        assert (status, "at most 1024 rows" in body["error"]) == (400, True)
        # One long row makes all of them long.
        texts = ["a" * 100_000, *["a"] * 1000]
        status, body = server.post(SHOUT, {"instances": texts})
        assert (status, "positions" in body["error"]) == (400, True)
    assert time.monotonic() - start < 60


@pytest.mark.thorough
def test_many_large_calls_are_answered_one_by_one(server):
    """Each fills the limits; together they would be 32 times as much."""
    ids = {"ids": [[1] * 400]}

    def ask():
        return call(server, "step", **ids)[0]

    with Clients(8, ask) as clients:
        until(lambda: len(clients.answers) > 32)
    assert set(clients.answers) == {200}


@pytest.mark.thorough
def test_a_call_that_takes_too_long_is_ended(server):
    [_, *workers] = server.processes()
    status, body = call(server, "generate", prompt=["a"], max_tokens=60_000)
    assert status == 504
    assert "longer than 20 seconds" in body["error"]
    # With it goes the process that still computes it.
    until(lambda: not set(workers) & set(server.processes()))


def test_bad_texts_are_the_error_of_those_who_send_them(server):
    with Clients(
        4, lambda: server.post(SHOUT, {"instances": ["a bad text"]})
    ) as clients:
        until(lambda: len(clients.answers) > 100)
    assert {status for status, _ in clients.answers} == {400}


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), 60)


def head(length):
    return (
        f"POST {SHOUT} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
    )


@pytest.mark.thorough
def test_slow_heads_and_bodies_end(server):
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(connect(server)) for _ in range(100)]
        for client in slow:
            client.sendall(head(1000).encode() + b"{")
        silent, begins, asks_again = (
            stack.enter_context(connect(server)) for _ in "abc"
        )
        begins.sendall(head(1000).encode()[:-2])
        asks_again.sendall(b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert asks_again.recv(1) == b"H"
        asks_again.sendall(b"GET /v2 HTTP/1.1\r\n")
        for client in slow:
            assert client.recv(1000).startswith(b"HTTP/1.1 408")
        for client in (silent, begins, asks_again):
            client.settimeout(30)
            with contextlib.suppress(ConnectionResetError):
                while client.recv(1000):
                    pass


def test_long_bodies_and_answers_do_not_fill_the_memory(server):
    ask = {"signature_name": "step", "inputs": {"ids": [[1] * 400]}}
    body = json.dumps(ask).encode()
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            # One sends without end, the other does not take its answer.
            sends, asks = (stack.enter_context(connect(server)) for _ in "ab")
            sends.sendall(head(4_000_000).encode() + b"[" * 3_900_000)
            asks.sendall(head(len(body)).encode() + body)
        until(lambda: any("503" in line for line in server.log))
        time.sleep(5)


def test_a_new_version_comes_under_load(server, folder):
    toys.heavy(folder / "heavy", version="2")
    until(lambda: server.get("/v1/models/heavy/versions/2")[0] == 200)
    assert server.get("/v1/models/heavy/versions/1")[0] == 404
    until(lambda: len(server.processes()) == 2)


def test_it_ends_when_told_whatever_it_does(folder):
    with running(folder, timeout=5) as server:

        def ask():
            try:
                return server.post(SHOUT, {"instances": ["a"]})
            except ConnectionRefusedError:
                time.sleep(0.1)
                return None

        def hold():
            with contextlib.suppress(OSError):
                call(server, "generate", prompt=["a"], max_tokens=60_000)

        with Clients(4, ask) as clients, Clients(4, hold):
            until(lambda: len(clients.answers) > 20)
            processes = server.processes()
            start = time.monotonic()
            assert server.end() == 0
            assert time.monotonic() - start < 15
            time.sleep(0.5)
    answers = [answer for answer in clients.answers if answer is not None]
    wrong = [x for x in answers if x != (200, {"predictions": ["A"]})]
    # Those who were about to connect.
    assert len(wrong) <= 4
    assert all(isinstance(x, ConnectionError) for x in wrong)
    until(lambda: not any(map(alive, processes)))


def test_a_process_that_loads_ends_with_its_server(tmp_path):
    """Even if the server had no time to end it."""
    path = toys.heavy(tmp_path / "heavy") / "1"
    toys.record(path, "generate", prompt=["a"], max_tokens=10**9)
    with running(tmp_path, ready="/v2/health/live") as server:
        until(lambda: len(server.processes()) == 2)
        [_, worker] = server.processes()
        time.sleep(5)
        server.process.kill()
        try:
            until(lambda: not alive(worker), seconds=20)
        except AssertionError:
            os.kill(worker, signal.SIGKILL)
            raise
        server.end()
