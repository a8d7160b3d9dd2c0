"""How an application starts its models' processes, and which pages may ask."""

import asyncio
import sys

import pytest

pytest.importorskip("starlette")

from kerasrnn_server import server  # noqa: E402
from kerasrnn_server.application import Application  # noqa: E402
from kerasrnn_server.settings import ServerSettings  # noqa: E402
from kerasrnn_server.worker import Worker  # noqa: E402
from kerasrnn_server.worker import WorkerEnded  # noqa: E402

FLAG = "--tf_xla_persistent_cache_directory=/full"


@pytest.mark.parametrize(
    ("flags", "tried"), [(FLAG, [None, ""]), ("--tf_xla_auto_jit=0", [None])]
)
def test_a_version_is_tried_without_programs_that_are_kept(
    tmp_path, monkeypatch, flags, tried
):
    """XLA does not compile where it cannot write, or finds damaged files."""
    found = []

    async def start(path, limits, changed, env=None):
        found.append(env and env["TF_XLA_FLAGS"])
        raise WorkerEnded

    monkeypatch.setenv("TF_XLA_FLAGS", flags)
    monkeypatch.setattr(Worker, "start", start)
    application = Application(tmp_path, ServerSettings())
    with pytest.raises(WorkerEnded):
        asyncio.run(application._start(tmp_path, lambda: None))
    assert found == tried


def asked(app, method, origin):
    """The headers of an answer to a page of an origin."""
    found = []

    async def send(message):
        found.append(message)

    headers = [(b"origin", origin), (b"access-control-request-method", b"POST")]
    scope = {"type": "http", "method": method, "path": "/v2/health/live"}
    scope |= {"headers": headers, "query_string": b"", "root_path": ""}
    asyncio.run(app(scope, None, send))
    return dict(found[0]["headers"])


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_pages_of_some_origins_may_ask(tmp_path, method):
    name, origin = b"access-control-allow-origin", b"https://example.org"
    cors = origin.decode(), "http://localhost:3000"
    app = Application(tmp_path, ServerSettings(cors=cors)).app
    assert asked(app, method, origin)[name] == origin
    assert name not in asked(app, method, b"https://example.com")
    app = Application(tmp_path, ServerSettings()).app
    assert name not in asked(app, method, origin)


def test_the_command_takes_several_origins(monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr(server, "Application", lambda _, x: found.append(x))
    monkeypatch.setattr(server, "models", lambda _: ["x"])
    command = ["kerasrnn-serve", "--cors", "http://a", "--cors", "http://b"]
    command += ["--no-keep-programs", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(AttributeError):  # The application of here is none.
        server.main()
    assert found[0].cors == ("http://a", "http://b")
