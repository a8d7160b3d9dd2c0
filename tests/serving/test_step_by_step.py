import json

import pytest

from kerasrnn.serving import ExportedModel
from kerasrnn.serving.step_by_step import can_write
from kerasrnn.serving.step_by_step import written
from tests.serving import toys


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "full"
    return ExportedModel(toys.translator(path, **toys.STEPS) / "1")


def test_writing_ends_at_the_end_token(model):
    assert list(written(model, "ab")) == ["3", "3 4"]
    assert list(written(model, "")) == []


def test_writing_ends_at_the_limit(model):
    """At `max_length`, and below it by the length of the text."""
    assert len(list(written(model, 31 * "a"))) == 20
    card = model.path / "card.json"
    facts = json.loads(card.read_text())
    facts["search"]["max_length"] = 200
    card.write_text(json.dumps(facts))
    assert len(list(written(model, 31 * "a"))) == 3 * 32 + 5


def test_it_starts_and_ends_with_the_tokens_of_the_card(tmp_path):
    path = toys.translator(tmp_path / "other", **toys.STEPS)
    card = path / "1" / "card.json"
    facts = json.loads(card.read_text())
    facts["search"] |= {"start_id": 4, "end_id": 6}
    card.write_text(json.dumps(facts))
    model = ExportedModel(path / "1")
    assert list(written(model, "abc")) == ["5"]
    assert list(written(model, "")) == []


def test_what_writing_needs(model, tmp_path):
    assert can_write(model)
    assert not can_write(ExportedModel(toys.translator(tmp_path / "a") / "1"))
    old = toys.translator(tmp_path / "b", **toys.STEPS) / "1"
    (old / "card.json").unlink()
    assert not can_write(ExportedModel(old))
