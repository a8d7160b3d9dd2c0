import datetime
import json
import math

import keras
import numpy as np
import pytest

from kerasrnn.training import fingerprint
from kerasrnn.training import read_card
from kerasrnn.training import warn_of_other_data
from kerasrnn.training import write_card


def test_a_damaged_card_is_named(tmp_path):
    path = tmp_path / "card.json"
    write_card(path, settings={"units": 8})
    assert read_card(path, settings={"units": 8})
    for harm in (path.read_text("utf-8")[:-9], "", "[1]", "\x00\xff"):
        path.write_text(harm, "latin-1")
        with pytest.raises(ValueError, match="Delete it.*card.json"):
            read_card(path)
    write_card(path, settings={"units": 8})
    assert read_card(path)


def test_a_card_says_how_and_where_it_was_made(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["it.py", "a b"])
    card = write_card(tmp_path / "card.json", units=8)
    assert card["command"] == "python it.py 'a b'" and card["units"] == 8
    assert card["date"] == datetime.date.today().isoformat()
    assert card["versions"]["keras"] == keras.version()
    assert card["device"]["gpus"] == 0


def test_a_card_may_be_known_by_a_number_that_is_none(tmp_path):
    write_card(tmp_path / "card.json", loss=float("nan"))
    card = read_card(tmp_path / "card.json", loss=float("nan"))
    assert math.isnan(card["loss"])
    assert read_card(tmp_path / "card.json", loss=1.0) is None


def test_numbers_of_numpy_stay_numbers(tmp_path):
    path = tmp_path / "card.json"
    facts = {
        "loss": np.float32(0.5),
        "count": np.int64(3),
        "best": np.bool_(True),
        "norms": np.array([[1.0, 2.5]], "float16"),
        "nothing": np.float32("nan"),
    }
    write_card(path, scores=facts, folder=tmp_path)
    card = json.loads(path.read_text())
    assert card["scores"] == {
        "loss": 0.5,
        "count": 3,
        "best": True,
        "norms": [[1.0, 2.5]],
        "nothing": "NaN",
    }
    assert card["folder"] == str(tmp_path)
    assert read_card(path, scores=facts) is not None


def test_a_card_must_have_the_fact(tmp_path):
    write_card(tmp_path / "card.json", limit=None)
    assert read_card(tmp_path / "card.json", limit=None) is not None
    assert read_card(tmp_path / "card.json", other=None) is None


def test_data_that_are_split_in_another_way_are_warned_of(tmp_path):
    saved, data = tmp_path / "it.keras", [[["a", "b"]], [["c", "d"]]]
    warn_of_other_data(saved, data)  # nothing is known of it
    write_card(tmp_path / "card.json", data={"fingerprint": fingerprint(data)})
    warn_of_other_data(saved, data)
    with pytest.warns(UserWarning, match="may contain training data"):
        warn_of_other_data(saved, data[::-1])
