"""Libraries of the extras, which are imported only where they are used."""

import contextlib
from collections.abc import Iterator
from typing import Any


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


def import_pandas() -> Any:
    """Returns the library pandas."""
    with needs("pandas", "recipes"):
        import pandas
    return pandas
