"""Entry points of the console scripts and of the processes of models."""

import importlib
import importlib.util
import sys


def corpus() -> None:
    """Runs `kerasrnn-corpus`."""
    _run("kerasrnn.serving.corpus.command")


def demo() -> None:
    """Runs `kerasrnn-demo`."""
    _run("kerasrnn.serving.demo.command")


def onnx() -> None:
    """Runs `kerasrnn-onnx`."""
    _run("kerasrnn.serving.onnx.export")


def ray() -> None:
    """Runs `kerasrnn-ray`."""
    _run("kerasrnn.distribute.ray_workers")


def serve() -> None:
    """Runs `kerasrnn-serve`, whose first process does not import Keras."""
    web = "orjson", "prometheus_client", "starlette", "tyro", "uvicorn"
    for name in ("tensorflow_text", *web):
        if importlib.util.find_spec(name) is None:
            sys.exit(
                f"kerasrnn-serve needs {name}: pip install 'kerasrnn[serve]'"
            )
    importlib.import_module("kerasrnn_commands.server").main()


def worker() -> None:
    """Runs the process of a model, which `kerasrnn-serve` starts."""
    # Keras would import it if installed, and it needs a writable folder.
    sys.modules["matplotlib"] = None  # type: ignore[assignment]
    _run("kerasrnn.serving.http.worker")


def _run(module):
    """Runs the command line of a module, with libraries silenced."""
    importlib.import_module("kerasrnn_commands.quiet")
    importlib.import_module(module).main()
