"""Several labels a text, in each form in which tables have them."""

import json

import pytest

from kerasrnn.data.labelled_corpus import read_labelled_corpus
from kerasrnn.data.reading.rows import read_rows
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning

TEXTS = ["too slow", "fine", "so", "late and dear"]
TAGS = [["time"], [], ["other"], ["price", "time"]]


def table(*columns):
    return "\n".join("\t".join(row) for row in zip(*columns, strict=True))


FORMS = {
    "JSON": (
        "a.jsonl",
        "\n".join(
            json.dumps({"text": text, "labels": tags})
            for text, tags in zip(TEXTS, TAGS, strict=True)
        ),
        {},
    ),
    "cells of JSON": (
        "a.tsv",
        table(["text", *TEXTS], ["label", *map(json.dumps, TAGS)]),
        {},
    ),
    "cells of Python": (
        "a.tsv",
        table(["text", *TEXTS], ["tags", *map(str, TAGS)]),
        {"label_column": "tags"},
    ),
    "a separator": (
        "a.tsv",
        table(["text", *TEXTS], ["label", *map(" ; ".join, TAGS)]),
        {"label_separator": ";"},
    ),
    "fastText": (
        "a.txt",
        "\n".join(
            " ".join([*(f"__label__{tag}" for tag in tags), text])
            for text, tags in zip(TEXTS, TAGS, strict=True)
        ),
        {},
    ),
    "columns": (
        "a.tsv",
        table(
            ["text", *TEXTS],
            *(
                [name, *(str(int(name in tags)) for tags in TAGS)]
                for name in ("other", "price", "time")
            ),
        ),
        {"label_column": ["other", "price", "time"]},
    ),
}


@pytest.fixture
def write(tmp_path):
    def write(content, name="a.tsv"):
        path = tmp_path / name
        path.write_text(content, "utf-8")
        return path

    return write


@pytest.mark.parametrize("form", FORMS)
def test_several_labels_a_text(write, form, capsys):
    name, content, options = FORMS[form]
    corpus = read_labelled_corpus(
        write(content, name), multi_label=True, **options
    )
    assert corpus.label_names == ["other", "price", "time"]
    assert corpus.train == (TEXTS, [(2,), (), (0,), (1, 2)])
    said = capsys.readouterr().err
    assert "'too slow'" in said and "['time']" in said
    assert "3 labels, 1.00 a text; 1 texts have none" in said


def test_a_cell_that_is_no_list_of_labels_is_left_out(write):
    odd = "[" + "-" * 100_000 + "1]"
    path = write(f"text\tlabels\na\t['x']\nb\t{odd}\nc\t['y']\n")
    with pytest.warns(CorpusWarning, match="line 3 .not a list of labels"):
        corpus = read_labelled_corpus(path, multi_label=True)
    assert corpus.train.texts == ["a", "c"]


def test_labels_are_those_of_a_model_in_its_order(write):
    name, content, _ = FORMS["JSON"]
    path, names = write(content, name), ["time", "new", "price", "other"]
    corpus = read_labelled_corpus(
        path, label_names=names, multi_label=True, limit=3, test_path=path
    )
    assert corpus.label_names == names
    assert corpus.train == corpus.test == (TEXTS[:3], [(0,), (), (3,)])
    with pytest.raises(CorpusError, match=r"Received: \['other', 'price'\]"):
        read_labelled_corpus(path, label_names=["time"], multi_label=True)


def test_bad_cells_are_left_out_and_labels_of_no_text_told(write):
    path = write("text,x,y\na,1,0\nb,0.0,False\nc,2,0\nd,,0\ne,TRUE,0\n")
    with pytest.warns(CorpusWarning, match="2 mal.*line 4 .neither 0 nor 1 in"):
        with pytest.warns(CorpusWarning, match="no text has the label 'y'"):
            corpus = read_labelled_corpus(
                path, label_column=("x", "y"), multi_label=True
            )
    assert corpus.train == (["a", "b", "e"], [(0,), (), (0,)])
    path = write('text\tlabel\na\t"x, y"\nb\t["x", 1.0, 1, "x"]\nc\t[""]\n')
    with pytest.warns(CorpusWarning, match="line 2 .not a list.*line 4 .empty"):
        with pytest.warns(CorpusWarning, match="'1.0' is read as '1'"):
            with pytest.warns(CorpusWarning, match="are numbers and some are"):
                corpus = read_labelled_corpus(path, multi_label=True)
    assert corpus.label_names == ["1", "x"]
    assert corpus.train == (["b"], [(0, 1)])


def test_several_labels_that_were_not_asked_for_are_left_out(write):
    name, content, _ = FORMS["JSON"]
    with pytest.warns(
        CorpusWarning, match="2 malformed.*line 4 .2 labels, not"
    ):
        with pytest.warns(CorpusWarning, match="read it with `multi_label`"):
            corpus = read_labelled_corpus(
                write(content, name), label_column="labels"
            )
    assert corpus.train == (["too slow", "so"], [1, 0])


def test_an_empty_list_is_not_several_labels():
    rows = [{"text": x, "label": [x]} for x in "ab"]
    with pytest.warns(CorpusWarning) as found:
        read_labelled_corpus([*rows, {"text": "c", "label": []}])
    assert "0 labels, not one" in str(found[0].message)
    assert not any("`multi_label`" in str(x.message) for x in found)


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"label_separator": ","}, "Expected: multi_label=True"),
        ({"label_column": ["a", "b"]}, "Expected: multi_label=True"),
        (
            {"label_column": "ab", "label_separator": ",", "multi_label": True},
            "several columns of 0 and 1, or a separator",
        ),
        ({"label_separator": " ", "multi_label": True}, "that is visible"),
    ],
)
def test_arguments_that_contradict_are_refused(write, options, problem):
    if "label_column" in options:
        options = {**options, "label_column": list(options["label_column"])}
    with pytest.raises(ValueError, match=problem):
        read_labelled_corpus(write("text\ta\tb\n"), **options)


def test_a_folder_has_one_label_a_text(tmp_path):
    (tmp_path / "good").mkdir()
    (tmp_path / "good/1.txt").write_text("a")
    with pytest.raises(CorpusError, match="has too few classes"):
        read_labelled_corpus(tmp_path, multi_label=True)


def test_rows_have_lists_of_labels_too(write):
    name, content, options = FORMS["columns"]
    columns = {"text": None, "labels": options["label_column"]}
    rows = read_rows(write(content, name), **columns)
    assert rows["labels"] == TAGS


def test_a_column_is_one_label():
    rows = [{"text": f"t{i}", "a": i % 2, "b": 1} for i in range(8)]
    options = {"multi_label": True, "label_column": ["a", "b", "A"]}
    with pytest.raises(CorpusError, match=r"Received: \['a', 'b', 'a'\]"):
        read_labelled_corpus(rows, **options)
    with pytest.raises(ValueError, match="one for `label`. Received: label="):
        read_rows(rows, text=None, label=["a"])
    found = read_rows([{"text": "t", "labels": ["x"]}], text=None, labels=[])
    assert found["labels"] == [["x"]]
