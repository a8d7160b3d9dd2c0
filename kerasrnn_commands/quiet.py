"""Silences messages of libraries in recipes and commands.

It must be imported first. It imports Keras and its backend without the lines
that TensorFlow logs while loading, before its own log level applies. Warnings
are shown without the line of code. Interruptions, file errors, and errors that
the package or a recipe raises on purpose are shown without a traceback. With
`TF_CPP_MIN_LOG_LEVEL=0`, everything is shown.
"""

import importlib.util
import logging
import os
import re
import sys
import tempfile
import textwrap
import warnings

from kerasrnn_commands.stderr import filtered_stderr

_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_NO_BREAK = "\N{NO-BREAK SPACE}"
# Messages about missing GPUs, and log lines that are not errors.
_NOISE = re.compile(
    rb"^(?:WARNING: All log messages before absl|[IW]\d{4} |.*to cuInit).*\n",
    re.MULTILINE,
)


def load():
    """Imports Keras and, with TensorFlow, initializes its devices."""
    # First, because it tells what to install if there is no backend.
    from kerasrnn.optional import needs  # isort: split

    import keras

    if keras.backend.backend() == "tensorflow":
        import tensorflow

        with needs("tensorflow-text", "text"):
            import tensorflow_text  # noqa: F401

        tensorflow.config.list_physical_devices()
        # It warns about each loop in a loaded exported model.
        logging.getLogger("absl").setLevel(logging.ERROR)


def sentence(message, *_, **__):
    """Wraps a warning to the width of the terminal."""
    return lines(f"Note: {message}") + "\n"


def without_traceback(kind, error, trace):
    """Prints errors that users can fix without a traceback, others with."""
    name = os.path.basename(sys.argv[0])
    if os.environ.get(_LEVEL) == "0":
        sys.__excepthook__(kind, error, trace)
    elif isinstance(error, KeyboardInterrupt):
        print(f"\n{lines(f'{name}: interrupted. {error}')}", file=sys.stderr)
    elif isinstance(error, OSError) or refused(error, trace):
        print(lines(f"{name}: {error}"), file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def refused(error, trace):
    """Whether the package or a recipe raised the error, and not a library."""
    errors = sys.modules.get("kerasrnn.data.report")
    if errors is not None and isinstance(error, errors.CorpusError):
        return True
    if trace is None:
        return False
    while trace.tb_next:
        trace = trace.tb_next
    package = importlib.util.find_spec("kerasrnn")
    ours = [sys.path[0], *package.submodule_search_locations]
    path = os.path.realpath(trace.tb_frame.f_code.co_filename)
    return "Received" in str(error) and any(
        path.startswith(os.path.realpath(folder) + os.sep)
        # A virtual environment may be in the same folder.
        and path.count("site-packages") == folder.count("site-packages")
        for folder in ours
    )


def lines(message):
    """Wraps a message to the width of the terminal."""
    # Quoted text, such as a command, is not wrapped.
    quoted = re.compile(r"'[^'\n]{,60}'")
    message = quoted.sub(lambda x: x[0].replace(" ", _NO_BREAK), message)
    wrapped = "\n".join(
        textwrap.fill(line, 79, break_on_hyphens=False, break_long_words=False)
        for line in message.rstrip().split("\n")
    )
    return wrapped.replace(_NO_BREAK, " ")


warnings.formatwarning = sentence
try:
    tempfile.gettempdir()
except FileNotFoundError:
    # TensorFlow needs a path, but writes nothing to it.
    tempfile.tempdir = os.curdir
sys.excepthook = without_traceback
# Logged errors, such as a slower kernel, do not concern users. Errors that do
# are raised.
if os.environ.setdefault(_LEVEL, "3") != "0":
    with filtered_stderr(_NOISE):
        load()
