import gc
import logging
import shutil
import weakref

import pytest

from kerasrnn.serving import ModelFolder
from kerasrnn.serving.live_model import LiveModel
from tests.serving.small import export_small_model


@pytest.fixture
def path(tmp_path):
    return export_small_model(tmp_path / "shout")


def answer(model):
    return model.signatures["serving_default"](text=["a"])["loud"].tolist()


def test_a_new_version_replaces_the_old_one(path):
    live = LiveModel(ModelFolder(path))
    assert live.current is None
    assert live.refresh() and not live.refresh()
    old = live.current
    export_small_model(path, version=2, mark="!")
    assert live.refresh()
    # A call that began before goes on with the old one.
    assert (answer(old), answer(live.current)) == (["A"], ["A!"])


def test_an_old_version_is_freed(path):
    live = LiveModel(ModelFolder(path))
    live.refresh()
    old = weakref.ref(live.current)
    export_small_model(path, version=2)
    live.refresh()
    gc.disable()
    try:
        live.refresh()
    finally:
        gc.enable()
    assert old() is None


def test_a_broken_version_is_left_out_until_it_is_repaired(path, caplog):
    live = LiveModel(ModelFolder(path))
    live.refresh()
    shutil.copytree(path / "1", path / "2")
    index = path / "2" / "variables" / "variables.index"
    index.rename(index.with_name("elsewhere"))
    with caplog.at_level(logging.ERROR):
        assert not live.refresh() and not live.refresh()
    assert live.current.version == "1"
    [record] = caplog.records  # One message, not one a look.
    assert "2' does not work" in record.getMessage()
    index.with_name("elsewhere").rename(index)
    assert live.refresh() and live.current.version == "2"


def test_the_version_before_is_served_when_the_newest_is_removed(path):
    export_small_model(path, version=2)
    live = LiveModel(ModelFolder(path))
    live.refresh()
    shutil.rmtree(path / "2")
    assert live.refresh() and live.current.version == "1"


def test_a_model_stays_when_its_folder_disappears(path):
    live = LiveModel(ModelFolder(path))
    live.refresh()
    shutil.rmtree(path)
    assert not live.refresh() and answer(live.current) == ["A"]
