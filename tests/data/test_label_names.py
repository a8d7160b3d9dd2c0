import pytest

from kerasrnn.data import CorpusWarning
from kerasrnn.data import read_labelled_corpus
from kerasrnn.data.labelled_corpus import one_spelling
from kerasrnn.data.reading.cells import in_order
from kerasrnn.data.report import Report


def notes(names, known=()):
    report = Report("a")
    chosen = one_spelling(names, known, report)
    found = [chosen[name] for name in names]
    return found, " ".join(report.notes)


def test_numbers_come_first_and_by_value():
    names = ["b", "10", "-1", "2.5", "2", "a"]
    assert in_order(names) == ["-1", "2", "2.5", "10", "a", "b"]


def test_one_number_is_one_class():
    found, said = notes(["1", "0", "1.0", "1.5", "0.00"])
    assert found == ["1", "0", "1", "1.5", "0"]
    assert "'1.0' is read as '1', '0.00' is read as '0'" in said
    assert notes(["1.0", "2.0"]) == (["1.0", "2.0"], "")
    assert notes(["1.0"], known=["0", "1"])[0] == ["1"]


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


def test_a_missing_number_is_no_class(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,1\nb,0\nc,nan\nd,1.0\n")
    with pytest.warns(CorpusWarning, match="'1.0' is read as '1'"):
        with pytest.warns(CorpusWarning, match="line 4 .empty label"):
            corpus = read_labelled_corpus(path)
    assert corpus.train == (["a", "b", "d"], [1, 0, 1])
    assert corpus.label_names == ["0", "1"]


def test_many_numbers_take_no_long_time():
    names = [str(number) for number in range(40_000)]
    assert notes(names, known=names)[0] == names


def test_large_numbers_are_of_other_values():
    names = ["9007199254740993", "9007199254740992"]
    assert notes(names)[0] == names
    assert in_order(names) == names[::-1]
