"""Backends and libraries of the extras, imported only where they are used."""

import contextlib
import importlib.util
import os
from collections.abc import Iterator
from typing import Any

BACKENDS = ("tensorflow", "jax", "torch")


@contextlib.contextmanager
def needs(library: str, extra: str) -> Iterator[None]:
    """Says what to install if an import in the block fails.

    Args:
        library: String, the name of the library.
        extra: String, the extra of kerasrnn that installs it.

    Raises:
        ImportError: when the block raises one.

    Example:

    >>> with needs("pandas", "recipes"):
    ...     import pandas
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"This needs the library {library!r}. Expected: pip install "
            f"'kerasrnn[{extra}]'. Received: {error}"
        ) from error


@contextlib.contextmanager
def needs_backend() -> Iterator[None]:
    """Says what to install, or to set, if Keras has no backend to run on.

    Raises:
        ImportError: when the block, which imports Keras, finds no backend.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        chosen = os.environ.get("KERAS_BACKEND")
        # Keras's backend of NumPy needs other libraries.
        if error.name not in BACKENDS and chosen in (None, *BACKENDS):
            raise
        installed = [x for x in BACKENDS if importlib.util.find_spec(x)]
        raise ImportError(
            "Keras found no backend that kerasrnn can run on. Expected: "
            + (
                f"KERAS_BACKEND={' or '.join(installed)} in the environment, "
                "set before Keras is imported"
                if installed
                else "pip install 'kerasrnn[tensorflow]'; or 'kerasrnn[jax]' "
                "or 'kerasrnn[torch]', with KERAS_BACKEND=jax or "
                "KERAS_BACKEND=torch in the environment"
            )
            + f". Received: KERAS_BACKEND={chosen or '(not set)'}, and {error}"
        ) from error


def import_pandas() -> Any:
    """Returns the library pandas."""
    with needs("pandas", "recipes"):
        import pandas
    return pandas
