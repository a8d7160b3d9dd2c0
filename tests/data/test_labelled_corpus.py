import collections
import csv
import json

import pytest

from kerasrnn.data.labelled_corpus import one_spelling
from kerasrnn.data.labelled_corpus import read_labelled_corpus
from kerasrnn.data.reading.cells import in_order
from kerasrnn.data.reading.rows import read_rows
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.report import Report

# Tables of text.


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("between", [",", "\t", ";"])
@pytest.mark.parametrize(
    "text, label", [("review", "sentiment"), ("Text", " Label")]
)
def test_table(write, mark, end, between, text, label):
    rows = [
        [label, "id", text],
        ["so-so", "1", "good"],
        ["bad", "2", '"bad, ""really""\tbad\nyes; no"'],
        [],
        ["", " ", ""],
        [" fine", "3", "अच्छा "],
        ["so-so", "4", "it's 5\" long"],
    ]
    lines = [between.join(row) for row in rows]
    corpus = read_labelled_corpus(write(mark + end.join(lines)))
    assert corpus.train == (
        ["good", 'bad, "really"\tbad\nyes; no', "अच्छा", "it's 5\" long"],
        [2, 0, 1, 2],
    )
    assert corpus.label_names == ["bad", "fine", "so-so"]
    assert (corpus.test, corpus.unlabelled) == (None, [])


def test_a_column_of_groups(write):
    rows = "".join(f"{x},1,by {x}\nno {x},0,\nnot {x},0,by {x}\n" for x in "ab")
    path = write("text,label,Author\n" + rows + "a,0,by b\n")
    assert read_labelled_corpus(path, limit=2).groups is None
    with pytest.warns(CorpusWarning, match=r"2 mal.*line 3 \(empty group\)"):
        corpus = read_labelled_corpus(path, group_column="author", limit=3)
    assert corpus.train == (["a", "not a", "not b"], [1, 0, 0])
    assert corpus.groups_of(corpus.train.texts) == ["by a", "by a", "by b"]


TOPICS = "text,Topic,label\na,x,1\nb,\u00e9,2\nc,e\u0301,3\n"
SIX = "text,label\na,0\nb,0\nc,1\nd,1\ne,1\nf,2\n"
QUOTES = 'label,text\n1,good\n0,"bad\n0,"so, so"\n1,a "" b\n'
WORD = 'text\tlabel\n"Great" is the word\t1\nbad\t0\n"two"\t1'
READ = {
    "a column": (
        TOPICS,
        {"label_column": "topic"},
        ([*"abc"], [0, 1, 1]),
        ["x", "\u00e9"],
    ),
    "columns of other names": (
        TOPICS,
        {"text_column": "Topic", "label_column": "text"},
        (["x", "\u00e9", "e\u0301"], [0, 1, 2]),
        [*"abc"],
    ),
    **{
        f"{order}": (
            "label,text\n" + "".join(f"{x},a text\n" for x in reversed(order)),
            {},
            (["a text"] * len(order), [*range(len(order))][::-1]),
            order,
        )
        for order in (
            ["-1", "9", "10"],
            ["1.5", "2", "10"],
            ["negative", "positive"],
        )
    },
    "a column of the very name": (
        "Text,text,label\nx,a,1\ny,b,0\n",
        {},
        (["a", "b"], [1, 0]),
        [*"01"],
    ),
    "the first of two columns": (
        "TEXT,Text,label\na,x,1\nb,y,0\n",
        {},
        (["a", "b"], [1, 0]),
        [*"01"],
    ),
    "a delimiter that the file names": (
        "sep=;\nlabel;text\n1;so, so\n0;a, b\n",
        {},
        (["so, so", "a, b"], [1, 0]),
        [*"01"],
    ),
    "quotes that are characters": (
        QUOTES,
        {},
        (["good", '"bad', "so, so", 'a "" b'], [1, 0, 0, 1]),
        ["0", "1"],
    ),
    "quoted words between tabs": (
        WORD,
        {},
        (['"Great" is the word', "bad", '"two"'], [1, 0, 1]),
        ["0", "1"],
    ),
    "quoted words between commas": (
        WORD.replace("\t", ","),
        {},
        (['"Great" is the word', "bad", "two"], [1, 0, 1]),
        ["0", "1"],
    ),
    "a limit of 1": (SIX, {"limit": 1}, (["a"], [0]), [*"012"]),
    "a limit of 3": (SIX, {"limit": 3}, ([*"acf"], [0, 1, 2]), [*"012"]),
    "a limit of 4": (SIX, {"limit": 4}, ([*"abcf"], [0, 0, 1, 2]), [*"012"]),
    "a limit of 9": (
        SIX,
        {"limit": 9},
        ([*"abcdef"], [0, 0, 1, 1, 1, 2]),
        [*"012"],
    ),
}


@pytest.mark.parametrize("name", READ)
def test_texts_are_read(write, name):
    content, options, train, names = READ[name]
    path = write(content)
    corpus = read_labelled_corpus(path, test_path=path, **options)
    assert (corpus.train, corpus.label_names) == (train, names)
    assert corpus.test == corpus.train


NO_TEXT = "Expected: 'review' or 'text' or 'sentence' among the columns, or an"
REFUSED = {
    "no header": ("\ngood,1\nbad,0\n", {}, NO_TEXT),
    "a quote in it": ('"text,label\ngood,1\nbad,0\n', {}, NO_TEXT),
    "no label": ("text,stars\na,1\n", {}, "'sentiment' or 'label' among"),
    "another name": (
        "comment,stars\ngood,1\n",
        {"text_column": "coment", "label_column": "stars"},
        "Did you mean 'comment'[?]",
    ),
    "a header alone": (
        "comment,stars\n",
        {"text_column": "comment", "label_column": "stars"},
        "corpus.txt has no rows",
    ),
    "no objects": (
        "text,label\na,\n",
        {},
        r"\[\], 1 malformed: line 2",
    ),
    "a class": (
        "text,label\na,x\nb,x\n",
        {},
        r"2 texts of the classes \['x'\]",
    ),
    "a limit": ("text,label\na,1\nb,0\n", {"limit": 0}, "`limit` .*limit=0"),
    "a separator": ("", {"label_separator": ","}, "Expected: multi_label=True"),
    "columns": ("", {"label_column": [*"ab"]}, "Expected: multi_label=True"),
    "columns and a separator": (
        "",
        {"label_column": [*"ab"], "label_separator": ",", "multi_label": True},
        "several columns of 0 and 1, or a label separator",
    ),
    "no groups": (
        "text,label\na,1\nb,0\n",
        {"group_column": "film"},
        "'film' among .* `group_column`",
    ),
    "a class that is not given": (
        "text,label\ngood,fine\nbetter,fine\n",
        {"label_names": ["so-so"]},
        r"\['so-so'\]. Received: \['fine'\]",
    ),
    "no class": (
        "text,label\n",
        {"label_names": ["fine"]},
        "at least one class",
    ),
    "a column twice": (
        "text,a,b\n" + "".join(f"t{i},{i % 2},1\n" for i in range(8)),
        {"multi_label": True, "label_column": ["a", "b", "A"]},
        r"Received: \['a', 'b', 'a'\]",
    ),
    "a blank": (
        "",
        {"label_separator": " ", "multi_label": True},
        "a visible separator",
    ),
}


@pytest.mark.parametrize(
    "content, options, message", REFUSED.values(), ids=REFUSED
)
def test_what_cannot_be_read_is_refused(write, content, options, message):
    with pytest.raises(ValueError, match=message):
        read_labelled_corpus(write(content), **options)


BAD_ROWS = {
    ",fine": "empty label",
    "1,": "empty text",
    "1,\u200e\u2800": "empty text",
    "1": "1 columns instead of 2",
    "1,fine,": "3 columns instead of 2",
    '"1\n2",fine,': "3 columns instead of 2",
    r"\N,fine": "empty label",
    r"1,\N": "empty text",
}


@pytest.mark.parametrize("bad", BAD_ROWS)
def test_bad_rows_are_left_out(write, bad):
    path = write(f'label,text\n1,"two\nlines"\n\n{bad}\n0,bad\n')
    with pytest.warns(CorpusWarning) as record:
        corpus = read_labelled_corpus(path)
    assert corpus.train == (["two\nlines", "bad"], [1, 0])
    [warning] = record
    assert str(warning.message) == (
        f"1 malformed of {len(bad.split()) + 5} lines in the corpus {path} "
        f"were left out: line 5 ({BAD_ROWS[bad]})"
    )
    assert warning.filename == __file__


@pytest.mark.parametrize("between", [",", "\t"])
def test_a_text_of_a_table_may_be_long(write, between):
    text = 70_000 * "so, "
    limit = csv.field_size_limit()
    path = write(f'label{between}text\n1{between}"{text}"\n0{between}bad\n')
    assert read_labelled_corpus(path).train.texts == [text.strip(), "bad"]
    assert csv.field_size_limit() == limit


def test_a_folder_of_tables_names_them(write):
    folder = write("text,label\ngood,1\n", "a.csv").parent
    with pytest.raises(IsADirectoryError, match="Did you mean.*[.]csv[?]"):
        read_labelled_corpus(folder)


# Other formats.


def test_the_classes_may_be_those_of_a_model(write):
    path = write("text,label\ngood,fine\nbetter,fine\n")
    corpus = read_labelled_corpus(path, label_names=["so-so", "fine"])
    assert corpus.train.labels == [1, 1]
    assert corpus.label_names == ["so-so", "fine"]


def test_a_folder_has_no_columns(tmp_path):
    for name in ("bad", "good"):
        (tmp_path / "texts" / name).mkdir(parents=True)
        (tmp_path / "texts" / name / "1.txt").write_text("so " + name)
    folder = tmp_path / "texts"
    for column in ("text_column", "label_column", "group_column"):
        with pytest.raises(CorpusError, match=f"'body' among .* `{column}`"):
            read_labelled_corpus(folder, **{column: "body"})
    corpus = read_labelled_corpus(folder, test_path=folder)
    assert corpus.test == corpus.train == (["so bad", "so good"], [0, 1])


# The names of labels.


def notes(names, known=()):
    report = Report("a")
    chosen = one_spelling(collections.Counter(names), known, report)
    found = [chosen[name] for name in names]
    return found, " ".join(report.notes)


def test_one_number_is_one_class():
    found, said = notes(["1", "0", "1.0", "1.5", "0.00"])
    assert found == ["1", "0", "1", "1.5", "0"]
    assert "'1.0' is read as '1', '0.00' is read as '0'" in said
    assert notes(["1.0", "2.0"]) == (["1.0", "2.0"], "")
    assert notes(["1", "0"], known=["0", "1.0"])[0] == ["1.0", "0"]


@pytest.mark.parametrize(
    "names, message",
    [
        (["1", "0", "Pos"], r"numbers and some are not: 'Pos' \(1 times\)"),
        (["pos", "neg", "Pos"], r"only in case.*\['pos', 'Pos'\]"),
        (["pos", "neg", "pos\u200b"], r"\['pos', 'pos\\u200b'\]"),
    ],
)
def test_labels_that_look_like_mistakes(names, message):
    assert notes(names)[0] == names
    with pytest.warns(CorpusWarning, match=message):
        rows = [{"text": "a", "label": name} for name in names]
        read_labelled_corpus(rows)


def test_many_numbers_take_no_long_time():
    names = [str(number) for number in range(40_000)]
    assert notes(names, known=names)[0] == names


def test_large_numbers_are_of_other_values():
    names = ["9007199254740993", "9007199254740992"]
    assert notes(names)[0] == names
    assert in_order(names) == names[::-1]


# Several labels a text, in each form in which tables have them.


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
        table(
            ["text", *TEXTS],
            ["label", *(f" {json.dumps(tags)}" for tags in TAGS)],
        ),
        {},
    ),
    "cells of Python": (
        "a.tsv",
        table(["text", *TEXTS], ["tags", *map(str, TAGS)]),
        {"label_column": "tags"},
    ),
    "a separator": (
        "a.tsv",
        table(["text", *TEXTS], ["label", *map("; ;".join, TAGS)]),
        {"label_separator": ";"},
    ),
    "fastText": (
        "a.txt",
        "\n".join(
            " , ".join([*(f"__label__{tag}" for tag in tags), text])
            for text, tags in zip(TEXTS, TAGS, strict=True)
        ),
        {},
    ),
    "fastText, labels anywhere": (
        "a.txt",
        "\n".join(
            " ".join([*(f"__label__{x}" for x in tags[:1]), text, *rest])
            for text, tags in zip(TEXTS, TAGS, strict=True)
            for rest in [[f"__label__{x}" for x in tags[1:]]]
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


@pytest.mark.parametrize("form", FORMS)
def test_several_labels_a_text(write, form, capsys):
    name, content, options = FORMS[form]
    path = write(content, name)
    corpus = read_labelled_corpus(
        path, limit=9, test_path=path, multi_label=True, **options
    )
    assert corpus.label_names == ["other", "price", "time"]
    assert corpus.train == (TEXTS, [(2,), (), (0,), (1, 2)])
    assert corpus.test == corpus.train
    said = capsys.readouterr().err
    assert "'too slow'" in said and "['time']" in said
    assert "3 labels, 1.00 per text; 1 texts have none" in said


def test_labels_are_those_of_a_model_in_its_order(write):
    name, content, _ = FORMS["JSON"]
    path, names = (
        write(content, name),
        ["time", "new", "price", "other"],
    )
    corpus = read_labelled_corpus(
        path, label_names=names, multi_label=True, limit=3, test_path=path
    )
    assert corpus.label_names == names
    assert corpus.train == corpus.test == (TEXTS[:3], [(0,), (), (3,)])
    with pytest.raises(CorpusError, match=r"Received: \['other', 'price'\]"):
        read_labelled_corpus(path, label_names=["time"], multi_label=True)


def test_bad_cells_are_left_out_and_labels_of_no_text_told(
    write,
):
    path = write("text,x,y\na,1,0\nb,0.0,False\nc,2,0\nd,,0\ne,TRUE,0\n")
    with pytest.warns(CorpusWarning, match="2 mal.*line 4 .neither 0 nor 1 in"):
        with pytest.warns(CorpusWarning, match="no text has the label 'y'"):
            corpus = read_labelled_corpus(
                path, label_column=("x", "y"), multi_label=True
            )
    assert corpus.train == (["a", "b", "e"], [(0,), (), (0,)])
    path = write(
        'text\tlabel\na\t"x, y"\nb\t["x", 1.0, 1, "x"]\nc\t[""]\n'
        "d\t['x' 'y']\n"  # of NumPy
    )
    message = "line 2 .not a list.*line 4 .empty.*line 5 .not a list"
    with pytest.warns(CorpusWarning, match=message):
        with pytest.warns(CorpusWarning, match="'1.0' is read as '1'"):
            with pytest.warns(CorpusWarning, match="are numbers and some are"):
                corpus = read_labelled_corpus(path, multi_label=True)
    assert corpus.label_names == ["1", "x"]
    assert corpus.train == (["b"], [(0, 1)])


def test_several_labels_that_were_not_asked_for_are_left_out(
    write,
):
    name, content, _ = FORMS["JSON"]
    message = "2 malformed.*0 labels, not one.*2 labels, not one: `multi_label`"
    with pytest.warns(CorpusWarning, match=message):
        corpus = read_labelled_corpus(
            write(content, name), label_column="labels"
        )
    assert corpus.train == (["too slow", "so"], [1, 0])
    cells = '["x", "y"]', '["x"]', "['y']", "[0, 1]"
    path = write(table(["text", *"abcd"], ["label", *cells]), "a.tsv")
    with pytest.warns(CorpusWarning, match="line 2 .2 labels, not one"):
        assert read_labelled_corpus(path).label_names == ["[0, 1]", "x", "y"]


def test_a_column_is_one_label():
    rows = [{"text": f"t{i}", "a": i % 2, "b": 1} for i in range(8)]
    with pytest.raises(ValueError, match="one for `label`. Received: label="):
        read_rows(rows, text=None, label=["a"])
    found = read_rows([{"text": "t", "labels": ["x"]}], text=None, labels=[])
    assert found["labels"] == [["x"]]
    one = [{"text": "t", "labels": ["x"]}]
    assert read_labelled_corpus(one, multi_label=True).label_names == ["x"]
