import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

gr = pytest.importorskip("gradio", reason="needs the extra `demo`")

from kerasrnn.data import read_midi  # noqa: E402
from kerasrnn.serving import ExportedModel  # noqa: E402
from kerasrnn.serving.demo import page as demo  # noqa: E402
from kerasrnn.serving.demo.page import tab_of  # noqa: E402
from kerasrnn.serving.demo.series_tabs import series_of  # noqa: E402
from kerasrnn.serving.demo.series_tabs import what_to_paste  # noqa: E402
from kerasrnn.serving.demo.text_tabs import MAX_CHARACTERS  # noqa: E402
from kerasrnn.serving.demo.text_tabs import attention_of  # noqa: E402
from kerasrnn.serving.demo.text_tabs import checked  # noqa: E402
from kerasrnn.serving.demo.text_tabs import hypotheses  # noqa: E402
from kerasrnn.serving.demo.text_tabs import probabilities  # noqa: E402
from kerasrnn.serving.demo.text_tabs import several_sentences  # noqa: E402
from kerasrnn.serving.demo.text_tabs import subword_words  # noqa: E402
from kerasrnn.serving.demo.text_tabs import weighted_words  # noqa: E402
from tests.serving import toys  # noqa: E402
from tests.serving.small import export_small_model  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    toys.translator(path / "plain")
    toys.translator(
        path / "full",
        greedy=toys.greedy,
        n_best=toys.n_best,
        **toys.STEPS,
    )
    toys.classifier(path / "stars")
    toys.multi_label_classifier(path / "topics")
    toys.language_model(path / "writer")
    toys.music(path / "tune")
    toys.tagger(path / "names")
    toys.tagger(path / "words", scheme=None)
    toys.forecaster(path / "hours")
    (path / "hours" / "example.csv").write_text("at,load,heat\n")
    toys.forecaster(path / "prices", known=["price", "hour_sin", "hour_cos"])
    export_small_model(path / "shout")
    (path / "broken" / "1").mkdir(parents=True)
    (path / "broken" / "1" / "saved_model.pb").write_bytes(b"broken")
    return path


@pytest.fixture(scope="module")
def models(folder):
    return {model.name: model for model in demo.load_models(folder)}


@pytest.fixture(scope="module")
def page(models):
    async def build():
        return demo.build_page(models.values())

    # Where no event loop runs, Gradio makes one, and never closes it.
    return asyncio.run(build())


def call(page, tab, *inputs):
    """Runs what the button of a tab runs; returns all that it shows."""
    names = [x.label for x in page.blocks.values() if isinstance(x, gr.Tab)]
    events = [
        x.fn for x in page.fns.values() if x.fn.__module__.startswith("k")
    ]
    shown = events[names.index(tab)](*inputs)
    return list(shown) if hasattr(shown, "__next__") else shown


def components(page, kind):
    return [x for x in page.blocks.values() if type(x) is kind]


def test_a_model_that_does_not_load_is_left_out(folder, capsys):
    found = [model.name for model in demo.load_models(folder)]
    assert found == [
        *("full", "hours", "names", "plain", "prices", "shout", "stars"),
        *("topics", "tune", "words", "writer"),
    ]
    assert "broken is left out" in capsys.readouterr().err


def test_each_model_has_a_tab_by_its_signatures(page, models):
    tabs = [tab.label for tab in components(page, gr.Tab)]
    assert tabs == [
        *("full", "hours", "names", "plain", "prices", "stars", "topics"),
        *("tune", "words", "writer"),
    ]
    assert tab_of(models["shout"]) is None
    last = components(page, gr.Markdown)[-1].value
    assert last.startswith("Not shown") and last.endswith(": shout.")
    with pytest.raises(ValueError, match=r"Received: \['shout'\]"):
        demo.build_page([models["shout"]])


def test_what_an_export_lacks_is_not_shown(page):
    full, plain = components(page, gr.Radio)
    assert full.visible and not plain.visible
    assert [label for label, _ in full.choices] == (
        ["Beam", "Greedy, word by word"]
    )
    sliders = [slider.label for slider in components(page, gr.Slider)]
    music = ["Length in steps", "Temperature"]
    assert sliders == [
        *music,
        "Temperature",
        "Top k",
        "Top p",
        "Length in tokens",
    ]


def test_a_translation_is_shown_with_hypotheses_and_attention(page):
    steps = call(page, "full", "come in", "serving_default")
    translation, rows, *_ = steps[0]
    assert translation == "COME IN"
    assert rows == [[-1.0, "COME IN"], [-2.0, "come in"]]
    _, _, figure, note = steps[-1]
    assert note == ""
    labels = [x.get_text() for x in figure.axes[0].get_yticklabels()]
    assert labels == ["COME", "IN"]
    steps = call(page, "plain", "come in", "serving_default")
    assert steps[0][1] == [[-7.0, "COME IN"]]


def test_greedy_is_shown_as_it_is_written(page):
    steps = call(page, "full", "abc", "greedy")
    assert [step[0] for step in steps[:4]] == ["3", "3 4", "3 4 5", "abc"]
    assert steps[3][1] == [[0.0, "abc"]]


def test_a_text_without_words_has_no_attention(models):
    found = models["full"].signatures["attend"](text=[" "])
    assert attention_of(found) is None
    assert len(hypotheses(models["full"], "a", "greedy")) == 1


def test_a_note_says_what_a_translation_may_lack(page):
    *_, note = call(page, "full", "Come <unk> in. Who?", "greedy")[-1]
    assert note.startswith("Unknown to the model: 1 of 4 tokens. The model was")
    assert "only the first" in note
    *_, note = call(page, "full", 7 * "in ", "greedy")[-1]
    assert note == "Only the first 7 tokens of the text were read."


def test_hypotheses_that_read_alike_are_one(models):
    rows = hypotheses(models["full"], "ABC", "serving_default")
    assert rows == [[-1.0, "ABC"]]


def test_music_is_a_picture_and_a_file(page):
    figure, path = call(page, "tune", 8, 1.0, 40)
    assert len(figure.axes) == 1
    assert read_midi(path).argmax(axis=1).tolist() == [40] * 8


def test_a_review_has_labels_and_weighted_words(page):
    labels, words, note = call(page, "stars", "so good")
    assert note == ""
    assert labels == pytest.approx({"negative": 0.1, "positive": 0.9})
    assert words == [("so", 0.5), ("good", 1.0)]
    *_, note = call(page, "stars", "so <unk> good")
    assert note == "Unknown to the model: 1 of 3 tokens."


def test_the_labels_that_a_text_has_are_marked(page):
    labels, words, _ = call(page, "topics", "late tea")
    assert labels == pytest.approx({"good": 0.25, "✓ late": 0.6})
    assert words == [("late", 1.0), ("tea", 0.75)]
    titles = [label.label for label in components(page, gr.Label)]
    assert ["✓" in title for title in titles] == [False, True]


def test_phrases_are_coloured_and_listed(page):
    parts, rows, remark = call(page, "names", "Anna sings")
    assert parts == [("Anna", "PER"), (" sings", None)]
    assert rows == [["Anna", "PER", 0.875]] and not remark
    parts, rows, remark = call(page, "words", "Anna sings")
    assert parts == [("Anna ", "B-PER"), ("sings ", "O")]
    assert not rows and not remark


def csv(header, *rows):
    """Rows of the first hours of a day, below a header."""
    hours = [f"2024-05-01 {hour:02}:00,{row}" for hour, row in enumerate(rows)]
    return "\n".join([f"at,{header}", *hours])


def test_a_forecast_is_drawn_and_listed(page):
    text = csv("load,note,heat", "1,a,1", "2,b,2", ",c,30", "3,d,40", "4,f,50")
    figure, table = call(page, "hours", text)
    assert [axes.get_ylabel() for axes in figure.axes] == ["load", "heat"]
    past = figure.axes[0].lines[0].get_ydata()
    np.testing.assert_array_equal(past, [2.0, np.nan, 3.0, 4.0])
    assert len(table) == 3 * 2
    assert table[:2] == [
        ["2024-05-01 05:00:00", "load", 4.0, 3.0, 4.0, 5.0],
        ["2024-05-01 05:00:00", "heat", 50.0, 49.0, 50.0, 51.0],
    ]
    boxes = {box.value for box in components(page, gr.Textbox)}
    assert "at,load,heat\n" in boxes


def test_times_with_offsets_are_read_in_the_calendar_of_the_training(models):
    facts = models["prices"].card() | {"zone": "Asia/Kolkata"}
    table = {
        "at": [f"2024-05-01 0{hour}:00+00:00" for hour in range(5)],
        **dict.fromkeys(("load", "heat"), ["1", "2", "", "", ""]),
        "price": list("00123"),
    }
    (series,) = series_of(facts, table).series
    expected = np.sin(2 * np.pi * (5.5 + np.arange(5)) / 24)
    np.testing.assert_allclose(series.known[:, 1], expected, 1e-5)


def test_a_forecast_knows_what_is_ahead_and_the_calendar(page, models):
    past = ["1,10,0", "2,20,0"]
    _, table = call(
        page, "prices", csv("load,heat,price", *past, ",,1", ",,2", ",,3")
    )
    angles = 2 * np.pi * np.array([2, 3, 4]) / 24
    waves = np.sin(angles) + np.cos(angles)
    found = [row[2] for row in table[::2]]
    np.testing.assert_allclose(found, 2 + np.array([1, 2, 3]) + waves, 1e-4)
    with pytest.raises(gr.Error, match=r"3 rows with price.*Received: 1\."):
        call(page, "prices", csv("load,heat,price", *past, ",,1"))
    said = what_to_paste(models["prices"].card())
    assert "columns load, heat, price. Below them, paste 3 rows" in said
    assert "also reads the hour of each row" in said


@pytest.mark.parametrize(
    "text, said",
    [
        (" ", "paste rows"),
        ("at,load\n1,1", "the column 'heat'. Received: 'at', 'load'"),
        ("load,heat\n1,1", "a column of times. Received: 'load', 'heat'"),
        (csv("load,heat", "1,much"), "'heat' .*a number.*'much' in row 1"),
        ("at,load,heat\n7,1,1", "cannot be read. Expected: a time"),
        ("load,heat,load\n1,2,3", "different names"),
        ('load,heat\n"' + "1,2\n" * 40_000, "paste rows as CSV. Received"),
        ("load,heat\n1,2\n3", "2 cells in each row. Received: 1 in row 2"),
        ("x" * 1_000_001, "1,000,001 characters"),
    ],
)
def test_what_is_no_table_is_refused(page, text, said):
    with pytest.raises(gr.Error, match=said):
        call(page, "hours", text)


def test_probabilities_have_the_names_of_their_labels():
    names = ["bad", "fair", "good"]
    assert probabilities("bad", 0.25, names[:2]) == {"bad": 0.75, "fair": 0.25}
    shares = np.array([0.25, 0.5, 0.25])
    found = probabilities("fair", shares, names)
    assert found == {"bad": 0.25, "fair": 0.5, "good": 0.25}
    found = probabilities(np.array(["", "fair", ""]), shares, names)
    assert found == {"bad": 0.25, "✓ fair": 0.5, "good": 0.25}


def test_a_card_without_what_a_tab_needs_has_no_tab(tmp_path):
    path = toys.classifier(tmp_path / "stars", classes=3)
    assert tab_of(ExportedModel(path / "1")) is None


def test_padding_and_no_weight_at_all_are_no_words():
    assert weighted_words(np.array(["a", ""]), np.zeros(2)) == [("a", 0.0)]
    assert weighted_words(np.array([]), np.zeros(0)) == []


def test_several_sentences_are_remarked_on():
    assert several_sentences("Dr. No lives.\n") == []
    (remark,) = several_sentences("Dr. No lives. He dies.")
    assert remark.startswith("The model was trained on single sentences")
    assert several_sentences("one line\nanother") == [remark]


def test_a_language_model_gets_what_the_controls_say(page):
    assert (
        call(page, "writer", "say", 0.5, 20, 1.0, 3, False, 7) == "say 27 27 27"
    )
    # With -1, each call has a new one.
    texts = {
        call(page, "writer", "say", 0.5, 20, 1.0, 3, False, -1)
        for _ in range(3)
    }
    assert len(texts) == 3
    with pytest.raises(ValueError, match="cannot take"):
        call(page, "writer", "say", -1.0, 20, 1.0, 3, False, 7)


def test_texts_are_bounded():
    assert checked("a" * MAX_CHARACTERS)
    with pytest.raises(gr.Error, match="2,001 characters"):
        checked("a" * (MAX_CHARACTERS + 1))
    with pytest.raises(gr.Error, match="type a text"):
        checked(" \n\u200b")


@pytest.mark.parametrize(
    "tokens, words",
    [
        (
            ["▁re", "d", "▁", "book", "</s>"],
            [(0, "red"), (2, "book"), (4, "</s>")],
        ),
        (["red", "book"], [(0, "red"), (1, "book")]),
    ],
)
def test_subwords_are_joined_to_words(tokens, words):
    assert subword_words(tokens) == words


def test_the_page_says_where_a_model_comes_from(folder):
    model = ExportedModel(folder / "full" / "1")
    assert demo.caption(model) == "Version 1, commit 1234567"
    card = {
        "results": {"dev": "negative log-likelihood 9.1"},
        "data": {"dev": {"pairs": 500}},
        "date": "2026-11-26",
        "languages": ["german", "en"],
    }
    (folder / "full" / "1" / "card.json").write_text(json.dumps(card))
    assert demo.caption(ExportedModel(folder / "full" / "1")) == (
        "### German to EN\n\n**Negative log-likelihood 9.1** on 500 pairs "
        "(dev).<br>Version 1, date 2026-11-26"
    )


@pytest.mark.slow
def test_the_command_serves_the_page(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "kerasrnn.serving.demo.page", str(folder)]
    server = subprocess.Popen([*command, "--port", str(port)])
    try:
        config = json.loads(wait_for(f"http://127.0.0.1:{port}/config", server))
    finally:
        server.terminate()
        server.wait()
    labels = [x["props"].get("label") for x in config["components"]]
    assert {"full", "Translation", "Phrases"} <= {*labels}
    # No statistics, and no font from elsewhere.
    assert not config["analytics_enabled"]
    assert not [x for x in config["stylesheets"] if x.startswith("http")]


def wait_for(url, server):
    """The answer of a server that is starting."""
    while True:
        assert server.poll() is None
        try:
            with urllib.request.urlopen(url) as answer:
                return answer.read()
        except OSError:
            time.sleep(0.2)


@pytest.mark.parametrize("content", [None, "shout"])
def test_the_command_says_what_is_missing(content, tmp_path, capsys):
    if content:
        export_small_model(tmp_path / "models" / content)
    with pytest.raises(SystemExit):
        demo.main([str(tmp_path / "models")])
    assert "kerasrnn-demo: The" in capsys.readouterr().err
