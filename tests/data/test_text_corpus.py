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


HUNDRED = [f"line {n}" for n in range(100)]
READ = {
    **{
        f"a limit of {limit}": ("\n".join(HUNDRED), limit, parts)
        for limit, parts in {
            20: (HUNDRED[:20], HUNDRED[90:92]),
            5: (HUNDRED[:5], HUNDRED[90:91]),
            1000: (HUNDRED[:90], HUNDRED[90:]),
        }.items()
    },
    "blanks": (
        "\n  one \t\r\n \u00a0\n\u200b\n two  words\n\u2800\n",
        None,
        (["one"], ["two  words"]),
    ),
}


@pytest.mark.parametrize("name", READ)
def test_lines_are_read(write, name):
    text, limit, parts = READ[name]
    assert read_text_corpus(write(text), limit=limit) == (*parts, None)


REFUSED = {
    "nothing": ("a", b"\xef\xbb\xbf", "a has no usable text.*Received: ."),
    "blank": ("a", "\n \r\n\t\n", "no usable text.*all blank"),
    "a line": ("a", "\none two\n", "1 line of 2 words, in .*a$"),
    "no texts": ("a.jsonl", '{"text": 3}\n', "no usable text.*not a text"),
}


@pytest.mark.parametrize(
    "file, content, message", REFUSED.values(), ids=REFUSED
)
def test_what_is_no_text_is_refused(write, file, content, message):
    with pytest.raises(CorpusError, match=message):
        read_text_corpus(write(content, file))


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


# Files of their own for validation and test.


def test_three_files(write):
    whole = ["one", "two", "three"]
    train = write("one\ntwo\n\nthree\n", "train.txt.gz")
    validation, test = write("four\n", "b"), write("five\nsix\n", "c")
    parts = whole, ["four"], ["five", "six"]
    assert read_text_corpus(train, str(validation), test) == parts
    assert read_text_corpus(train, validation) == (*parts[:2], None)
    few = ["one"], ["three"], ["five"]
    assert read_text_corpus(train, test=test, limit=1) == few
    with pytest.raises(CorpusError, match="d has no usable text"):
        read_text_corpus(train, test=write("\n", "d"))
    with pytest.raises(FileNotFoundError, match="'e' is missing"):
        read_text_corpus(train, validation=train.with_name("e"))


@pytest.mark.parametrize("part", ["validation", "test"])
def test_a_file_to_score_on_that_is_trained_on_is_told(write, part):
    train, half = write(b"one\ntwo\nthree\n", "a"), write(b"one\nsix\n", "b")
    read_text_corpus(train, **{part: half})
    most = write(b"one\none\nsix\n", "c")
    with pytest.warns(CorpusWarning, match="2 of 3 lines of .*c are also"):
        read_text_corpus(train, **{part: most})


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
    path.write_text(" ".join(words[:1000]))
    with pytest.warns(CorpusWarning, match="10 lines of 100 words"):
        read_text_corpus(path)
    path.write_text("\n".join(words))
    assert len(read_text_corpus(path).train) == 1845


# Lengths.


def test_length_table():
    texts = ["the red  book", "hello", "a\tb c d e f g"]
    table = length_table(TextCorpus(texts, ["a book"], None))
    numbers = dict(lines=3, tokens=11, average=11 / 3, minimum=1, maximum=7)
    other = dict(lines=1, tokens=2, average=2.0, minimum=2, maximum=2)
    assert table == {"train": numbers, "validation": other}
    assert length_table(TextCorpus([], ["a book"], [])).keys() == {"validation"}


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
        (folder / name).write_bytes(b"\xef\xbb\xbf" + content)
    return folder


def write_archive(folder, root="./simple-examples", **changes):
    path = folder / "simple-examples.TGZ"
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


BAD = {
    "no train": (
        {"train": None},
        "'ptb.train.txt' and.*ly 'ptb.test.txt'. Received: '",
    ),
    "no validation": ({"valid": None}, r"Looked for: .*Received: '.*'$"),
    "nothing": (dict.fromkeys(("train", "valid", "test")), "none of them"),
    **{
        f"{types} types": (
            {"train": "\n".join(training_lines(types)).encode()},
            f"exactly 10,000 types.*: {types + 1:,} types, {types:,} words",
        )
        for types in (1, 9_998, 10_000)
    },
    "blank": ({"test": b" \n\n"}, r"ptb\.test\.txt is empty"),
    "Latin-1": ({"valid": b"caf\xe9 w1\n"}, "ptb.valid.*0xe9 in position 3"),
}


@both
@pytest.mark.parametrize("changes, message", BAD.values(), ids=BAD)
def test_parts_that_are_wrong(tmp_path, write_ptb, changes, message):
    with pytest.raises((CorpusError, FileNotFoundError), match=message):
        # Checked before it is cut.
        read_text_corpus(write_ptb(tmp_path, **changes), limit=2)


DAMAGE = {
    "cut": lambda content: content[: len(content) // 2],
    "flipped": lambda content: content[:999] + b"\0" + content[1000:],
    "checksum": lambda content: content[:-8] + b"\0\1\2\3" + content[-4:],
    "text": lambda content: b"<html>not found</html>",
    "empty": lambda content: b"",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_archive(tmp_path, damage):
    path = write_archive(tmp_path, "simple-examples")
    assert read_text_corpus(path) == PTB
    assert list(tmp_path.iterdir()) == [path]  # it is not extracted
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    message = "TGZ cannot be read. Expected: a whole tar archive.*Received: ."
    with pytest.raises(CorpusError, match=message):
        read_text_corpus(path)


@both
def test_test_part_may_be_missing(tmp_path, write_ptb):
    corpus = read_text_corpus(write_ptb(tmp_path, test=None))
    assert corpus == PTB._replace(test=None)
    limited = read_text_corpus(write_ptb(tmp_path, test=None), limit=30)
    assert limited == (PTB.train[:30], PTB.validation[:3], None)
