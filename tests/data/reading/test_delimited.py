"""What quotes mean in tables of text."""

import csv
import warnings

import pytest

from kerasrnn.data.reading.rows import read_rows
from kerasrnn.data.report import CorpusWarning

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
    message = "1 malformed .* line 4 .4 columns instead of 3"
    with pytest.warns(CorpusWarning, match=message):
        found = pairs(write(rows, "\t", header=("A", "B")), en=1, de=2)
    assert found == [("A", "B"), *(x[:2] for x in rows if len(x) < 4)]
    with pytest.warns(CorpusWarning, match="3 malformed .*2 columns inst"):
        found = pairs(write(rows, "\t", header=("A", "B")), en=1, de=3)
    assert len(found) == 4


@pytest.mark.parametrize("between", [",", "\t", ";", "|"])
def test_a_delimiter_in_a_text_cuts_nothing_silently(write, between):
    rows = [("ham", "Go on", " crazy"), ("spam", "Free"), ("ham", "x", "y", "")]
    # Of two widths that are equally frequent, the smaller one is right.
    path = write([*rows, ("spam", "Call")], between, header=rows[0])
    message = "3 malformed of 5 lines.* 1 .3 columns .* 2 .3 columns .* 4 .4 co"
    with pytest.warns(CorpusWarning, match=message):
        found = pairs(path, label=1, text=2)
    assert found == [("spam", "Free"), ("spam", "Call")]
    # Further columns that all rows have are no part of a text.
    rows = [("Go.", "Geh.", "CC-BY"), ("Run!", "Lauf!", "CC-BY")]
    path = write(rows, between, header=rows[0])
    assert pairs(path, en=1, de=2) == [("Go.", "Geh."), *(x[:2] for x in rows)]


@pytest.mark.parametrize("between", [";", "|"])
def test_the_delimiter_is_the_sign_that_every_row_has(write, between):
    rows = [("Hello, dear, friend", "pos"), ("Bad; sad | film", "neg")]
    rows = [rows[0], (rows[1][0].replace(between, ","), "neg"), rows[0]]
    path = write(rows[1:], between, header=rows[0])
    assert pairs(path, text=1, label=2) == rows
    rows = [("a, b", "pos"), ("c, d", "neg")]
    path = write(rows[1:], between, header=rows[0])
    assert pairs(path, text=1, label=2) == rows


def test_a_title_with_a_comma_does_not_hide_tabs(write):
    rows = [("Good, indeed.", "pos"), ("Bad, alas.", "neg")]
    path = write(rows, "\t", header=("Reviews of 2024, by me",))
    with pytest.warns(CorpusWarning, match="1 malformed of 3 lines"):
        assert pairs(path, text=1, label=2) == rows


@pytest.mark.parametrize("sign, count", [(",", 3), ("\t", 4)])
def test_only_with_tabs_a_row_may_be_short(write, sign, count):
    rows = [(f"a{n}", f"b{n}", f"c{n}") for n in range(3)]
    path = write([*rows[1:], ("d", "e")], sign, header=rows[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(pairs(path, text=1, label=2)) == count
    found = [str(x.message) for x in caught]
    assert any("2 columns instead of 3" in x for x in found) == (sign == ",")


@pytest.mark.parametrize("sign, name", [(";", "semic"), ("|", "vertical bar")])
def test_the_delimiter_is_named_where_it_is_missing(write, sign, name):
    path = write([("a", "b"), ("c",)], sign, header=("d", "e"))
    with pytest.warns(CorpusWarning, match=f"no {name}.* between columns"):
        assert len(pairs(path, text=1, label=2)) == 2


@pytest.mark.parametrize("header", [("label", " text"), ('"x"', ' "a, b"')])
def test_a_blank_may_stand_before_a_quote(write, header):
    rows = [('"pos"', ' "good, film"'), ('"neg"', ' "so ""bad"""')]
    path = write(rows, ",", header=header)
    named = {"l": "label", "t": "text"} if "text" in header[1] else {}
    found = pairs(path, **(named or {"l": 1, "t": 2}))
    expected = [("pos", "good, film"), ("neg", 'so "bad"')]
    assert found == ([("x", "a, b")] if not named else []) + expected


def test_a_quote_after_a_backslash_is_warned_of(write):
    path = write([(r'"So \"fine\" it is"', "c"), ('"a ""b"""', "d")], ",")
    with pytest.warns(CorpusWarning, match=r'line 2 has a quote .* \\"'):
        found = pairs(path)
    assert found == [(r'"So \"fine\" it is"', "c"), ('a "b"', "d")]


def test_commas_quoted_between_tabs_as_spreadsheets_do(write):
    rows = [("so, so", "a"), ("good", "b")]
    path = write([('"so, so"', "a"), ("good", "b")], "\t")
    assert pairs(path) == rows
    rows = [('"so, so"', "a"), ("good, too", "b")]
    assert pairs(write(rows, "\t")) == rows


def test_a_cell_that_may_be_rows_is_warned_of(write):
    rows = [("a", "b"), ('"It begins', "c"), ('and ends."', "d")]
    with pytest.warns(CorpusWarning, match="line 3 begins a quoted cell whose"):
        found = pairs(write(rows, ","))
    assert found == [("a", "b"), ("It begins,c\nand ends.", "d")]


def test_many_quotes_take_no_long_time(write):
    rows = [('"so, ' * 50_000, "a"), ('"' * 99_999, "b"), ('" , ', "c")]
    assert len(pairs(write(rows, "\t"))) == 3
