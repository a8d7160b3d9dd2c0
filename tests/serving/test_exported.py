import os
import pathlib

import pytest

from kerasrnn.serving import ExportedModel
from kerasrnn.serving import ModelFolder
from kerasrnn.serving import model_folders
from tests.serving.small import export_small_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two versions, and what a killed or older run leaves beside them."""
    # As texts, they would be in another order.
    path = tmp_path_factory.mktemp("models") / "shout"
    export_small_model(path, version=10, mark="!")
    export_small_model(path, version=9)
    for name in (".partial-11", "training-ab12", "010"):
        (path / name).mkdir()
        (path / name / "saved_model.pb").touch()
    (path / "12").mkdir()  # Still without `saved_model.pb`.
    return ModelFolder(path)


def test_versions_are_complete_and_in_the_order_of_numbers(folder):
    assert folder.name == "shout"
    assert list(folder.versions()) == [9, 10]
    assert ModelFolder(folder.path / "missing").versions() == {}


def test_the_newest_version_is_loaded_or_the_one_asked_for(folder, monkeypatch):
    newest, first = folder.load(), folder.load(9)
    assert (newest.name, newest.version, first.version) == ("shout", "10", "9")
    for model, expected in [(newest, "A!"), (first, "A")]:
        answer = model.signatures["serving_default"](text=["a"])
        assert answer["loud"].tolist() == [expected]
    monkeypatch.chdir(first.path)
    assert (ExportedModel(".").name, ModelFolder("..").name) == ("shout", "..")


def test_a_missing_version_is_an_error(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"\[9, 10\].*Received: 7"):
        folder.load(7)
    with pytest.raises(FileNotFoundError, match="must contain versions"):
        ModelFolder(tmp_path).load()


def test_models_are_found_by_their_folders(folder, tmp_path):
    for name in (b".hidden", b"\xff\xfe"):  # The second is not UTF-8.
        path = os.path.join(os.fsencode(tmp_path), name, b"1")
        os.makedirs(path)
        pathlib.Path(os.fsdecode(path), "saved_model.pb").touch()
    assert list(model_folders(folder.path.parent)) == ["shout"]
    assert model_folders(tmp_path) == {}
    with pytest.raises(FileNotFoundError, match="missing"):
        model_folders(tmp_path / "missing")


def test_a_card_is_in_the_version(folder):
    model = folder.load(9)
    assert model.card() is None
    (model.path / "card.json").write_text('{"commit": "within"}')
    assert model.card() == {"commit": "within"}


def test_a_broken_version_does_not_load(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"no protocol buffer")
    with pytest.raises(OSError, match="SavedModel"):
        ExportedModel(tmp_path)


def test_a_folder_that_must_not_be_read_has_no_model(folder, monkeypatch):
    closed = folder.path.with_name("lost+found")
    closed.mkdir()
    iterdir = pathlib.Path.iterdir

    def refuse(path):
        if path == closed:
            raise PermissionError(path)
        return iterdir(path)

    monkeypatch.setattr(pathlib.Path, "iterdir", refuse)
    assert list(model_folders(folder.path.parent)) == ["shout"]
