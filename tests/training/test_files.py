import pathlib

import pytest

from kerasrnn.training import files


@pytest.fixture
def versions(tmp_path):
    """A folder that is complete, and an older one."""
    paths = tmp_path / "new", tmp_path / "old"
    for path in paths:
        path.mkdir()
        (path / "name").write_text(path.name)
    return paths


@pytest.fixture
def no_swap(monkeypatch):
    """A system that cannot swap two folders at once."""
    monkeypatch.setattr(files.ctypes, "CDLL", lambda name: object())


def names(paths):
    return [(path / "name").read_text() for path in paths]


def test_folders_are_exchanged(versions):
    files.exchange(*versions)
    assert names(versions) == ["old", "new"]


def test_folders_are_exchanged_where_the_system_cannot(versions, no_swap):
    files.exchange(*versions)
    assert names(versions) == ["old", "new"]
    assert set(versions[0].parent.iterdir()) == set(versions)


def test_an_exchange_that_fails_loses_nothing(versions, no_swap, monkeypatch):
    new, old = versions
    rename = pathlib.Path.rename

    def refused(path, target):
        if path == new:
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(pathlib.Path, "rename", refused)
    with pytest.raises(KeyboardInterrupt):
        files.exchange(new, old)
    assert names(versions) == ["new", "old"]
