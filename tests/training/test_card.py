import pytest

from kerasrnn.training import read_card
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
