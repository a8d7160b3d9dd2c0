"""Missing extras: the message says what to install."""

import sys

import pandas
import pytest

from kerasrnn.optional import import_pandas
from kerasrnn.optional import needs


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mido", None)
    message = r"'mido'.*pip install 'kerasrnn\[recipes\]'. Received: .*mido"
    with pytest.raises(ImportError, match=message):
        with needs("mido", "recipes"):
            import mido  # noqa: F401


def test_other_errors_pass():
    with pytest.raises(ValueError, match="^mine$"):
        with needs("mido", "recipes"):
            raise ValueError("mine")


def test_pandas_is_returned_or_named(monkeypatch):
    assert import_pandas() is pandas
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"'pandas'.*kerasrnn\[recipes\]"):
        import_pandas()
