"""The folder in which XLA keeps its programs."""

import os
import pathlib
import platform
import shlex

import pytest

from kerasrnn_commands.model_process import with_programs


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    tmp_path = tmp_path / "of me"  # TensorFlow splits flags at blanks
    tmp_path.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=0")
    return tmp_path


def folder():
    found = with_programs()
    *others, last = shlex.split(found["TF_XLA_FLAGS"])
    assert found == {**os.environ, "TF_XLA_FLAGS": found["TF_XLA_FLAGS"]}
    assert others == ["--tf_xla_auto_jit=0"]
    flag, _, path = last.partition("=")
    assert flag == "--tf_xla_persistent_cache_directory"
    return pathlib.Path(path)


def test_it_is_in_the_cache_of_the_user_alone(cache):
    path = folder()
    assert path.is_relative_to(cache)
    assert path.stat().st_mode & 0o777 == 0o700
    assert folder() == path  # with what was kept


def test_another_processor_has_another(monkeypatch):
    first = folder()
    monkeypatch.setattr(platform, "machine", lambda: "another")
    assert folder() != first


def test_one_that_is_given_is_left(cache, monkeypatch):
    given = "--tf_xla_persistent_cache_directory=/elsewhere"
    monkeypatch.setenv("TF_XLA_FLAGS", given)
    assert with_programs() is None
    assert not any(cache.iterdir())


def test_without_a_place_for_it_the_server_goes_on(cache, monkeypatch, caplog):
    (cache / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "file"))
    assert with_programs() is None
    assert "are not cached" in caplog.text
