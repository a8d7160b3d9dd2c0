"""Keeps messages of libraries off the terminal of a recipe or a command.

It is imported before all else. It imports Keras and its backend without the
lines that TensorFlow logs while it is loaded, before its own setting counts;
with `TF_CPP_MIN_LOG_LEVEL=0` they are shown. A warning is shown as a sentence,
without the line of code that it refers to. An interruption, what is wrong with
a file, and what the package or a recipe refuses, are shown without a traceback,
unless `TF_CPP_MIN_LOG_LEVEL` is 0.
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
# Messages that there is no GPU, and log lines that are not errors.
_NOISE = re.compile(
    rb"^(?:WARNING: All log messages before absl|[IW]\d{4} |.*to cuInit).*\n",
    re.MULTILINE,
)


def load():
    """Imports Keras, and finds the devices of TensorFlow if it is in use."""
    # First, since it says what to install if there is no backend.
    from kerasrnn.optional import needs  # isort: split

    import keras

    if keras.backend.backend() == "tensorflow":
        import tensorflow

        with needs("tensorflow-text", "text"):
            import tensorflow_text  # noqa: F401

        tensorflow.config.list_physical_devices()
        # It warns of each loop of an exported model that is loaded.
        logging.getLogger("absl").setLevel(logging.ERROR)


def sentence(message, *_, **__):
    """Returns a warning as lines that fit a terminal."""
    return lines(f"Note: {message}") + "\n"


def without_traceback(kind, error, trace):
    """Prints an error that the user can fix alone, others with a traceback."""
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
    """Whether the package or a recipe says what is wrong, and not Python."""
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
        # An environment may lie there, too.
        and path.count("site-packages") == folder.count("site-packages")
        for folder in ours
    )


def lines(message):
    """Returns a message as lines that fit a terminal."""
    # No line ends within what is quoted, such as a command.
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
    # TensorFlow wants to know one, but writes nothing to it.
    tempfile.tempdir = os.curdir
sys.excepthook = without_traceback
# What it logs as an error, such as a slower kernel, does not concern a user:
# errors that do are raised.
if os.environ.setdefault(_LEVEL, "3") != "0":
    with filtered_stderr(_NOISE):
        load()
