import re

import pytest

from kerasrnn.pipelines import write_hub_folder
from kerasrnn.training import write_card
from tests import fresh_process
from tests.pipelines import small

CARD = {
    "data": {
        "train": {"sentences": 1200},
        "dev": {"words": 9},
        "license": None,
    },
    "results": {"dev": "F1 of phrases 95.7", "test": "F1 of phrases 95.0"},
}
GIVEN = {
    "name": "anna/names",
    "license": "apache-2.0",
    "languages": ["en", "hi"],
    "limitations": "It knows six sentences.",
}


@pytest.mark.parametrize(
    "loads", [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_a_folder_loads_by_what_its_card_says(tmp_path, loads):
    pipeline = small.tagger()
    pipeline.save(tmp_path / "tagger.keras")
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "saved_model.pb").touch()
    write_card(tmp_path / "card.json", **CARD)
    folder = write_hub_folder(tmp_path, tmp_path / "hub", **GIVEN)
    assert (folder / "saved_model" / "saved_model.pb").exists()
    text = (folder / "README.md").read_text("utf-8")
    for fact in (
        'language: ["en", "hi"]',
        "license: apache-2.0",
        "* test: F1 of phrases 95.0",
        "1,200 sentences",
        "Licence of the data: not stated",
        GIVEN["limitations"],
    ):
        assert fact in text
    (code,) = re.findall("```python\n(.*?)```", text, re.DOTALL)
    sentence = ["Anna", "lives", "in", "Rome"]
    code = code.replace("hf://anna/names", str(folder)) + (
        f"import json; print(json.dumps(pipeline.tag_tokens([{sentence}])))"
    )
    if loads:
        assert fresh_process.answer(code) == pipeline.tag_tokens([sentence])


def test_a_run_that_has_not_finished_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must be the folder of a fin"):
        write_hub_folder(tmp_path, tmp_path / "hub", **GIVEN)
