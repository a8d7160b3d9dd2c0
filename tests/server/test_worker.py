"""The process of a version, as the HTTP process sees it."""

import asyncio

import pytest

from kerasrnn_server.messages import Limits
from kerasrnn_server.worker import Worker


def test_without_a_process_the_connection_to_it_is_closed(
    tmp_path, monkeypatch
):
    writers, connect = [], asyncio.open_connection

    async def open_connection(**options):
        reader, writer = await connect(**options)
        writers.append(writer)
        return reader, writer

    async def start(*_, **__):
        raise OSError("Too many processes")

    monkeypatch.setattr(asyncio, "open_connection", open_connection)
    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    with pytest.raises(OSError, match="Too many"):
        asyncio.run(Worker.start(tmp_path, Limits(), lambda: None))
    [writer] = writers
    assert writer.is_closing()
