"""What KServe's HTTP application and gRPC server lack: limits, clear errors."""

from typing import Any

import kserve
import orjson
from fastapi import FastAPI
from fastapi.exceptions import HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from grpc import StatusCode
from grpc_interceptor.exceptions import GrpcException
from grpc_interceptor.exceptions import InvalidArgument
from kserve.errors import ModelNotFound
from kserve.protocol.dataplane import DataPlane
from kserve.protocol.model_repository_extension import ModelRepositoryExtension

_HTTP_STATUS = {
    StatusCode.INVALID_ARGUMENT: 400,
    StatusCode.UNAVAILABLE: 503,
    StatusCode.DEADLINE_EXCEEDED: 504,
}


class BodyLimit:
    """Refuses a request with a long body before it is in memory.

    Args:
        app: The ASGI application behind it.
        max_bytes: The most bytes of a body.
    """

    def __init__(self, app: Any, max_bytes: int):
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handles a request, as ASGI demands."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        error = HTTPException(
            413, f"A request must have at most {self.max_bytes} bytes."
        )
        headers = dict(scope["headers"])
        if int(headers.get(b"content-length", 0)) > self.max_bytes:
            response = await http_error(None, error)
            await response(scope, receive, send)
            return
        seen = 0

        async def counted():
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.max_bytes:
                raise error
            return message

        await self.app(scope, counted, send)


class Requests(DataPlane):
    """KServe's data plane; what it cannot parse is the client's error."""

    def decode(self, *args: Any, **kwargs: Any) -> Any:
        """Parses a request as `DataPlane.decode` does, JSON by any name.

        Raises:
            InvalidArgument: when that fails, in whatever way.
        """
        try:
            body, attributes = super().decode(*args, **kwargs)
            if isinstance(body, bytes):
                body = orjson.loads(body)
            return body, attributes
        except Exception as error:
            raise InvalidArgument(
                "The request must be one of KServe's protocol v1 or v2. "
                f"Received: {type(error).__name__}: {str(error)[:500]}"
            ) from error


class FromFolders(ModelRepositoryExtension):
    """Clients cannot load or unload a model."""

    async def load(self, model_name: str) -> None:
        """Refuses.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument(
            "Models are loaded and unloaded by their folders."
        )

    unload = load


async def http_error(_: Any, error: Any) -> JSONResponse:
    """Answers with the status and the text of an `HTTPException`."""
    return JSONResponse({"error": error.detail}, error.status_code)


async def grpc_error(_: Any, error: Any) -> JSONResponse:
    """Answers with the HTTP status of a `GrpcException`."""
    status = _HTTP_STATUS.get(error.status_code, 500)
    headers = {"Retry-After": "1"} if status == 503 else None
    return JSONResponse({"error": error.details}, status, headers)


async def no_request(_: Any, error: Any) -> JSONResponse:
    """Answers a body that is no request of v2, without repeating the body."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return JSONResponse(
        {
            "error": "The body must be a request of the Open Inference "
            f"Protocol. Received: {first['msg']} at {where}."[:1000]
        },
        400,
    )


def extend(app: FastAPI, server: kserve.ModelServer, max_bytes: int) -> None:
    """Adds limits, errors and the signatures in the metadata to KServe.

    Args:
        app: The application of KServe.
        server: The server, before its start.
        max_bytes: The most bytes of a request.
    """
    models = server.registered_models
    server.dataplane = Requests(model_registry=models)
    server.model_repository_extension = FromFolders(model_registry=models)
    app.add_middleware(BodyLimit, max_bytes=max_bytes)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(GrpcException, grpc_error)
    app.add_exception_handler(RequestValidationError, no_request)

    # Of two routes for a path, the first one is taken: KServe's come later.
    @app.get("/v2/models/{name}")
    async def metadata(name: str) -> JSONResponse:
        model = models.get_model(name)
        if model is None:
            raise ModelNotFound(name)
        return JSONResponse(model.metadata())
