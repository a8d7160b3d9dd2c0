"""What the server logs of its answers."""

import asyncio
import logging

import pytest

pytest.importorskip("uvicorn")

from kerasrnn_server.connection import Logged  # noqa: E402


@pytest.mark.parametrize(
    ("status", "level"),
    [(200, None), (404, "INFO"), (503, "INFO"), (500, "ERROR"), (504, "ERROR")],
)
def test_a_line_for_each_answer_that_is_refused(caplog, status, level):
    """A version that loads, or too many calls, are no fault of the server."""

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": status})
        await send({"type": "http.response.body"})

    async def send(message):
        pass

    scope = {"type": "http", "method": "GET", "raw_path": b"/v2/health/ready"}
    with caplog.at_level(logging.INFO):
        asyncio.run(Logged(app, everything=False)(scope, None, send))
    found = [(x.levelname, x.getMessage()) for x in caplog.records]
    line = f"GET /v2/health/ready: {status}"
    assert found == ([(level, line)] if level else [])
