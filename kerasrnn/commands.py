"""The console scripts that need an extra, and say so if it is missing."""

import importlib
import importlib.util
import sys


def demo() -> None:
    """Runs `kerasrnn-demo`."""
    _run("demo", "kerasrnn.serving.demo", "gradio", "matplotlib")


def onnx() -> None:
    """Runs `kerasrnn-onnx`."""
    _run(
        "onnx", "kerasrnn.serving.onnx_export", "onnx", "onnxruntime", "tf2onnx"
    )


def ray() -> None:
    """Runs `kerasrnn-ray`."""
    _run("ray", "kerasrnn.distribute.ray_workers", "ray")


def _run(extra, module, *needed):
    """Runs the command line of a module, whatever its arguments.

    Args:
        extra: Name of the extra, which is that of the script, too.
        module: Name of the module.
        *needed: Names of modules that the extra installs.
    """
    for name in needed:
        if importlib.util.find_spec(name) is None:
            sys.exit(
                f"kerasrnn-{extra} needs {name}: "
                f"pip install 'kerasrnn[{extra}]'"
            )
    importlib.import_module(module).main()
