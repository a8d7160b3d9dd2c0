import io
import json
import tarfile

import pytest

from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.text_corpus import TextCorpus
from kerasrnn.data.text_corpus import length_table
from kerasrnn.data.text_corpus import read_text_corpus
from kerasrnn.data.text_corpus import split_text_corpus


@pytest.mark.parametrize(
    ("count", "held_out"), [(2, 1), (19, 1), (20, 2), (105, 10)]
)
def test_last_tenth_is_for_validation(write, count, held_out):
    lines = [f"line {n}" for n in range(count)]
    corpus = read_text_corpus(write("\n".join(lines)))
    assert corpus == (lines[:-held_out], lines[-held_out:], None)
    assert split_text_corpus(lines) == corpus


def test_limit_of_one_file(write):
    lines = [f"line {n}" for n in range(100)]
    path = write("\n".join(lines))
    assert read_text_corpus(path, limit=20) == (lines[:20], lines[90:92], None)
    assert read_text_corpus(path, limit=5) == (lines[:5], lines[90:91], None)
    assert read_text_corpus(path, limit=1000) == (lines[:90], lines[90:], None)


def test_blank_lines_and_outer_white_space_are_dropped(write):
    path = write("\n  one \t\r\n \u00a0\n\u200b\n two  words\n\u2800\n")
    assert read_text_corpus(path) == (["one"], ["two  words"], None)


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


# Texts in the rows of a table.

ROWS = [{"id": 1, "text": "a b"}, {"id": 2, "text": "c\r\n\n d"}]
ROWS += [{"id": 3, "text": ""}, {"id": 4, "text": " "}, {"id": 5, "text": "e"}]
TABLE = "id\ttext\n1\ta b\n2\tc\n3\td\n4\t\n5\te\n"


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.jsonl", "\n".join(map(json.dumps, ROWS))),
        ("a.ndjson.gz", "\n".join(map(json.dumps, ROWS))),
        ("a.json", json.dumps(ROWS, indent=1)),
        ("b.json", json.dumps({"data": ROWS})),
        ("a.tsv", TABLE),
        ("a.csv", TABLE.replace("\t", ",")),
        ("a.csv.gz", TABLE.replace("\t", ";")),
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
    train = write(b"one\ntwo\n\nthree\n", "train.txt.gz")
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


# Lengths.


def test_length_table():
    corpus = TextCorpus(
        ["the red  book", "hello", "a\tb c d e f g"], ["a book"], ["a"]
    )
    table = length_table(corpus)
    assert list(table) == ["train", "validation", "test"]
    assert table["train"] == {
        "lines": 3,
        "tokens": 11,
        "average": pytest.approx(11 / 3),
        "minimum": 1,
        "maximum": 7,
    }
    numbers = [tuple(part.values()) for part in table.values()]
    assert numbers[1:] == [(1, 2, 2.0, 2, 2), (1, 1, 1.0, 1, 1)]
    types = {type(number) for row in numbers for number in row}
    assert types == {int, float}


# The Penn Treebank.


TRAIN, VALIDATION, TEST = "ptb.train.txt", "ptb.valid.txt", "ptb.test.txt"


def training_lines(types=9_999, width=100):
    words = [f"w{n}" for n in range(types)]
    return [" ".join(words[n : n + width]) for n in range(0, types, width)]


PTB = TextCorpus(
    training_lines(),
    [f"w{n} w1" for n in range(30)],
    [f"w{n} w2" for n in range(20)],
)


def contents(**changes):
    """Mikolov's files by name, as he spaces them; `None` leaves one out."""
    parts = {
        name: "".join(f" {line} \n" for line in lines).encode()
        for name, lines in zip((TRAIN, VALIDATION, TEST), PTB, strict=True)
    }
    for name, content in changes.items():
        parts[f"ptb.{name}.txt"] = content
    return {name: text for name, text in parts.items() if text is not None}


def write_folder(folder, **changes):
    for name, content in contents(**changes).items():
        (folder / name).write_bytes(content)
    return folder


def write_archive(folder, root="./simple-examples", **changes):
    path = folder / "simple-examples.tgz"
    decoys = {"data/README": b"\xff", "models/ptb.train.txt": b"no data"}
    files = {f"data/{n}": text for n, text in contents(**changes).items()}
    with tarfile.open(path, "w:gz") as archive:
        for name in (root, f"{root}/data"):
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE
            archive.addfile(member)
        for name, content in {**files, **decoys}.items():
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


WRITERS = [write_folder, write_archive]
both = pytest.mark.parametrize(
    "write_ptb", WRITERS, ids=lambda writer: writer.__name__
)


@both
def test_three_parts(tmp_path, write_ptb):
    corpus = read_text_corpus(write_ptb(tmp_path))
    assert isinstance(corpus, TextCorpus)
    assert corpus == PTB


@pytest.mark.parametrize("root", ["simple-examples", "./simple-examples"])
def test_archive_is_not_extracted(tmp_path, root):
    path = write_archive(tmp_path, root)
    assert read_text_corpus(path) == PTB
    assert list(tmp_path.iterdir()) == [path]


@both
def test_test_part_may_be_missing(tmp_path, write_ptb):
    corpus = read_text_corpus(write_ptb(tmp_path, test=None))
    assert corpus == PTB._replace(test=None)
    limited = read_text_corpus(write_ptb(tmp_path, test=None), limit=30)
    assert limited == (PTB.train[:30], PTB.validation[:3], None)


@both
@pytest.mark.parametrize("part", ["train", "valid"])
def test_other_parts_may_not(tmp_path, write_ptb, part):
    path = write_ptb(tmp_path, **{part: None})
    with pytest.raises(FileNotFoundError) as error:
        read_text_corpus(path)
    message = str(error.value)
    assert str(path) in message
    others = {TRAIN, VALIDATION, TEST} - {f"ptb.{part}.txt"}
    received = message.partition("Received: ")[2]
    assert set(received.split(", ")) == {repr(name) for name in others}
    assert f"'ptb.{part}.txt'" in message


@both
@pytest.mark.parametrize("types", [1, 9_998, 10_000])
def test_not_ten_thousand_types(tmp_path, write_ptb, types):
    train = "\n".join(training_lines(types)).encode()
    path = write_ptb(tmp_path, train=train)
    for limit in (None, 2):  # checked before it is cut
        with pytest.raises(CorpusError) as error:
            read_text_corpus(path, limit=limit)
        message = str(error.value)
        assert TRAIN in message and "exactly 10,000 types" in message
        found = f"Received: {types + 1:,} types, {types:,} words"
        assert found in message


@both
@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_empty_part(tmp_path, write_ptb, part):
    path = write_ptb(tmp_path, **{part: b" \n\n"})
    with pytest.raises(CorpusError, match=rf"ptb\.{part}\.txt is empty"):
        read_text_corpus(path)


@both
def test_part_that_is_not_utf8(tmp_path, write_ptb):
    path = write_ptb(tmp_path, valid=b"caf\xe9 w1\n")
    with pytest.raises(CorpusError, match="0xe9 in position 3") as error:
        read_text_corpus(path)
    assert VALIDATION in str(error.value)


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "empty"])
def test_damaged_archive(tmp_path, damage):
    path = write_archive(tmp_path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    elif damage == "text":
        content = b"<html>not found</html>"
    else:
        content = b""
    path.write_bytes(content)
    with pytest.raises(
        CorpusError, match="a whole tar archive.*Received: ."
    ) as e:
        read_text_corpus(path)
    assert str(path) in str(e.value)
    assert e.value.__cause__ is not None
