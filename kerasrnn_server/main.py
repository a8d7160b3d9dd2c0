"""Serves the models in a folder over HTTP.

    kerasrnn-serve saved_models
    kerasrnn-serve saved_models --host 0.0.0.0 --port 8000 --timeout 5

New models and versions are taken up while it runs.
"""

import logging
import pathlib
import signal
import sys
from typing import TYPE_CHECKING
from typing import Annotated
from typing import Any

if TYPE_CHECKING:
    from kerasrnn_server.settings import ServerSettings

log = logging.getLogger("kerasrnn_server")


def serve(folder: pathlib.Path, settings: "ServerSettings") -> None:
    """Serves until the process gets SIGTERM or SIGINT.

    Requests that have come in by then are answered, for as long as an answer
    may take.

    Args:
        folder: Path of a folder such as `saved_models/`.
        settings: The `ServerSettings`.
    """
    import uvicorn

    from kerasrnn_server.application import Application
    from kerasrnn_server.connection import Connection
    from kerasrnn_server.connection import Logged

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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.Server(config).run()


def main(args: Any = None) -> None:
    """Runs the command line.

    Args:
        args: List of strings; `None` for the arguments of the process.
    """
    try:
        import tyro

        from kerasrnn_server.settings import ServerSettings
        from kerasrnn_server.versions import models
    except ImportError as error:
        sys.exit(f"kerasrnn-serve: pip install 'kerasrnn[serve]' ({error})")

    def command(
        folder: Annotated[pathlib.Path, tyro.conf.Positional],
        settings: Annotated[ServerSettings, tyro.conf.arg(name="")],
    ) -> tuple[pathlib.Path, ServerSettings]:
        """Serves the models in a folder over HTTP.

        Args:
            folder: Folder of the models, such as saved_models.
            settings: Settings of the server.
        """
        return folder, settings

    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    folder, settings = tyro.cli(command, prog="kerasrnn-serve", args=args)
    try:
        if not models(folder):
            raise FileNotFoundError(
                f"'{folder}' must contain a model to serve, such as "
                f"'{folder / 'nmt_hindi' / '1'}'. Received: a folder without."
            )
    except FileNotFoundError as error:
        sys.exit(f"kerasrnn-serve: {error}")
    log.info("http://%s:%d", settings.host, settings.port)
    serve(folder, settings)


if __name__ == "__main__":
    main()
