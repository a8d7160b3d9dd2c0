import asyncio
import json
import re
import socket
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

gr = pytest.importorskip("gradio", reason="needs the extra `demo`")

import pandas  # noqa: E402

from kerasrnn.data import read_midi  # noqa: E402
from kerasrnn.serving import ExportedModel  # noqa: E402
from kerasrnn.serving.demo import page as demo  # noqa: E402
from kerasrnn.serving.demo.command import main  # noqa: E402
from kerasrnn.serving.demo.page import kind_of  # noqa: E402
from kerasrnn.serving.demo.series_tabs import series_of  # noqa: E402
from kerasrnn.serving.demo.series_tabs import what_to_paste  # noqa: E402
from kerasrnn.serving.demo.text_tabs import BATCH_SIZE  # noqa: E402
from kerasrnn.serving.demo.text_tabs import MAX_CHARACTERS  # noqa: E402
from kerasrnn.serving.demo.text_tabs import attention_of  # noqa: E402
from kerasrnn.serving.demo.text_tabs import hypotheses  # noqa: E402
from kerasrnn.serving.demo.text_tabs import probabilities  # noqa: E402
from kerasrnn.serving.demo.text_tabs import remarks_of  # noqa: E402
from kerasrnn.serving.demo.text_tabs import sentences_of  # noqa: E402
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
    """Runs what the button of a tab runs; returns each step that it shows."""
    names = [
        x.label.partition(" · ")[2]
        for x in page.blocks.values()
        if isinstance(x, gr.Tab)
    ]
    functions = dict.fromkeys(x.fn for x in page.fns.values() if x.fn)
    own = [x for x in functions if x.__qualname__.startswith("add_form")]
    return list(own[names.index(tab)](*inputs))


def answer(page, tab, *inputs):
    """The only step that a tab shows."""
    (shown,) = call(page, tab, *inputs)
    return shown


def components(page, kind):
    return [x for x in page.blocks.values() if type(x) is kind]


def test_a_model_that_does_not_load_is_left_out(folder, capsys):
    found = [model.name for model in demo.load_models(folder)]
    assert found == [
        *("full", "hours", "names", "plain", "prices", "shout", "stars"),
        *("topics", "tune", "words", "writer"),
    ]
    assert "broken is skipped" in capsys.readouterr().err


def test_each_model_has_a_tab_by_its_signatures(page, models):
    tabs = [tab.label for tab in components(page, gr.Tab)]
    assert tabs == [
        *("Translator · full", "Forecaster · hours", "Tagger · names"),
        *("Translator · plain", "Forecaster · prices", "Classifier · stars"),
        *("Classifier · topics", "Music · tune", "Tagger · words"),
        "Language model · writer",
    ]
    assert kind_of(models["shout"]) is None
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
    ((note, translation, rows, figure),) = steps
    assert translation == "COME IN" and note == ""
    assert rows == [[-1.0, "COME IN"], [-2.0, "come in"]]
    labels = [x.get_text() for x in figure.axes[0].get_yticklabels()]
    assert labels == ["COME", "IN"]
    steps = call(page, "plain", "come in", "serving_default")
    assert steps[0][2] == [[-7.0, "COME IN"]]


def test_greedy_is_shown_as_it_is_written(page):
    steps = call(page, "full", "abc", "greedy")
    assert [step[1] for step in steps] == ["3", "3 4", "3 4 5", "abc"]
    assert steps[3][2] == [[0.0, "abc"]]


def test_a_paragraph_is_translated_sentence_by_sentence(page):
    text = "\nCome in. Who?\n\nwe read"
    first, rest = call(page, "full", text, "serving_default")
    # Details are those of the first.
    assert first[1:3] == ("COME IN.", [[-1.0, "COME IN."], [-2.0, "Come in."]])
    assert rest[1] == "COME IN. WHO?\n\nWE READ"
    assert rest[2] == rest[3] == gr.skip()
    steps = call(page, "full", "abc\nab", "greedy")
    assert [step[1] for step in steps[-2:]] == ["abc", "abc\nab"]


def test_the_sentences_of_a_long_text_are_translated_in_batches(page):
    text = " ".join(["Come <unk> in."] + ["We read."] * 2 * BATCH_SIZE)
    _, half, whole = call(page, "full", text, "serving_default")
    assert half[1] == text.upper()[: 14 + 9 * BATCH_SIZE]
    assert whole[1] == text.upper()
    assert whole[0].startswith(f"1 of {3 + 4 * BATCH_SIZE} tokens were never")


def test_a_text_without_words_has_no_attention(models):
    found = models["full"].signatures["attend"](text=[" "])
    assert attention_of(found) is None
    assert len(hypotheses(models["full"], "a", "greedy")) == 1


def test_a_warning_says_what_a_translation_may_lack(page):
    note, *_ = call(page, "full", "Come <unk> in. Who?", "greedy")[-1]
    assert note == ("1 of 4 tokens were never seen in training.")
    note, *_ = call(page, "full", 7 * "in ", "greedy")[-1]
    assert note == "Only the first 7 tokens of a text are read."


@pytest.mark.parametrize(
    "tab, rest",
    [
        ("full", ["greedy"]),
        ("stars", []),
        ("names", []),
        ("writer", [0.5, 20, 1.0, 3, False, 7]),
        ("hours", [["load"]]),
    ],
)
def test_nothing_is_answered_to_nothing(page, tab, rest):
    for nothing in ("", " \n\u200b"):
        assert {*map(str, answer(page, tab, nothing, *rest))} == {
            str(gr.skip())
        }


def test_hypotheses_that_read_alike_are_one(models):
    rows = hypotheses(models["full"], "ABC", "serving_default")
    assert rows == [[-1.0, "ABC"]]


def test_music_is_a_picture_and_a_file(page):
    note, path, figure = answer(page, "tune", 8, 1.0, 40)
    assert len(figure.axes) == 1 and note == ""
    assert read_midi(path).argmax(axis=1).tolist() == [40] * 8


def test_a_review_has_labels_and_weighted_words(page):
    note, labels, words = answer(page, "stars", "so good")
    assert note == ""
    assert labels == pytest.approx({"negative": 0.1, "positive": 0.9})
    assert "Blue words support “positive”" in words
    assert words.endswith(
        '<span class="against" style="--weight: 0.50">so</span> '
        '<span class="against" style="--weight: 1.00">good</span></p>'
    )
    note, labels, _ = answer(page, "stars", "so <unk> good")
    # Of so few, the answer is not wrong.
    assert note == "1 of 3 tokens were never seen in training."
    assert labels == pytest.approx({"negative": 0.1, "positive": 0.9})


def test_an_unknown_text_has_no_label(page):
    note, labels, words = answer(page, "stars", "<unk> <unk> good")
    assert labels is None and words == ""
    assert note == (
        "2 of 3 tokens were never seen in training. The answer is probably "
        "wrong. So no label is shown."
    )


def test_the_labels_that_a_text_has_are_marked(page):
    _, labels, words = answer(page, "topics", "late tea")
    assert labels == pytest.approx({"good": 0.25, "✓ late": 0.6})
    assert 'class="for" style="--weight: 1.00">late<' in words
    assert 'class="against" style="--weight: 0.75">tea<' in words
    labels = components(page, gr.Label)
    assert ["✓" in label.label for label in labels] == [False, True]
    assert [label.show_heading for label in labels] == [True, False]


@pytest.mark.parametrize("tab", ["names", "words"])
def test_phrases_are_coloured_and_listed(page, tab):
    note, shown, rows = answer(page, tab, "Anna sings")
    assert note == "1 of 2 tokens were never seen in training."
    assert shown == {
        "text": "Anna sings",
        "entities": [{"start": 0, "end": 4, "entity": "PER"}],
    }
    assert rows == [["Anna", "PER", "0.875"]]


def csv(header, *rows):
    """Rows of the first hours of a day, below a header."""
    hours = [f"2024-05-01 {hour:02}:00,{row}" for hour, row in enumerate(rows)]
    return "\n".join([f"at,{header}", *hours])


def test_a_forecast_is_drawn_and_listed(page):
    text = csv("load,note,heat", "1,a,1", "2,b,2", ",c,30", "3,d,40", "4,f,50")
    note, count, figure, table, path = answer(
        page, "hours", text, ["heat", "load"]
    )
    assert [axes.get_ylabel() for axes in figure.axes] == ["load", "heat"]
    assert note == ""
    past = figure.axes[0].lines[0]
    np.testing.assert_array_equal(past.get_ydata(), [2.0, np.nan, 3.0, 4.0])
    assert str(past.get_xdata()[-1]).startswith("2024-05-01T04:00")
    assert list(table) == [
        *("time", "load", "load 0.1", "load 0.5", "load 0.9"),
        *("heat", "heat 0.1", "heat 0.5", "heat 0.9"),
    ]
    assert table.values.tolist()[0] == [
        "2024-05-01 05:00:00",
        *(4.0, 3.0, 4.0, 5.0),
        *(50.0, 49.0, 50.0, 51.0),
    ]
    assert len(table) == 3 and count == "2 of 2 columns are shown."
    with open(path) as file:
        assert file.readlines()[:2] == [
            ",".join(table) + "\n",
            "2024-05-01 05:00:00,4.0,3.0,4.0,5.0,50.0,49.0,50.0,51.0\n",
        ]
    # Of one column, and with fewer rows than the model reads.
    text = csv("load,heat", "3,40", "4,50")
    note, count, figure, table, path = answer(page, "hours", text, ["heat"])
    assert [axes.get_ylabel() for axes in figure.axes] == ["heat"]
    assert figure.axes[0].lines[0].get_ydata().tolist() == [40, 50]
    assert note.startswith("The model reads 4 rows, and only 2 are given.")
    assert table["heat"].tolist() == [50, 50, 50]
    assert count == "1 of 2 columns are shown."
    with open(path) as file:
        assert "load" in file.readline()
    boxes = {box.value for box in components(page, gr.Textbox)}
    assert "at,load,heat\n" in boxes


def test_times_with_offsets_are_read_in_the_calendar_of_the_training(models):
    facts = models["prices"].card() | {"zone": "Asia/Kolkata"}
    rows = {
        "at": [f"2024-05-01 0{hour}:00+00:00" for hour in range(5)],
        **dict.fromkeys(("load", "heat"), ["1", "2", "", "", ""]),
        "price": list("00123"),
    }
    (series,) = series_of(facts, pandas.DataFrame(rows)).series
    expected = np.sin(2 * np.pi * (5.5 + np.arange(5)) / 24)
    np.testing.assert_allclose(series.known[:, 1], expected, 1e-5)


def test_a_forecast_knows_what_is_ahead_and_the_calendar(page, models):
    past = ["1,10,0", "2,20,0"]
    text = csv("load,heat,price", *past, ",,1", ",,2", ",,3")
    _, _, _, table, _ = answer(page, "prices", text, ["load"])
    angles = 2 * np.pi * np.array([2, 3, 4]) / 24
    waves = np.sin(angles) + np.cos(angles)
    np.testing.assert_allclose(
        table["load"], 2 + np.array([1, 2, 3]) + waves, 1e-4
    )
    text = csv("load,heat,price", *past, ",,1")
    note, *others = answer(page, "prices", text, ["load"])
    assert re.search(r"3 rows with price.*Received: 1\.", note)
    assert others == [None] * 4
    said = what_to_paste(models["prices"].card())
    assert "columns load, heat, price. Below them, paste 3 rows" in said
    assert "also reads the hour of each row" in said


@pytest.mark.parametrize(
    "text, said",
    [
        ("at,load,heat", r"the header \(3\). Received: no rows"),
        ("at,load\n1,1", "no column heat. It has: at, load"),
        ("load;heat\n1;1", "no column of times. It has: load, heat"),
        (csv("load,heat", "1,much"), "'heat' .*a number.*'much' in row 1"),
        ("at,load,heat\n7,1,1", "cannot be read. Expected: a time"),
        ("load,heat,load\n1,2,3", "distinct names"),
        ("load,heat\n1,2\n3", r"line 3 \(1 columns instead of 2\)"),
        ("x" * 1_000_001, "1,000,001 characters"),
    ],
)
def test_what_is_no_table_is_refused(page, text, said):
    note, *others = answer(page, "hours", text, ["load"])
    assert re.search(said, note) and others == [None] * 4


@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_table_of_a_spreadsheet_is_read(page, sign):
    text = csv("load,heat", "1,1", "2,2", "3,3", "4,4").replace(",", sign)
    # Without a choice, all columns are shown.
    _, count, _, table, _ = answer(page, "hours", text, [])
    assert count == "2 of 2 columns are shown."
    assert table["heat"].tolist() == [4, 4, 4]


def test_two_classes_have_one_probability():
    assert probabilities(0.25) == [0.75, 0.25]
    shares = [0.25, 0.5, 0.25]
    assert probabilities(np.array(shares)) == shares


def test_a_card_without_what_a_tab_needs_has_no_tab(tmp_path):
    path = toys.classifier(tmp_path / "stars", classes=3)
    assert kind_of(ExportedModel(path / "1")) is None


def test_padding_and_no_weight_at_all_are_no_words():
    shown = weighted_words("<b>", np.array(["<i>", ""]), np.zeros(2))
    assert "“&lt;b&gt;”" in shown
    assert shown.endswith('--weight: 0.00">&lt;i&gt;</span></p>')
    assert weighted_words("b", np.array([]), np.zeros(0)).endswith("<p></p>")


def test_sentences_keep_what_is_between_them():
    assert [*sentences_of("Dr. No lives.\n")] == [("", "Dr. No lives.")]
    text = "Dr. No lives. He dies.\n\nanother"
    assert "".join(x + y for x, y in sentences_of(text)) == text


def test_a_language_model_gets_what_the_controls_say(page):
    warning, text = answer(page, "writer", "say", 0.5, 20, 1.0, 3, False, 7)
    assert text == "say 27 27 27" and warning == ""
    warning, _ = answer(page, "writer", "<unk> a", 0.5, 20, 1.0, 3, False, 7)
    assert warning.startswith("1 of 2 tokens were never seen")
    # With -1, each call has a new one.
    texts = {
        answer(page, "writer", "say", 0.5, 20, 1.0, 3, False, -1)[1]
        for _ in range(3)
    }
    assert len(texts) == 3
    note, text = answer(page, "writer", "say", -1.0, 20, 1.0, 3, False, 7)
    assert "cannot take" in note and text is None


def test_texts_are_bounded(page):
    note, *_ = answer(page, "stars", "good " * (MAX_CHARACTERS // 5))
    assert note == ""
    shown = answer(page, "stars", "a" * (MAX_CHARACTERS + 1))
    assert shown == (
        "The text has 50,001 characters, and at most 50,000 are allowed.",
        None,
        None,
    )


@pytest.mark.parametrize(
    "tokens, said",
    [
        (["▁red", "▁book", "s", ".", "</s>"], ""),
        (["▁", "r", "o", "▁b", "u", "ch", ""], "unlike those of the training"),
        (["▁", "<unk>"], "1 of 1 tokens were never seen in training."),
        (["ro", "bu", "ch"], ""),  # whole words
    ],
)
def test_words_of_another_language_have_more_tokens(models, tokens, said):
    # Those of the samples have 1.5 tokens each.
    remarks = remarks_of(models["full"], lambda texts: [["▁come", "▁i", "n"]])
    warning, mostly_unknown = remarks([tokens])
    assert said in warning and mostly_unknown == ("<unk>" in tokens)
    is_wrong = warning.endswith("The answer is probably wrong.")
    assert is_wrong == bool(said)


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
    assert demo.caption(model) == "`full`, version 1, commit 1234567"
    card = {
        "results": {"dev": "negative log-likelihood 9.1"},
        "data": {"dev": {"pairs": 500}},
        "date": "2026-11-26",
        "languages": ["german", "en"],
        "command": "python recipes/x.py --a=/b/c.txt --d 'e f' /g/h/i ./j/k",
    }
    (folder / "full" / "1" / "card.json").write_text(json.dumps(card))
    model = ExportedModel(folder / "full" / "1")
    assert demo.title(model, kind_of(model)) == "Translator · German to EN"
    warning, mostly_unknown = remarks_of(model, list)([["the", "<unk>"]])
    assert warning == (
        "1 of 2 tokens were never seen in training. The translation is "
        "probably wrong. This model translates from German."
    )
    assert not mostly_unknown
    assert demo.caption(model) == (
        "**Negative log-likelihood 9.1** on the dev set (pairs: 500).<br>"
        "`full`, version 1, date 2026-11-26, "
        "`python recipes/x.py --a=c.txt --d 'e f' i ./j/k`"
    )


@pytest.mark.slow
def test_the_command_serves_the_page(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "kerasrnn.serving.demo.command",
        str(folder),
    ]
    server = subprocess.Popen([*command, "--port", str(port)])
    try:
        config = json.loads(wait_for(f"http://127.0.0.1:{port}/config", server))
    finally:
        server.terminate()
        server.wait()
    labels = [x["props"].get("label") for x in config["components"]]
    assert {"Translation", "Phrases"} <= {*labels}
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
def test_the_command_says_what_is_missing(content, tmp_path):
    if content:
        export_small_model(tmp_path / "models" / content)
    with pytest.raises((OSError, ValueError), match="^The.* Received: "):
        main([str(tmp_path / "models")])
