"""Names of classes in the text of a page become references."""

import pathlib
import types

import class_links
import pytest

ROOT = pathlib.Path(__file__).parents[1]
AS_IT_IS = [
    "## `FastLSTM`",
    "[`FastLSTM`](cells.md) and ![`RHN`](rhn.png)",
    "```python\nlayer = FastLSTM(`8`)  # `RHN`\n```",
    "1. so:\n   ```sh\n   echo `RHN`\n   ```",
    "<!-- output of `RHN` -->",
    "`keras.layers.LSTM`, `None`, `Adam(1e-3)`, `units` and FastLSTM",
]


def linked(text, page="guides/cells.md"):
    config = types.SimpleNamespace(config_file_path=ROOT / "mkdocs.yml")
    class_links.on_config(config)
    file = types.SimpleNamespace(src_uri=page)
    return class_links.on_page_markdown(text, types.SimpleNamespace(file=file))


def test_names_and_calls_are_linked():
    text = "`RHN` runs\nan `RHNCell(8, depth=3)`\n```\n`RHN`\n```\n`GAM`"
    assert linked(text) == (
        "[`RHN`][kerasrnn.layers.RHN] runs\n"
        "an [`RHNCell(8, depth=3)`][kerasrnn.layers.RHNCell]\n"
        "```\n`RHN`\n```\n[`GAM`][kerasrnn.layers.GAM]"
    )


@pytest.mark.parametrize("text", AS_IT_IS)
def test_what_is_no_text_stays(text):
    assert linked(text) == text


def test_pages_of_the_api_stay():
    assert linked("`RHN`", "api/layers.md") == "`RHN`"
