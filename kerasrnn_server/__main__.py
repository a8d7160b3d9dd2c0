"""Starts the server: `kerasrnn-serve`, or `python -m kerasrnn_server`."""

import sys


def main() -> None:
    """Runs the command line, or names the extra that is missing."""
    try:
        from kerasrnn_server import server
    except ImportError as error:
        sys.exit(
            f"kerasrnn-serve needs {error.name}: pip install 'kerasrnn[serve]'"
        )
    server.main()


if __name__ == "__main__":
    main()
