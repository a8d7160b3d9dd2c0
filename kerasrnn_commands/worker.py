"""Runs `kerasrnn.serving.worker` quietly: `kerasrnn-serve` starts this."""

from kerasrnn_commands import quiet  # noqa: F401  # isort: skip
from kerasrnn.serving.worker import main

if __name__ == "__main__":
    main()
