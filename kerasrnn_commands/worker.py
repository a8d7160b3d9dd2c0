"""Runs `kerasrnn.serving.http.worker` quietly: `kerasrnn-serve` starts this."""

import sys

# Keras would load it where it is installed. It needs a folder to write to.
sys.modules["matplotlib"] = None  # type: ignore[assignment]

from kerasrnn_commands import quiet  # noqa: E402, F401  # isort: skip
from kerasrnn.serving.http.worker import main  # noqa: E402

if __name__ == "__main__":
    main()
