"""Runs `kerasrnn.serving.http.worker` quietly: `kerasrnn-serve` starts this."""

import sys

# Keras would import matplotlib if installed, and that needs a writable folder.
sys.modules["matplotlib"] = None  # type: ignore[assignment]

from kerasrnn_commands import quiet  # noqa: E402, F401  # isort: skip
from kerasrnn.serving.http.worker import main  # noqa: E402

if __name__ == "__main__":
    main()
