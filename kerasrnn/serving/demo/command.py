"""The command line of the page to try models.

    kerasrnn-demo saved_models

The page needs the extra `demo`; its `--help` does not.
"""

import argparse
import os

from kerasrnn.optional import needs
from kerasrnn.typing import Strings


def main(args: Strings | None = None) -> None:
    """Runs the command line: serves the page until it is interrupted.

    Args:
        args: List of strings; `None` for the arguments of the process.
    """
    parser = argparse.ArgumentParser(
        prog="kerasrnn-demo",
        description="Serves a page to try exported models.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "folder",
        nargs="?",
        default="saved_models",
        help="folder of the models (default: %(default)s)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address; 0.0.0.0 for all interfaces (default: %(default)s)",
    )
    parser.add_argument(
        "--port", type=int, default=7860, help="default: %(default)s"
    )
    found = parser.parse_args(args)
    # Otherwise Gradio sends usage statistics, even for single components.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    with needs("gradio", "demo"):
        from kerasrnn.serving.demo.page import serve
    serve(**vars(found))


if __name__ == "__main__":
    main()
