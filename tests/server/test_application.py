"""What an application says of its models, and which pages may ask."""

import asyncio
import contextlib
import json
import sys
import threading

import pytest

pytest.importorskip("starlette")

from kerasrnn_commands import application  # noqa: E402
from kerasrnn_commands import server  # noqa: E402
from kerasrnn_commands.application import Application  # noqa: E402
from kerasrnn_commands.messages import ServerSettings  # noqa: E402
from kerasrnn_commands.model_process import Worker  # noqa: E402
from kerasrnn_commands.model_process import WorkerEnded  # noqa: E402
from tests.server.fakes import Folder  # noqa: E402
from tests.server.fakes import Worker as FakeWorker  # noqa: E402
from tests.server.fakes import until  # noqa: E402

FAKE = FakeWorker.metadata


@pytest.mark.parametrize("programs", [{"TF_XLA_FLAGS": "/full"}, None])
def test_a_version_is_tried_without_programs_that_are_kept(
    tmp_path, monkeypatch, programs
):
    """XLA does not compile where it cannot write, or finds damaged files."""
    found = []

    async def start(path, settings, changed, env=None):
        found.append(env)
        raise WorkerEnded

    monkeypatch.setattr(Worker, "start", start)
    application = Application(tmp_path, ServerSettings(), programs)
    with pytest.raises(WorkerEnded):
        asyncio.run(application._start(tmp_path, lambda: None))
    assert found == ([programs, None] if programs else [None])


async def answer(app, method, path, *headers, body=b""):
    """The status, the body and the headers of an answer."""
    found = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        found.append(message)

    scope = {"type": "http", "method": method, "path": path, "root_path": ""}
    scope |= {"headers": [*headers], "query_string": b"", "scheme": "http"}
    scope |= {"server": ("localhost", 80)}
    await app(scope, receive, send)
    start, *parts = found
    body = b"".join(part["body"] for part in parts)
    return start["status"], body, dict(start["headers"])


def asked(app, method, origin):
    """The headers of an answer to a page of an origin."""
    headers = [(b"origin", origin), (b"access-control-request-method", b"POST")]
    path = "/v2/health/live"
    _, _, found = asyncio.run(answer(app, method, path, *headers))
    return found


@pytest.mark.parametrize(
    ("method", "header", "word"),
    [
        ("GET", b"access-control-expose-headers", b"Retry-After"),
        ("OPTIONS", b"access-control-allow-methods", b"POST"),
    ],
)
def test_pages_of_some_origins_may_ask(tmp_path, method, header, word):
    name, origin = b"access-control-allow-origin", b"https://example.org"
    cors = origin.decode(), "http://localhost:3000"
    app = Application(tmp_path, ServerSettings(cors=cors)).app
    found = asked(app, method, origin)
    assert found[name] == origin
    assert word in found[header]
    assert name not in asked(app, method, b"https://example.com")
    app = Application(tmp_path, ServerSettings()).app
    assert name not in asked(app, method, origin)


class Served:
    """An application of models that need no process.

    Args:
        path: The folder of the models.
        monkeypatch: The fixture.
        **settings: Of the server.
    """

    def __init__(self, path, monkeypatch, **settings):
        settings = {"poll_seconds": 0.02, **settings}
        self.path, self.folders = path, {}
        monkeypatch.setattr(Worker, "start", self._start)
        self.application = Application(path, ServerSettings(**settings))

    def add(self, name, version=1, content="works"):
        if name not in self.folders:
            self.folders[name] = Folder(self.path / name)
        self.folders[name].add(version, content)

    async def _start(self, path, limits, changed):
        return await self.folders[path.parent.name].start(path, changed)

    @contextlib.asynccontextmanager
    async def running(self):
        app = self.application.app
        async with app.router.lifespan_context(app):
            models = self.application.models
            await until(lambda: models.keys() == self.folders.keys())
            yield

    async def ask(self, path, body=None):
        """The status, and the JSON of an answer."""
        method = "GET" if body is None else "POST"
        found = await answer(self.application.app, method, path, body=body)
        return found[0], json.loads(found[1])

    async def ready(self, name=None):
        """Whether all that speaks of a model, or of the server, is ready."""
        if name is None:
            status, _ = await self.ask("/v2/health/ready")
            return status == 200
        paths = [f"/v2/models/{name}/ready", f"/v1/models/{name}"]
        paths += [f"/v2/models/{name}", f"/v1/models/{name}/metadata"]
        found = {(await self.ask(path))[0] for path in paths}
        assert len(found) == 1 and found < {200, 503}
        return found == {200}

    async def until(self, name, is_ready=True):
        async with asyncio.timeout(10):
            while await self.ready(name) != is_ready:
                await asyncio.sleep(0.01)


@pytest.fixture
def served(tmp_path, monkeypatch):
    served = Served(tmp_path, monkeypatch, waiting=4, load_timeout=0.5)
    served.add("good")
    return served


PREDICT = "/v1/models/{}:predict"


def test_a_model_without_a_process_is_not_ready_and_others_are(served):
    async def scenario():
        async with served.running():
            await served.until(None)
            assert await served.ready("good") and await served.ready("bad")
            served.add("bad", content="is damaged")
            served.folders["bad"].started[0].end()
            await served.until("bad", False)
            reason = "'bad' works: version 1 cannot be loaded. Try again"
            paths = ["/v2/models/bad/ready", "/v1/models/bad/versions/1"]
            for path in paths:
                async with asyncio.timeout(10):
                    while reason not in str(found := await served.ask(path)):
                        await asyncio.sleep(0.01)
                assert found[0] == 503
            # Nor does it wait for the body.
            found = await answer(
                served.application.app, "POST", PREDICT.format("bad"), body=0
            )
            assert (found[0], found[2][b"retry-after"]) == (503, b"1")
            assert await served.ready() and await served.ready("good")
            served.add("bad")
            await served.until("bad")

    served.add("bad")
    asyncio.run(scenario())


def test_a_model_that_does_not_answer_leaves_others_alone(served):
    async def scenario():
        async with served.running():
            await served.until(None)
            paths = [*map(PREDICT.format, ["good", *["bad"] * 20])]
            calls = [served.ask(path, b"wait") for path in paths]
            other, *waiting = map(asyncio.create_task, calls)
            await asyncio.sleep(0.1)
            metrics = await answer(served.application.app, "GET", "/metrics")
            assert b"kerasrnn_unfinished_calls 5.0" in metrics[1]
            for _ in range(20):
                status, _ = await served.ask(PREDICT.format("good"), b"")
                assert status == 200
            served.folders["bad"].started[0].silent = True
            assert not await served.ready("bad")
            _, found = await served.ask("/v2/models/bad/ready")
            assert "'bad' does not answer its calls. Try" in found["error"]
            assert await served.ready() and await served.ready("good")
            served.folders["bad"].error = WorkerEnded()
            served.folders["bad"].started[0].end()
            statuses = [status for status, _ in await asyncio.gather(*waiting)]
            assert statuses == [503] * 20
            other.cancel()

    served.add("bad")
    asyncio.run(scenario())


def test_a_new_model_does_not_hold_up_the_server(served):
    """At the start, it waits for all models: others would be asked in vain."""

    async def scenario():
        async with served.running():
            await served.until("good")
            assert not await served.ready()
            assert await served.ask("/v2/models/slow/versions/1/ready") == (
                503,
                {"error": "'slow' is being loaded. Try again later."},
            )
            await served.until(None)
            served.add("new", content="hangs")
            await asyncio.sleep(0.1)
            assert (await served.ask("/v2/models/new/ready"))[0] == 503
            assert await served.ready()
            served.folders["good"].started[0].silent = True
            assert not await served.ready()

    served.add("slow", content="hangs")
    asyncio.run(scenario())


MODELS = 200, {"models": ["b", "good"]}
OK = {"error_code": "OK", "error_message": ""}
STATE = {"version": "3", "state": "AVAILABLE", "status": OK}
SPEC = {"name": "b", "signature_name": "", "version": "3"}
BY_POST = 405, {"error": "This path allows POST. Received: GET."}
SAID = {
    "/v1/models": MODELS,
    "/v2/models": MODELS,
    "/v1/models/b": (200, {"model_version_status": [STATE]}),
    "/v1/models/b/metadata": (
        200,
        {
            "model_spec": SPEC,
            "metadata": {"signature_def": {"signature_def": FAKE["v1"]}},
        },
    ),
    "/v2/models/b/versions/3": (
        200,
        {
            "name": "b",
            "versions": ["3"],
            "platform": "tensorflow_savedmodel",
            "inputs": [2],
            "parameters": {"signatures": FAKE["v2"]},
        },
    ),
    "/v2/models/b/ready": (200, {"name": "b", "ready": True}),
    "/v2/models/b/versions/1": (
        404,
        {"error": "The model 'b' is served in version 3. Received: 1."},
    ),
    f"/v1/models/b/versions/{'7' * 5000}": (
        404,
        {
            "error": "The model 'b' is served in version 3. Received: "
            "77777777777777777777."
        },
    ),
    "/v1/models/c": (404, {"error": "There is no model 'c'."}),
    "/v2/models/c/versions/1": (404, {"error": "There is no model 'c'."}),
    "/v2/repository/index": (404, {"error": "Not Found"}),
    "/v2/models/b/": (404, {"error": "Not Found"}),
    "/v1/models/b:predict": BY_POST,
    "/v1/models/b/versions/3:predict": BY_POST,
    "/v2/models/b/infer": BY_POST,
    "/v2": (
        200,
        {"name": "kerasrnn-serve", "extensions": ["binary_tensor_data"]},
    ),
}


def test_what_is_said_of_models(served):
    async def scenario():
        async with served.running():
            await served.until(None)
            assert {path: await served.ask(path) for path in SAID} == SAID
            for path, word in [("b", "classify"), ("b/versions/3", "regress")]:
                found = await served.ask(f"/v1/models/{path}:{word}", b"")
                advice = f"Use POST /v1/models/{path}:predict instead."
                error = {"error": f"{advice} Received: :{word}."}
                assert found == (404, error)
            path, too_long = "/v2/models/{}/versions/3/infer", b" " * 5_000_000
            for name, body in [("b", b""), ("b", too_long), ("c", b"")]:
                await served.ask(path.format(name), body)
            _, metrics, _ = await answer(
                served.application.app, "GET", "/metrics"
            )
            for line in [
                'version{model="b"} 3.0',
                'requests_total{model="b",status="200"} 1.0',
                'requests_total{model="b",status="413"} 1.0',
                'request_seconds_count{model="b"} 2.0',
                "unfinished_calls 0.0",
            ]:
                assert f"kerasrnn_{line}\n" in metrics.decode()
            assert 'model="c"' not in metrics.decode()

    served.add("b", version=3)
    asyncio.run(scenario())


def test_the_command_takes_several_origins(monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr(server, "Application", lambda *x: found.append(x[1]))
    monkeypatch.setattr(server, "models", lambda _: ["x"])
    command = ["kerasrnn-serve", "--cors", "http://a", "--cors", "http://b"]
    command += ["--no-keep-programs", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(AttributeError):  # The application of here is none.
        server.main()
    assert found[0].cors == ("http://a", "http://b")


def test_calls_are_answered_while_the_folder_is_slow(tmp_path, monkeypatch):
    """Such as that of another machine, which does not answer."""
    served = Served(tmp_path, monkeypatch)
    served.add("one")
    find, in_time = application.models, []
    looks, answered = threading.Event(), threading.Event()

    def slow(folder):
        if served.application.models:  # after the first time
            looks.set()
            in_time.append(answered.wait(1))
        return find(folder)

    async def scenario():
        async with served.running():
            await until(looks.is_set)
            assert await served.ask("/v2/health/live") == (200, {"live": True})
            answered.set()

    monkeypatch.setattr(application, "models", slow)
    asyncio.run(scenario())
    assert in_time[0]
