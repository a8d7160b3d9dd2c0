import os
import pathlib

import keras
import pytest

from kerasrnn import files
from kerasrnn.files import reading


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


def test_two_writers_of_a_path_do_not_share_what_is_partial(tmp_path):
    path = tmp_path / "model.keras"
    with files.atomic_write(path) as one, files.atomic_write(path) as other:
        assert one != other
        assert one.suffix == other.suffix == ".keras"
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one"
    assert [*tmp_path.iterdir()] == [path]


def test_a_writer_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        with files.atomic_write(tmp_path / "card.json") as partial:
            partial.write_text("half")
            raise KeyboardInterrupt
    assert not [*tmp_path.iterdir()]


def test_what_a_killed_writer_left_is_removed_a_day_later(tmp_path):
    path = tmp_path / "card.json"
    names = [f"partial-0123456789ab-{x}" for x in ("card.json", "log.csv")]
    for name in (*names, "partial-mine.json"):
        (tmp_path / name).write_text("half")
    with files.atomic_write(path) as partial:
        partial.write_text("{}")
    assert len([*tmp_path.iterdir()]) == 4
    for left in tmp_path.glob("partial-*"):
        os.utime(left, (0, 0))
    with files.atomic_write(path) as partial:
        partial.write_text("{}")
    assert {x.name for x in tmp_path.iterdir()} == {
        *("card.json", "partial-mine.json"),
    }


def test_a_folder_is_written_whole_where_a_link_leads(tmp_path):
    real, link = tmp_path / "real" / "3", tmp_path / "served" / "1"
    for path in real, link.parent:
        path.mkdir(parents=True)
    link.symlink_to(real, target_is_directory=True)
    for text in "one", "other":
        with files.atomic_folder(link) as partial:
            (partial / "name").write_text(text)
        assert link.is_symlink() and (real / "name").read_text() == text
    with pytest.raises(KeyboardInterrupt):
        with files.atomic_folder(link) as partial:
            raise KeyboardInterrupt
    assert [*real.parent.iterdir()] == [real]
    assert [*link.parent.iterdir()] == [link]


def test_an_error_of_what_is_written_is_no_full_disk(tmp_path):
    with pytest.raises(NotImplementedError, match="no config"):
        with files.atomic_write(tmp_path / "model.keras"):
            raise NotImplementedError("no config")


def test_an_output_folder_is_made_and_left_empty(tmp_path):
    path = files.output_folder(str(tmp_path / "a" / "b"))
    assert path == tmp_path / "a" / "b" == files.output_folder(path)
    assert os.listdir(path) == []
    (tmp_path / "file").write_text("no folder")
    for path in "file", "file/below":
        said = rf"can be created and written. Received: '.*{path}' \("
        with pytest.raises(OSError, match=said):
            files.output_folder(tmp_path / path)


def test_an_unknown_class_is_no_damage(tmp_path):
    class Unknown(keras.layers.Layer):
        def call(self, x):
            return x

    model = keras.Sequential([keras.Input((1,)), Unknown()])
    path = tmp_path / "model.keras"
    model.save(path)
    with pytest.raises(ValueError, match="needs the class 'Unknown'.*regis"):
        with reading(path, "Delete it."):
            keras.saving.load_model(path)
    path.write_bytes(path.read_bytes()[:-99])
    with pytest.raises(ValueError, match="is damaged.*Delete it."):
        with reading(path, "Delete it."):
            keras.saving.load_model(path)
