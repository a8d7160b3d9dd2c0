"""The HTTP interface: protocols v1 and v2, health and metrics."""

import asyncio
import contextlib
import functools
import logging
import pathlib
from collections.abc import AsyncIterator
from typing import Any
from typing import NoReturn

from prometheus_client import CONTENT_TYPE_LATEST
from prometheus_client import Gauge
from prometheus_client import generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.responses import Response
from starlette.routing import Route

from kerasrnn_commands.live_model import LiveModel
from kerasrnn_commands.live_model import again_later
from kerasrnn_commands.messages import ServerSettings
from kerasrnn_commands.model_process import Worker
from kerasrnn_commands.model_process import WorkerEnded
from kerasrnn_commands.predictions import HEADER_LENGTH
from kerasrnn_commands.predictions import Predictions
from kerasrnn_commands.versions import models

VERSION = Gauge("kerasrnn_version", "Version that is served", ["model"])
UNFINISHED = Gauge("kerasrnn_unfinished_calls", "Running and waiting calls")

_SERVER = JSONResponse(
    {"name": "kerasrnn-serve", "extensions": ["binary_tensor_data"]}
)
_LIVE = JSONResponse({"live": True})

log = logging.getLogger(__name__)


class Application:
    """An ASGI application that serves the models in a folder.

    Args:
        folder: Path of a folder such as `saved_models/`.
        settings: The `ServerSettings`.
        programs: The environment of processes that keep XLA programs, if any.

    Attributes:
        models: Dictionary of name to `LiveModel`.
        app: The ASGI application.
    """

    def __init__(
        self,
        folder: pathlib.Path,
        settings: ServerSettings,
        programs: dict[str, str] | None = None,
    ):
        self.folder, self.settings = folder, settings
        self._programs = programs
        self.models: dict[str, LiveModel] = {}
        predict = Predictions(settings, self._find)
        self._tasks: list[asyncio.Task[None]] = []
        self._first: list[LiveModel] = []
        v1, v2 = "/v1/models", "/v2/models"
        one = ["/{name}", "/{name}/versions/{version}"]
        self.app = Starlette(
            routes=[
                Route("/metrics", self._metrics),
                Route("/v2", _SERVER, methods=["GET"]),
                Route("/v2/health/live", _LIVE, methods=["GET"]),
                Route("/v2/health/ready", self._ready),
                *(Route(path, self._names) for path in (v1, v2)),
                *(
                    Route(start + path + end, function, methods=[method])
                    for path in one
                    for start, end, function, method in (
                        (v1, "/metadata", self._about(_metadata_v1), "GET"),
                        (v1, ":predict", predict, "POST"),
                        (v1, ":predict", self._by_post, "GET"),
                        (v1, ":classify", self._predict_instead, "POST"),
                        (v1, ":regress", self._predict_instead, "POST"),
                        (v1, "", self._about(_status_v1), "GET"),
                        (v2, "", self._about(_metadata_v2), "GET"),
                        (v2, "/ready", self._about(_ready_v2), "GET"),
                        (v2, "/infer", predict, "POST"),
                    )
                ),
            ],
            exception_handlers={
                HTTPException: _refusal,
                ClientDisconnect: _nobody,
            },
            lifespan=self._lifespan,
        )
        # A redirection would lead to any host that the request names.
        self.app.router.redirect_slashes = False
        if settings.cors:
            self.app.add_middleware(
                CORSMiddleware,
                allow_origins=settings.cors,
                allow_methods=["GET", "POST"],
                allow_headers=["*"],
                expose_headers=[HEADER_LENGTH, "Retry-After"],
            )

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._tasks.append(asyncio.create_task(self._watch()))
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self) -> NoReturn:
        """Finds new models."""
        while True:
            try:
                found = await asyncio.to_thread(models, self.folder)
            except OSError as error:
                log.error("'%s' cannot be read: %s", self.folder, error)
                found = {}
            for name in found.keys() - self.models.keys():
                model = LiveModel(found[name], self._start, self.settings)
                self.models[name] = model
                self._tasks.append(asyncio.create_task(model.follow()))
            self._first = self._first or list(self.models.values())
            await asyncio.sleep(self.settings.poll_seconds)

    async def _start(self, path, changed):
        """Starts a process; again if cached XLA programs may be the problem.

        XLA fails if it cannot write to their folder, such as on a full disk, or
        if a program is damaged.
        """
        start = functools.partial(Worker.start, path, self.settings, changed)
        if self._programs is not None:
            with contextlib.suppress(WorkerEnded):
                return await start(self._programs)
            log.warning("Trying '%s' without cached XLA programs.", path)
        return await start()

    async def _by_post(self, _: HttpRequest) -> NoReturn:
        raise HTTPException(405, headers={"Allow": "POST"})

    async def _predict_instead(self, request: HttpRequest) -> NoReturn:
        path, _, asked = request.url.path.rpartition(":")
        raise HTTPException(
            404, f"Use POST {path:.200}:predict instead. Received: :{asked}."
        )

    def _find(self, request: HttpRequest) -> LiveModel:
        """Returns the model of a path, if its version is served."""
        name = request.path_params["name"]
        asked = request.path_params.get("version")
        model = self.models.get(name)
        if model is None:
            raise HTTPException(404, f"There is no model {name!r}.")
        served = model.version
        if asked and served is not None and asked != str(served):
            raise HTTPException(
                404,
                f"The model {name!r} is served in version {served}. Received: "
                f"{asked:.20}.",
            )
        return model

    def _about(self, describe):
        """Returns the handler that describes a model if it is ready."""

        async def answer(request):
            model = self._find(request)
            worker = model.serving()
            name, version = model.path.name, str(model.version)
            if worker.silent:
                raise again_later(f"{name!r} does not answer its calls.")
            return JSONResponse(describe(name, version, worker.metadata))

        return answer

    async def _names(self, _: HttpRequest) -> Response:
        return JSONResponse({"models": sorted(self.models)})

    async def _ready(self, _: HttpRequest) -> Response:
        # At startup, it waits for all models. Later, models do not block each
        # other.
        ready = all(model.looked for model in self._first) and any(
            model.worker is not None and not model.worker.silent
            for model in self.models.values()
        )
        return JSONResponse({"ready": ready}, 200 if ready else 503)

    async def _metrics(self, _: HttpRequest) -> Response:
        UNFINISHED.set(sum(x.unfinished for x in self.models.values()))
        for name, model in self.models.items():
            if model.version is not None:
                VERSION.labels(name).set(model.version)
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


def _status_v1(name, version, metadata):
    status = {"error_code": "OK", "error_message": ""}
    served = {"version": version, "state": "AVAILABLE", "status": status}
    return {"model_version_status": [served]}


def _metadata_v1(name, version, metadata):
    spec = {"name": name, "signature_name": "", "version": version}
    signatures = {"signature_def": metadata["v1"]}
    return {"model_spec": spec, "metadata": {"signature_def": signatures}}


def _ready_v2(name, version, metadata):
    return {"name": name, "ready": True}


def _metadata_v2(name, version, metadata):
    return {
        "name": name,
        "versions": [version],
        "platform": "tensorflow_savedmodel",
        **metadata["v2"]["serving_default"],
        "parameters": {"signatures": metadata["v2"]},
    }


async def _refusal(request: HttpRequest, error: Any) -> Response:
    detail = error.detail
    if error.status_code == 405:
        detail = (
            f"This path allows {error.headers['Allow']}. Received: "
            f"{request.method}."
        )
    return JSONResponse({"error": detail}, error.status_code, error.headers)


async def _nobody(_: HttpRequest, error: Any) -> Response:
    """Returns the answer to a client that has left, which is only logged."""
    return Response(status_code=499)
