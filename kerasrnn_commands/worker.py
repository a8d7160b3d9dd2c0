"""Runs `kerasrnn.serving.http.worker` quietly: `kerasrnn-serve` starts this."""

from kerasrnn_commands import quiet  # noqa: F401  # isort: skip
from kerasrnn.serving.http.worker import main

if __name__ == "__main__":
    main()
