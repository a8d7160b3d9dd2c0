"""The formats of `read_parallel_corpus` other than `source TAB target`."""

import gzip
import json
import sys

import pytest

from kerasrnn.data.parallel_corpus import language_names
from kerasrnn.data.parallel_corpus import read_parallel_corpus
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning

PAIRS = [("A house.", "Ein Haus."), ('The "sea", deep', "Das Meer")]
SWAPPED = [pair[::-1] for pair in PAIRS]
CSV = 'id,en,de\n1,A house.,Ein Haus.\n2,"The ""sea"", deep",Das Meer\n'
RECORDS = [
    {"id": n, "translation": {"en": en, "de": de}}
    for n, (en, de) in enumerate(PAIRS)
]


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes to a file, compressed if its name says so."""

    def write(name, content):
        if isinstance(content, str):
            content = content.encode()
        path = tmp_path / name
        path.write_bytes(
            gzip.compress(content) if name.lower().endswith(".gz") else content
        )
        return path

    return write


# Named columns.


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "A.CSV.GZ", "a.txt"])
def test_named_columns(write, name, mark):
    path = write(name, mark + CSV.replace("\n", "\r\n"))
    assert read_parallel_corpus(path, "en", "DE") == (PAIRS, [])
    assert read_parallel_corpus(path, "de", "en", limit=1).pairs == SWAPPED[:1]


@pytest.mark.parametrize("between", ["\t", ";"])
def test_delimiters(write, between):
    path = write("a.csv", f'en{between}de\n"a, b; c"{between}d\n')
    assert read_parallel_corpus(path).pairs == [("a, b; c", "d")]


@pytest.mark.parametrize(
    "header, pair",
    [
        ("en,de", ("1", "2")),
        ("source,target,id", ("1", "2")),
        ("id,SRC,tgt", ("2", "3")),
        ("Target,source,x", ("2", "1")),
    ],
)
def test_columns_that_need_no_names(write, header, pair):
    row = "1,2,3"[: 2 * header.count(",") + 1]
    path = write("a.csv", f"{header}\n{row}\n")
    assert read_parallel_corpus(path).pairs == [pair]


def test_columns_that_tell_nothing(write):
    with pytest.raises(CorpusError, match=r"two columns.*\['id', 'en', 'de'\]"):
        read_parallel_corpus(write("a.csv", CSV))


def test_a_missing_column(write):
    with pytest.raises(CorpusError, match="Expected: 'fr' among.*'id'"):
        read_parallel_corpus(write("a.csv", CSV), "en", "fr")


def test_one_name_is_not_enough(write):
    with pytest.raises(ValueError, match="both or neither.*target=None"):
        read_parallel_corpus(write("a.csv", CSV), "en")


def test_bad_rows_keep_their_line_numbers(write):
    rows = b'en,de\na,b\n"two\nlines",c\nd\n,e\nf,\xe9\n"g,h\ni,j\n'
    with pytest.warns(CorpusWarning, match="3 malformed of 9 lines") as record:
        corpus = read_parallel_corpus(write("a.csv", rows))
    assert corpus.pairs == [
        ("a", "b"),
        ("two\nlines", "c"),
        ('"g', "h"),
        ("i", "j"),
    ]
    assert corpus.malformed == [
        (5, "1 columns instead of 2"),
        (6, "empty source"),
        (7, "invalid UTF-8: byte 0xe9 at offset 0"),
    ]
    assert record[0].filename == __file__


def test_empty_lines_before_the_header(write):
    path = write("a.csv", "\n \nen,de\na,b\n\nc\n")
    with pytest.warns(CorpusWarning, match=r"line 6 \(1 columns instead of 2"):
        assert read_parallel_corpus(path).pairs == [("a", "b")]


def test_two_columns_of_one_name(write):
    path = write("a.csv", "text,text\na,b\n")
    with pytest.raises(CorpusError, match="different names.*'text', 'text'"):
        read_parallel_corpus(path, "text", "text")


# Columns by number.


def test_columns_by_number(write):
    path = write("a.tsv.gz", "1\tA house.\tEin Haus.\n2\ta\n3\n\n4\tb\tc\n")
    with pytest.warns(CorpusWarning, match="line 2 .2 columns i.*line 3 .no t"):
        corpus = read_parallel_corpus(path, source="3", target=2)
    assert corpus.pairs == [SWAPPED[0], ("c", "b")]


# JSON lines.


@pytest.mark.parametrize("name", ["a.jsonl", "a.json.gz", "a.ndjson"])
@pytest.mark.parametrize("nested", [False, True])
def test_json_lines(write, name, nested):
    records = RECORDS if nested else [r["translation"] for r in RECORDS]
    lines = [json.dumps(r, ensure_ascii=nested) for r in records]
    path = write(name, "\n\n".join(lines))
    assert read_parallel_corpus(path) == (PAIRS, [])
    assert read_parallel_corpus(path, "de", "en").pairs == SWAPPED


def test_bad_json_lines(write):
    bad = {
        "{": "invalid JSON",
        "[1]": "not a JSON object",
        '{"en": "a"}': "empty target",
        '{"en": 3, "de": "b"}': "not a text in 'source': 3",
        r'{"en": "a", "de": "\ud800"}': "a lone surrogate in 'target'",
        r'{"en": "a\u0000", "de": "b"}': "not text: a NUL byte at offset 1",
    }
    path = write("a.jsonl", "\n".join(['{"en": "a", "de": "b"}', *bad]))
    with pytest.warns(CorpusWarning, match="6 malformed of 7 lines"):
        corpus = read_parallel_corpus(path)
    assert corpus.pairs == [("a", "b")]
    assert corpus.malformed == list(enumerate(bad.values(), start=2))


def test_the_first_of_json_lines_may_lack_a_side(write):
    path = write("a.jsonl", '{"en": "a"}\n{"en": "b", "de": "c"}\n')
    with pytest.warns(CorpusWarning, match="line 1 .empty target"):
        assert read_parallel_corpus(path).pairs == [("b", "c")]


def test_json_without_an_object(write):
    with pytest.raises(CorpusError, match=r"2 lines, line 1 \(not a JSON obj"):
        read_parallel_corpus(write("a.json", "[1]\n[2]\n"))


# Two files.


def test_two_files(write):
    paths = (
        write("a.en.gz", "\ufeffa house\r\n\r\n the sea \r\n"),
        write("a.vi", "một ngôi nhà\n\nbiển\u2028cả"),
    )
    pairs = [("a house", "một ngôi nhà"), ("the sea", "biển\u2028cả")]
    assert read_parallel_corpus(paths) == (pairs, [])
    assert read_parallel_corpus(paths, limit=1).pairs == pairs[:1]
    swapped = read_parallel_corpus(list(paths), source="vi", target="en")
    assert swapped.pairs == [pair[::-1] for pair in pairs]


def test_languages_that_no_file_ends_in(write):
    paths = write("a.en", "a\n"), write("a.vi", "b\n")
    with pytest.raises(
        CorpusError, match=r"'fr' among.*Received: \['en', 'vi'\]"
    ):
        read_parallel_corpus(paths, source="fr", target="en")


def test_two_files_of_pairs(write):
    paths = [write(name, "a house\tein Haus\n") for name in ("a.tsv", "b.tsv")]
    with pytest.raises(CorpusError, match="Received: two files of pairs"):
        read_parallel_corpus(paths)
    one = paths[0], write("b.de", "ein Haus\n")
    pairs = [("a house\tein Haus", "ein Haus")]
    assert read_parallel_corpus(one).pairs == pairs


@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_two_files(write, count):
    path = write("train.vi", "c d\n")
    with pytest.raises(CorpusError, match="two files. Received: .*train.vi"):
        read_parallel_corpus([path] * count)


def test_unequal_numbers_of_lines_are_an_error(write):
    paths = write("a.en", "1\n2\n3\n"), write("a.vi", "x\ny\n")
    for limit in (None, 1):
        with pytest.raises(
            CorpusError, match="a.en.*a.vi.*as many lines.*3 and 2 lines"
        ):
            read_parallel_corpus(paths, limit=limit)


def test_bad_lines_of_a_file_are_dropped_with_their_translations(write):
    paths = write("a", b"1\n\n3\ncaf\xe9\n5"), write("b", "x\ny\n\nz\nw")
    with pytest.warns(
        CorpusWarning, match=r"3 malformed of 5 .*line 2 \(empty source\)"
    ):
        corpus = read_parallel_corpus(paths)
    assert corpus.pairs == [("1", "x"), ("5", "w")]
    assert dict(corpus.malformed) == {
        2: "empty source",
        3: "empty target",
        4: "invalid UTF-8: byte 0xe9 at offset 3",
    }


@pytest.mark.parametrize("content", ["", "\ufeff", "\n\n"])
def test_an_empty_file_is_named(write, content):
    paths = write("a", "1\n"), write("b", content)
    with pytest.raises(CorpusError, match="b has no usable sentence"):
        read_parallel_corpus(paths)


def test_nothing_but_empty_sides(write):
    paths = write("a", "1\n\n"), write("b", "\ny\n")
    with pytest.raises(CorpusError, match="2 lines, line 1 .empty target"):
        read_parallel_corpus(paths)


def test_a_missing_file(write, tmp_path):
    with pytest.raises(FileNotFoundError, match="'none.vi' is missing"):
        read_parallel_corpus((write("a", "1\n"), tmp_path / "none.vi"))


# Binary formats.


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(RECORDS), path)
    assert read_parallel_corpus(path) == (PAIRS, [])
    assert read_parallel_corpus(path, "de", "en", limit=1).pairs == SWAPPED[:1]
    rows = [{"en": "a", "de": None}, {"en": "a", "de": "b"}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    with pytest.warns(CorpusWarning, match=r"1 malformed of 2 rows.*row 1 \(e"):
        assert read_parallel_corpus(path).pairs == [("a", "b")]
    path.write_bytes(b"PAR1 no PAR1")
    with pytest.raises(CorpusError, match="a.parquet cannot be read"):
        read_parallel_corpus(path)


def test_a_data_set_on_disk(tmp_path):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list(RECORDS)
    datasets.DatasetDict({"train": data}).save_to_disk(str(tmp_path / "a"))
    assert read_parallel_corpus(tmp_path / "a" / "train") == (PAIRS, [])
    with pytest.raises(CorpusError, match="several parts.*train.*a folder w"):
        read_parallel_corpus(tmp_path / "a", "en", "de")


def test_a_library_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = tmp_path / "a.parquet"
    path.write_bytes(b"")
    with pytest.raises(ImportError, match=r"'pyarrow'.*kerasrnn\[datasets\]"):
        read_parallel_corpus(path)


def test_the_ends_of_two_files_may_be_numbers(write):
    paths = write("a.1", "one"), write("a.2", "two")
    assert read_parallel_corpus(paths, 2, 1).pairs == [("two", "one")]


def test_a_carriage_return_inside_a_line_of_two_files_is_malformed(write):
    paths = write("a.en", "x\ry\nz\n"), write("a.de", "u\nv\n")
    with pytest.warns(CorpusWarning, match="carriage return inside the line"):
        assert read_parallel_corpus(paths).pairs == [("z", "v")]


@pytest.mark.parametrize(
    ("train", "source", "target", "names"),
    [
        (["pairs.csv"], "German", "en", ["German", "en"]),
        (["a.de.gz", "a.en.gz"], None, None, ["de", "en"]),
        (["a.txt", "b.txt"], None, None, []),
        (["pairs.tsv"], None, None, []),
        (["pairs.tsv"], "2", "1", []),
    ],
)
def test_columns_and_ends_name_the_languages(train, source, target, names):
    assert language_names(train, source, target) == names


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("a.xlf", '<?xml version="1.0"?>\n<xliff>', "is XML. .*extension .tmx"),
        ("a.xml", '\ufeff<tmx version="1.4">', "is XML. .*extension .tmx"),
        ("a.sgm", '<srcset a="b">\n<doc>\n<seg id="1">a</seg>', "marked up"),
        ("a.tags", "<url>http://x</url>\n<talkid>1</talkid>\n", "marked up"),
    ],
)
def test_formats_with_markup_are_named(write, name, text, message):
    path = write(name, text)
    for source in (path, (path, write("b.de", "x\n"))):
        with pytest.raises(CorpusError, match=message):
            read_parallel_corpus(source)


def test_many_comments_take_no_long_time(write):
    path = write("a.txt", "<!-- a -->\n" * 99 + "<!--\tb\n")
    with pytest.raises(CorpusError, match="left out: 99 of 100 lines"):
        read_parallel_corpus(path)
