"""What quotes mean in tables of text."""

import csv

import pytest

from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.tables.rows import read_rows

SENTENCES = [
    ('"I know.', "Ich weiß."),
    ("So do I", "Ich auch"),
    ('he said."', '"sagte er."'),
    ('A "red" book, a house', "Ein Buch"),
    ('"Yes."', '"Ja."'),
    ("two\nlines, and a\ttab", "zwei"),
]
LINES = SENTENCES[:-1]


def pairs(path, **columns):
    rows = read_rows(path, **columns or {"en": None, "de": None})
    return list(zip(*rows.columns.values(), strict=True))


@pytest.fixture
def write(tmp_path):
    def write(rows, between, quoting=None, header=("en", "de")):
        path = tmp_path / "a.txt"
        with path.open("w", newline="", encoding="utf-8") as file:
            if quoting is None:
                lines = [between.join(row) + "\n" for row in (header, *rows)]
                file.write("".join(lines))
            else:
                writer = csv.writer(file, delimiter=between, quoting=quoting)
                writer.writerows([header, *rows] if header else rows)
        return path

    return write


def test_quotation_marks_of_sentences_swallow_no_row(write):
    assert pairs(write(LINES, "\t")) == LINES
    path = write(LINES, "\t", header=("A", "B"))
    assert pairs(path, en=1, de=2) == [("A", "B"), *LINES]
    rows = [(source.replace(",", ""), target) for source, target in LINES]
    found = pairs(write(rows, ";"))
    assert [x[0] for x in found] == [*(x[0] for x in rows[:4]), "Yes."]


@pytest.mark.parametrize("between", ["\t", ",", ";"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_what_a_program_quoted_is_unquoted(write, between, quoting):
    assert pairs(write(SENTENCES, between, quoting)) == SENTENCES
    plain = [("a b", "c"), ("d", "e")]
    assert pairs(write(plain, between, quoting)) == plain
    path = write(SENTENCES, between, quoting, header=None)
    assert pairs(path, en="1", de="2") == SENTENCES


def test_rows_of_any_width_are_not_swallowed(write):
    """As in files for Anki, of which some rows have further columns."""
    rows = [("a", "b"), ('"It begins', "c", "x"), ('and ends."', "d", "x", "y")]
    rows += [('"Yes."', "ja", "x")] * 3
    found = pairs(write(rows, "\t", header=("A", "B")), en=1, de=2)
    assert found == [("A", "B"), *(row[:2] for row in rows)]


def test_commas_quoted_between_tabs_as_spreadsheets_do(write):
    rows = [("so, so", "a"), ("good", "b")]
    path = write([('"so, so"', "a"), ("good", "b")], "\t")
    assert pairs(path) == rows
    rows = [('"so, so"', "a"), ("good, too", "b")]
    assert pairs(write(rows, "\t")) == rows


def test_a_cell_that_may_be_rows_is_warned_of(write):
    rows = [("a", "b"), ('"It begins', "c"), ('and ends."', "d")]
    with pytest.warns(
        CorpusWarning, match="line 3 begins a quoted cell of sev"
    ):
        found = pairs(write(rows, ","))
    assert found == [("a", "b"), ("It begins,c\nand ends.", "d")]


def test_many_quotes_take_no_long_time(write):
    rows = [('"so, ' * 50_000, "a"), ('"' * 99_999, "b"), ('" , ', "c")]
    assert len(pairs(write(rows, "\t"))) == 3
