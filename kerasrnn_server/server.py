"""Serves the models in a folder over HTTP.

    kerasrnn-serve saved_models
    kerasrnn-serve saved_models --host 0.0.0.0 --port 8000 --timeout 5

New models and versions are taken up while it runs.
"""

import logging
import pathlib
import signal
import sys
from typing import Annotated

import tyro
import uvicorn

from kerasrnn_server.application import Application
from kerasrnn_server.compile_cache import keep_programs
from kerasrnn_server.connection import Connection
from kerasrnn_server.connection import Logged
from kerasrnn_server.settings import ServerSettings
from kerasrnn_server.versions import models

log = logging.getLogger(__name__)


def serve(
    folder: Annotated[pathlib.Path, tyro.conf.Positional],
    settings: Annotated[ServerSettings, tyro.conf.arg(name="")],
) -> None:
    """Serves the models in a folder over HTTP, until it is told to end.

    Requests that have come in by then are still answered. Ctrl-C and SIGTERM
    end it.

    Args:
        folder: Folder of the models, such as saved_models.
        settings: Settings of the server.

    Raises:
        FileNotFoundError: when there is no model in the folder.
    """
    if not models(folder):
        raise FileNotFoundError(
            f"'{folder}' must contain a model to serve, such as "
            f"'{folder / 'nmt_hindi' / '1'}'. Received: a folder without any."
        )
    if settings.keep_programs:
        keep_programs()
    config = uvicorn.Config(
        Logged(Application(folder, settings).app, settings.access_log),
        host=settings.host,
        port=settings.port,
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=int(settings.timeout) + 1,
    )
    # uvicorn raises the signal again once it has ended.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    log.info("Serving at http://%s:%d", settings.host, settings.port)
    uvicorn.Server(config).run()


def main() -> None:
    """Reads the command line and serves."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    try:
        # `--cors` may be given several times.
        config = [tyro.conf.UseAppendAction]
        tyro.cli(serve, prog="kerasrnn-serve", config=config)
    except (FileNotFoundError, ValueError) as error:
        sys.exit(f"kerasrnn-serve: {error}")
