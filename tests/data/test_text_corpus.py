import gzip
import json

import pytest

from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.text_corpus import read_text_corpus


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes to a file, without touching the line ends."""

    def write(content, name="corpus.txt"):
        if isinstance(content, str):
            content = content.encode("utf-8")
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    ("count", "held_out"), [(2, 1), (19, 1), (20, 2), (105, 10)]
)
def test_last_tenth_is_for_validation(write, count, held_out):
    lines = [f"line {n}" for n in range(count)]
    corpus = read_text_corpus(write("\n".join(lines)))
    assert corpus == (lines[:-held_out], lines[-held_out:], None)


def test_limit_of_one_file(write):
    lines = [f"line {n}" for n in range(100)]
    path = write("\n".join(lines))
    assert read_text_corpus(path, limit=20) == (lines[:20], lines[90:92], None)
    assert read_text_corpus(path, limit=5) == (lines[:5], lines[90:91], None)
    assert read_text_corpus(path, limit=1000) == (lines[:90], lines[90:], None)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last_end", [True, False])
def test_byte_order_mark_and_line_ends(write, mark, end, last_end):
    text = mark + "the red book" + end + "क्या है" + end * last_end
    corpus = read_text_corpus(write(text))
    assert corpus == (["the red book"], ["क्या है"], None)


def test_blank_lines_and_outer_white_space_are_dropped(write):
    path = write("\n  one \t\r\n \u00a0\n\u200b\n two  words\n\u2800\n")
    assert read_text_corpus(path) == (["one"], ["two  words"], None)


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\v", "\x1c", "\r"])
def test_only_a_line_feed_ends_a_line(write, odd):
    path = write(f"one{odd}two\nthree")
    assert read_text_corpus(path) == ([f"one{odd}two"], ["three"], None)


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\n \r\n\t\n"])
def test_empty_file(write, content):
    path = write(content)
    with pytest.raises(CorpusError, match="no usable text.*ed: .") as error:
        read_text_corpus(path)
    assert str(path) in str(error.value)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(("text", "words"), [("one", 1), ("\none two\n", 2)])
def test_one_line_cannot_be_divided(write, text, words):
    path = write(text)
    with pytest.raises(CorpusError, match=f"1 line of {words} words") as error:
        read_text_corpus(path)
    assert str(path) in str(error.value)


def test_lines_that_are_not_utf8_are_left_out(write):
    path = write(99 * b"one\n" + b"\xe9")
    with pytest.warns(CorpusWarning, match="1 malformed of 100.*line 100 "):
        assert len(read_text_corpus(path).train) == 90
    path = write("café\nsoirée\nthé\nmore\n".encode("latin-1"))
    with pytest.raises(CorpusError, match="3 of 4 lines.*iconv.*line 1 .*0xe9"):
        read_text_corpus(path)


@pytest.mark.parametrize("name", ["absent.txt", "ptb.train.txt", "absent.tgz"])
def test_missing_path(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(FileNotFoundError, match=f"'{name}' is mis") as error:
        read_text_corpus(path)
    assert str(path) in str(error.value)


# Texts in the rows of a table.

ROWS = [{"id": 1, "text": "a b"}, {"id": 2, "text": "c\r\n\n d"}]
ROWS += [{"id": 3, "text": ""}, {"id": 4, "text": " "}, {"id": 5, "text": "e"}]
TABLE = "id\ttext\n1\ta b\n2\tc\n3\td\n4\t\n5\te\n"


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.jsonl", "\n".join(map(json.dumps, ROWS))),
        (
            "a.ndjson.gz",
            gzip.compress("\n".join(map(json.dumps, ROWS)).encode()),
        ),
        ("a.json", json.dumps(ROWS, indent=1)),
        ("b.json", json.dumps({"data": ROWS})),
        ("a.tsv", TABLE),
        ("a.csv", TABLE.replace("\t", ",")),
        ("a.csv.gz", gzip.compress(TABLE.replace("\t", ";").encode())),
    ],
)
def test_the_texts_of_a_table_are_read(write, name, content):
    path = write(content, name)
    assert read_text_corpus(path) == (["a b", "c", "d"], ["e"], None)
    with pytest.raises(CorpusError, match="'body' among .* `text_column`"):
        read_text_corpus(path, text_column="body")


def test_the_texts_of_other_tables_are_read(write, tmp_path, capsys):
    expected = ["a b", "c", "d"], ["e"], None
    assert read_text_corpus(ROWS) == expected
    assert "text" in capsys.readouterr().err
    path = write("__label__x a b\n__label__x c\n__label__x d\n__label__y e\n")
    assert read_text_corpus(path, text_column="text") == expected
    path = write("a b,1\nc,2\nd,3\ne,4\n", "a.csv")
    assert read_text_corpus(path, text_column=1) == expected
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame(ROWS).to_parquet(tmp_path / "a.parquet")
    assert read_text_corpus(tmp_path / "a.parquet") == expected
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list(ROWS).save_to_disk(tmp_path / "set")
    assert read_text_corpus(tmp_path / "set", limit=1).train == ["a b"]


def test_rows_that_are_no_text_are_told(write):
    lines = '{"text": "a"}', '{"text": 3}', '{"txt": "c"}', '{"text": "b"}'
    path = write("\n".join(lines), "a.jsonl")
    message = r"2 malformed of 4 .*line 2 .not a te.*line 3 .empty lines"
    with pytest.warns(CorpusWarning, match=message):
        assert read_text_corpus(path) == (["a"], ["b"], None)
    with pytest.raises(CorpusError, match="no usable text.*not a text"):
        read_text_corpus(write('{"text": 3}\n', "a.jsonl"))


# Files of their own for validation and test.


def test_three_files(write):
    train = write(gzip.compress(b"one\ntwo\n\nthree\n"), "train.txt.gz")
    validation, test = write(b"four\n", "b"), write(b"five\nsix\n", "c")
    whole = ["one", "two", "three"]
    assert read_text_corpus(train, str(validation), test) == (
        whole,
        ["four"],
        ["five", "six"],
    )
    assert read_text_corpus(train, validation) == (whole, ["four"], None)
    assert read_text_corpus(train, test=test, limit=1) == (
        ["one"],
        ["three"],
        ["five"],
    )


def test_one_line_will_do_with_a_validation_file(write):
    train, validation = write(b"one\n", "a"), write(b"two\n", "b")
    assert read_text_corpus(train, validation) == (["one"], ["two"], None)


@pytest.mark.parametrize("part", ["validation", "test"])
def test_a_file_to_score_on_that_is_trained_on_is_told(write, part):
    train, half = write(b"one\ntwo\nthree\n", "a"), write(b"one\nsix\n", "b")
    read_text_corpus(train, **{part: half})
    most = write(b"one\ntwo\nsix\n", "c")
    with pytest.warns(CorpusWarning, match="2 of 3 lines of .*c are also"):
        read_text_corpus(train, **{part: most})


def test_a_part_that_is_missing_or_empty(write):
    train, empty = write(b"one\ntwo\n", "a"), write(b"\n", "b")
    with pytest.raises(CorpusError, match="b has no usable text"):
        read_text_corpus(train, test=empty)
    with pytest.raises(FileNotFoundError, match="'c' is missing"):
        read_text_corpus(train, validation=empty.with_name("c"))


def test_a_treebank_file_with_another_is_plain_text(write):
    train, validation = write(b"one\n", "ptb.train.txt"), write(b"two\n", "b")
    assert read_text_corpus(train, validation).train == ["one"]


def test_bad_limit(write):
    with pytest.raises(ValueError, match="`limit` must be.*limit=0"):
        read_text_corpus(write("one\ntwo"), limit=0)


def test_a_text_of_one_line_is_cut_into_lines_of_words(tmp_path, write):
    """As text8 is one line of 17 million words."""
    path = tmp_path / "text8"
    words = [f"word{n}" for n in range(2050)]
    path.write_text(" " + "  ".join(words))
    with pytest.warns(CorpusWarning, match="1 lines with text. .*21 lines of"):
        corpus = read_text_corpus(path)
    assert (len(corpus.train), len(corpus.validation)) == (19, 2)
    assert " ".join(corpus.train + corpus.validation).split() == words
    assert len(corpus.train[0].split()) == 100
    with pytest.warns(CorpusWarning, match="22 lines of 100 words"):
        path.write_text("\n".join(" ".join(words[n::2]) for n in (0, 1)))
        other = write(path.read_bytes().swapcase(), "other")
        assert len(read_text_corpus(path, validation=other).validation) == 22
    path.write_text("\n".join(words))
    assert len(read_text_corpus(path).train) == 1845


def test_markup_of_a_text_is_kept(tmp_path):
    lines = [
        "<li>First item</li>",
        "<title>AccessibleComputing</title>",
        "<string name='a'>Save</string>",
        "<sos>hello</sos>",
        "<p>A paragraph</p>",
        "<description>So</description>",
        "<a " + "=" * 40_000,
    ]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines))
    corpus = read_text_corpus(path)
    assert [*corpus.train, *corpus.validation] == lines
