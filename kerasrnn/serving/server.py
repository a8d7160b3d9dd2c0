"""Serves the models in a folder over HTTP and gRPC.

    python -m kerasrnn.serving.server saved_models
    kerasrnn-serve saved_models --http-port 8000 --timeout 5

The server is KServe's. It takes up new models and versions by itself.
"""

import dataclasses
import logging
import pathlib
import sys
import threading
from typing import TYPE_CHECKING
from typing import Annotated
from typing import Any

from kerasrnn.serving.call_pool import CallPool
from kerasrnn.serving.exported import model_folders
from kerasrnn.serving.live_model import LiveModel

if TYPE_CHECKING:
    import kserve

log = logging.getLogger("kerasrnn.serving.server")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Settings of the server."""

    http_port: int = 8080
    """Port for HTTP, on all interfaces."""
    grpc_port: int = 8081
    """Port for gRPC, on all interfaces."""
    max_request_bytes: int = 4 * 2**20
    """The most bytes of a request."""
    max_rows: int = 1024
    """The most rows of an input, such as sentences to translate at once."""
    timeout: float = 30.0
    """Seconds for an answer, the time that a call waits included."""
    threads: int = 16
    """Calls that run at once. Those of a model that batches calls gather only
    as far as they run at once."""
    waiting: int = 256
    """Calls that may wait for a thread; more are refused with status 503."""
    poll_seconds: float = 5.0
    """Seconds between looks for new versions."""
    access_log: bool = False
    """Whether to write a line for each request."""


class Server:
    """KServe's server for the models in a folder.

    Args:
        folder: Path of a folder such as `saved_models/`.
        settings: The `ServerSettings`.

    Raises:
        FileNotFoundError: when the folder contains no model that works.
        ImportError: when KServe is not installed.
    """

    def __init__(self, folder: pathlib.Path, settings: ServerSettings):
        module = _import_kserve(settings)
        self.folder = folder
        self.settings = settings
        self.pool = CallPool(
            settings.threads, settings.waiting, settings.timeout
        )
        self.kserve: kserve.ModelServer = module.ModelServer(
            http_port=settings.http_port,
            grpc_port=settings.grpc_port,
            enable_latency_logging=False,
        )
        self._stopped = threading.Event()
        self._models: dict[str, Any] = {}
        self.refresh()
        if not self.kserve.registered_models.get_models():
            raise FileNotFoundError(
                f"'{folder}' must contain a model to serve, such as "
                f"'{folder / 'nmt_hindi' / '1'}'. Received: a folder without."
            )
        from kerasrnn.serving.application import extend

        extend(module.app, self.kserve, settings.max_request_bytes)

    def refresh(self) -> None:
        """Takes up new models, and new versions of those that are served."""
        from kerasrnn.serving.served_model import ServedModel

        for name, folder in model_folders(self.folder).items():
            if name not in self._models:
                self._models[name] = ServedModel(
                    LiveModel(folder), self.pool, self.settings.max_rows
                )
        for name, model in self._models.items():
            model.refresh()
            if (
                model.ready
                and self.kserve.registered_models.get_model(name) is None
            ):
                self.kserve.register_model(model)

    def run(self) -> None:
        """Serves until the process gets SIGTERM or SIGINT.

        Requests that have come in by then are answered.
        """
        watch = threading.Thread(target=self._watch)
        watch.start()
        try:
            self.kserve.start([])
        finally:
            self._stopped.set()
            self.pool.close()
            watch.join()

    def _watch(self):
        while not self._stopped.wait(self.settings.poll_seconds):
            try:
                self.refresh()
            except Exception:
                log.exception("'%s' cannot be read.", self.folder)


def _import_kserve(settings):
    """Imports KServe's server, which reads the command line by itself."""
    arguments, sys.argv = sys.argv, sys.argv[:1]
    try:
        from kserve import model_server
    except ImportError as error:
        raise ImportError(
            "The server needs KServe: pip install 'kerasrnn[serve]'"
        ) from error
    finally:
        sys.argv = arguments
    most = settings.max_request_bytes
    model_server.args.grpc_max_receive_message_length = most
    logging.getLogger("kserve").setLevel(logging.WARNING)
    if not settings.access_log:
        logging.getLogger("uvicorn.access").setLevel(logging.WARNING)
    return model_server


def main() -> None:
    """Reads the command line and serves."""
    import tyro

    def serve(
        folder: Annotated[pathlib.Path, tyro.conf.Positional],
        settings: Annotated[
            ServerSettings, tyro.conf.arg(name="")
        ] = ServerSettings(),
    ) -> Server:
        """Serves the models in a folder over HTTP and gRPC.

        Args:
            folder: Folder of the models, such as saved_models.
            settings: Settings of the server.
        """
        return Server(folder, settings)

    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    try:
        server = tyro.cli(serve, prog="kerasrnn-serve")
    except (FileNotFoundError, ImportError) as error:
        sys.exit(str(error))
    log.info(
        "HTTP on port %d, gRPC on port %d.",
        server.settings.http_port,
        server.settings.grpc_port,
    )
    server.run()


if __name__ == "__main__":
    main()
