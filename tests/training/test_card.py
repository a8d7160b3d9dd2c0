import datetime
import json
import math
import os
import pathlib

import keras
import numpy as np
import pytest

from kerasrnn.training import fingerprint
from kerasrnn.training import read_card
from kerasrnn.training import warn_of_other_data
from kerasrnn.training import write_card

# A run's settings, as a recipe has them.
SETTINGS = {"units": 8, "output": pathlib.Path("out"), "decay": (1.0, 2)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "card.json"


def as_json(path):
    def not_json(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(path.read_text("utf-8"), parse_constant=not_json)


def test_a_damaged_card_is_named(path):
    write_card(path, settings={"units": 8})
    for harm in (path.read_text("utf-8")[:-9], "", "[1]", "\x00\xff"):
        path.write_text(harm, "latin-1")
        with pytest.raises(ValueError, match="Delete it.*card.json"):
            read_card(path)


def test_a_card_says_how_and_where_it_was_made(path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["it.py", "--corpus", "a b"])
    card = write_card(str(path), samples=[["क्या", "है"]])
    assert as_json(path) == card and card["samples"] == [["क्या", "है"]]
    assert card["command"] == "python it.py --corpus 'a b'"
    assert card["date"] == datetime.date.today().isoformat()
    assert card["versions"]["keras"] == keras.version()
    assert card["device"]["cpu_cores"] == os.cpu_count()
    assert card["device"]["gpus"] == 0
    assert "क्या" in path.read_text("utf-8")
    assert os.listdir(path.parent) == ["card.json"]


def test_numbers_of_numpy_and_none_at_all_come_back(path):
    loss = [1.0, math.nan, math.inf, -math.inf]
    facts = {
        "loss": loss,
        "half": np.float32(0.5),
        "count": np.int64(3),
        "best": np.bool_(True),
        "norms": np.array([[1.0, 2.5]], "float16"),
        "nothing": np.float32("nan"),
        "name": "NaN, no more",
    }
    write_card(path, scores=facts, folder=path.parent)
    found = as_json(path)
    assert found["folder"] == str(path.parent)
    assert found["scores"] == {
        "loss": [1.0, "NaN", "Infinity", "-Infinity"],
        **{"half": 0.5, "count": 3, "best": True, "norms": [[1.0, 2.5]]},
        **{"nothing": "NaN", "name": "NaN, no more"},
    }
    found = read_card(path, scores=facts)["scores"]
    np.testing.assert_equal(found["loss"], loss)
    assert found["name"] == facts["name"]


def test_a_card_is_of_a_run_with_the_same_facts(path):
    assert read_card(path) is None
    write_card(path, settings=SETTINGS, data="abc", limit=None)
    for facts in ({}, {"settings": SETTINGS}, {"data": "abc", "limit": None}):
        assert read_card(path, **facts)["data"] == "abc"
    assert read_card(path, settings=SETTINGS | {"units": 9}) is None
    assert read_card(path, settings=SETTINGS | {"more": None}) is None
    assert read_card(path, settings=SETTINGS, data="abd") is None
    assert read_card(path, other=None) is None


def test_the_commit_is_that_of_the_package(path, monkeypatch):
    here = write_card(path)["commit"]
    monkeypatch.chdir(path.parent)
    assert write_card(path)["commit"] == here != ""
    folder = path.parent / "site" / "kerasrnn"
    folder.mkdir(parents=True)
    monkeypatch.setattr("kerasrnn.training.card.__file__", str(folder / "x.py"))
    assert write_card(path)["commit"] == "unknown"


def test_data_that_are_split_in_another_way_are_warned_of(path):
    saved, data = path.with_name("it.keras"), [[["a", "b"]], [["c", "d"]]]
    warn_of_other_data(saved, data)  # nothing is known of it
    write_card(path, data={"fingerprint": fingerprint(data)})
    warn_of_other_data(saved, data)
    with pytest.warns(UserWarning, match="may contain training data"):
        warn_of_other_data(saved, data[::-1])
