"""What the tests of readers share."""

import gzip

import pytest


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes to a file, compressed if its name says so.

    Line ends stay as they are.
    """

    def write(content, name="corpus.txt"):
        if isinstance(content, str):
            content = content.encode()
        if name.lower().endswith(".gz"):
            content = gzip.compress(content)
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write
