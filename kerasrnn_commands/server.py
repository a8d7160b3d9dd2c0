"""Serves the models in a folder over HTTP.

    kerasrnn-serve saved_models
    kerasrnn-serve saved_models --host 0.0.0.0 --port 8000 --timeout 5

New models and versions are loaded while it runs.
"""

import logging
import pathlib
import signal
import sys
from typing import Annotated

import tyro

from kerasrnn_commands.application import Application
from kerasrnn_commands.connection import http_server
from kerasrnn_commands.messages import ServerSettings
from kerasrnn_commands.model_process import with_programs
from kerasrnn_commands.versions import models


def serve(
    folder: Annotated[pathlib.Path, tyro.conf.Positional],
    settings: Annotated[ServerSettings, tyro.conf.arg(name="")],
) -> None:
    """Serves the models in a folder over HTTP.

    Ctrl-C and SIGTERM end it, after requests that it has received are answered.

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
    programs = with_programs() if settings.keep_programs else None
    # uvicorn raises the signal again after it has ended.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    application = Application(folder, settings, programs)
    http_server(application.app, settings).run()


def main() -> None:
    """Reads the command line and serves."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    try:
        # `--cors` may be given several times.
        config = [tyro.conf.UseAppendAction]
        tyro.cli(serve, prog="kerasrnn-serve", config=config)
    except (FileNotFoundError, ValueError) as error:
        sys.exit(f"kerasrnn-serve: {error}")


if __name__ == "__main__":
    main()
