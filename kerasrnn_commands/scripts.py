"""Entry points of the console scripts and of the processes of models.

If a module is missing, a script tells which extra to install.
"""

import importlib
import importlib.util
import sys


def corpus() -> None:
    """Runs `kerasrnn-corpus`."""
    _need("corpus", "text", "tensorflow_text")
    _run("kerasrnn.serving.corpus.command")


def demo() -> None:
    """Runs `kerasrnn-demo`."""
    _need("demo", "demo", "tensorflow_text", "gradio", "matplotlib", "mido")
    _run("kerasrnn.serving.demo.page")


def onnx() -> None:
    """Runs `kerasrnn-onnx`."""
    _need("onnx", "onnx", "tensorflow_text", "onnx", "onnxruntime", "tf2onnx")
    _run("kerasrnn.serving.onnx.export")


def ray() -> None:
    """Runs `kerasrnn-ray`."""
    _need("ray", "ray", "tensorflow", "ray")
    _run("kerasrnn.distribute.ray_workers")


def serve() -> None:
    """Runs `kerasrnn-serve`, whose first process does not import Keras."""
    web = "orjson", "prometheus_client", "starlette", "tyro", "uvicorn"
    _need("serve", "serve", "tensorflow_text", *web)
    importlib.import_module("kerasrnn_commands.server").main()


def worker() -> None:
    """Runs the process of a model, which `kerasrnn-serve` starts."""
    # Keras would import it if installed, and it needs a writable folder.
    sys.modules["matplotlib"] = None  # type: ignore[assignment]
    _run("kerasrnn.serving.http.worker")


def _need(command, extra, *modules):
    """Ends the process if a module of an extra is missing."""
    for name in modules:
        if importlib.util.find_spec(name) is None:
            sys.exit(
                f"kerasrnn-{command} needs {name}: "
                f"pip install 'kerasrnn[{extra}]'"
            )


def _run(module):
    """Runs the command line of a module, with libraries silenced."""
    importlib.import_module("kerasrnn_commands.quiet")
    importlib.import_module(module).main()
