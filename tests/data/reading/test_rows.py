import json
import time

import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import Rows
from kerasrnn.data import read_labelled_corpus
from kerasrnn.data import read_parallel_corpus
from kerasrnn.data import read_rows
from kerasrnn.data import read_tagged_words

RECORDS = [
    {"text": "so good", "label": "fine", "by": 1, "w": 0.5},
    {"text": "so bad", "label": "poor", "by": 2, "w": 2},
]
COLUMNS = {"text": "text", "label": "label", "group": "by", "weight": "w"}
EXPECTED = {
    "text": ["so good", "so bad"],
    "label": ["fine", "poor"],
    "group": ["1", "2"],
    "weight": [0.5, 2.0],
}
TMX = """<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="en-GB"><seg>A <bpt i="1">&lt;b&gt;</bpt>red<ept i="1">x</ept>
<it>y</it><ph>z</ph> book</seg></tuv>
<tuv xml:lang="de"><seg>Ein Buch</seg></tuv></tu>
<tu><tuv xml:lang="en-GB"><seg>A house</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>Haus</seg></tuv>
<tuv xml:lang="en-GB"><seg>House</seg></tuv></tu></body></tmx>"""


def as_text(between, header=True):
    rows = [RECORDS[0], *(row.values() for row in RECORDS)][1 - header :]
    return "\n".join(between.join(map(str, row)) for row in rows)


def test_columns_of_every_kind(write):
    rows = read_rows(write(json.dumps(RECORDS, indent=2), "a.json"), **COLUMNS)
    assert rows.columns == EXPECTED and rows.report.malformed == []
    assert len(rows) == 2 and rows.select([1])["group"] == ["2"]
    assert len(Rows({"text": ["a"]}).select([])) == 0
    odd = {"w": "inf"}, {"by": "NaN"}
    odd = [{"text": "x"}, *RECORDS, *(RECORDS[0] | cell for cell in odd)]
    with pytest.warns(CorpusWarning, match="a number in 'w.*5 .empty group"):
        assert read_rows(odd, **COLUMNS).columns == EXPECTED


@pytest.mark.parametrize("indent", [None, 2])
def test_the_only_array_of_an_object_is_read(write, indent):
    whole = {"version": "1", "Text": RECORDS, "sources": ["a"], "more": []}
    path = write(json.dumps(whole, indent=indent), "a.json")
    assert read_rows(path, **COLUMNS).columns == EXPECTED
    first, second = map(json.dumps, RECORDS)
    path = write(f'{{"data": [\n{first},\n{second}\n]}}', "a.json")
    assert read_rows(path, **COLUMNS).columns == EXPECTED
    path = write(f"{first}\n{second}", "a.json")
    assert read_rows(path, **COLUMNS).columns == EXPECTED
    path = write(f"{first[:9]}\n{first}\n{second}", "a.json")
    with pytest.warns(CorpusWarning, match="line 1 .invalid JSON"):
        assert read_rows(path, **COLUMNS).columns == EXPECTED


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("record", ["{%s}", "{\n%s\n}"])
def test_a_record_with_a_list_of_objects_is_one_row(write, name, record):
    path = write(record % '"Text": "a", "spans": [{"start": 0}]', name)
    assert read_rows(path, text=None)["text"] == ["a"]


@pytest.mark.parametrize("between", [",", "\t", ";"])
def test_a_table_without_a_header(write, between):
    path = write(as_text(between, header=False))
    rows = read_rows(path, text=1, label="2", group=3, weight=4, limit=1)
    assert rows.columns == {name: x[:1] for name, x in EXPECTED.items()}
    corpus = read_labelled_corpus(path, "1", 2)
    assert corpus.train == (EXPECTED["text"], [0, 1])


def test_sources_in_memory(tmp_path):
    assert read_rows(tuple(RECORDS), **COLUMNS).columns == EXPECTED
    pandas = pytest.importorskip("pandas")
    datasets = pytest.importorskip("datasets")
    frame = pandas.DataFrame([list(row.values()) for row in RECORDS])
    numbers = dict(zip(COLUMNS, range(4), strict=True))
    assert read_rows(frame, **numbers).columns == EXPECTED
    frame = pandas.DataFrame([*RECORDS, {"text": "no label"}])
    with pytest.warns(CorpusWarning, match="row 3 .empty label"):
        rows = read_rows(frame, text=None, label=None)
    assert rows["label"] == ["fine", "poor"]
    data = datasets.Dataset.from_list(RECORDS)
    for made in (data, data.with_format("pandas"), data.with_format("numpy")):
        assert read_rows(made, **COLUMNS).columns == EXPECTED
    assert read_labelled_corpus(data).train.labels == [0, 1]
    with pytest.raises(CorpusError, match=r"corpus\['train'\].*of 'train'"):
        read_rows(datasets.DatasetDict(train=data), text=None)


def test_a_data_set_of_the_hub_has_the_names_of_its_classes(tmp_path):
    """Also beside structures with fields that are called as a feature's are."""
    datasets = pytest.importorskip("datasets")
    names = datasets.ClassLabel(names=["poor", "fine"])
    features = {"text": datasets.Value("string"), "label": names}
    features["tags"] = datasets.List(names)
    features["nested"] = datasets.List(datasets.List(names))
    field = dict.fromkeys(("names", "feature", "_type"), features["text"])
    features |= {"facts": field, "many": datasets.List(field)}
    facts = dict.fromkeys(field, "a fact")
    columns = {"text": ["a", "b"], "label": [1, 0], "tags": [[0, 1], [1]]}
    columns["nested"] = [[[0], [1]], []]
    columns |= {"facts": [facts] * 2, "many": [[facts], []]}
    features = datasets.Features(features)
    data = datasets.Dataset.from_dict(columns, features=features)
    data.to_parquet(tmp_path / "a.parquet")
    for source in (data, tmp_path / "a.parquet"):
        rows = read_rows(source, text=None, label=None, tags=None)
        assert rows["label"] == ["fine", "poor"]
        assert rows["tags"] == [["poor", "fine"], ["fine"]]


def test_a_translation_memory(write):
    path = write(TMX, "a.tmx.gz")
    with pytest.warns(CorpusWarning, match="row 2 .empty target"):
        pairs = read_parallel_corpus(path, "en", "de").pairs
    assert pairs == [("A red\n book", "Ein Buch"), ("House", "Haus")]
    spaced = TMX.replace("<tmx", '<tmx xmlns="http://www.lisa.org/tmx14"')
    wide = spaced.replace('"1.0"', '"1.0" encoding="utf-16"', 1)
    path = write(wide.encode("utf-16"), "wide.tmx")
    with pytest.warns(CorpusWarning, match="row 2 .empty target"):
        assert read_parallel_corpus(path, "en", "de").pairs == pairs


def test_marks_in_a_segment_may_be_deeply_nested(write):
    marks = "<hi>" * 3000, "</hi>" * 3000
    path = write(TMX.replace("House", "{}House{}".format(*marks)), "a.tmx")
    with pytest.warns(CorpusWarning, match="row 2 .empty target"):
        pairs = read_parallel_corpus(path, "en", "de").pairs
    assert pairs[1] == ("House", "Haus")


def test_each_segment_of_a_translation_memory_is_read(write):
    unit = (
        '<tu><tuv xml:lang="EN-gb"><seg>one</seg></tuv>'
        '<tuv xml:lang="en-GB"><seg>a</seg></tuv>'
        '<tuv lang="de"><seg>eins</seg></tuv>'
        '<tuv xml:lang="de"><seg>einer</seg></tuv>'
        '<tuv xml:lang="de"><seg>eines</seg></tuv></tu></body>'
    )
    path = write(TMX.replace("</body>", unit), "a.tmx")
    with pytest.warns(CorpusWarning, match="row 2 .empty target"):
        pairs = read_parallel_corpus(path, "en", "de").pairs
    assert pairs[-3:] == [("one", "eins"), ("a", "einer"), ("one", "eines")]


def test_a_limit_reads_no_further(write):
    """The form of the tags is told from the first 1,000 sentences."""
    path = write("a\tB-X\n\n" * 1000 + "bad\n")
    rows = read_rows(path, limit=3, tokens=None, tags=None)
    assert len(rows) == 3
    with pytest.raises(CorpusError, match="^Line 2001 "):
        read_rows(path, tokens=None, tags=None)


# Messages about what was read.


def test_what_was_read_is_said(write, capsys):
    read_parallel_corpus(write("red book\trotes Buch\nhouse\tHaus\n"))
    assert capsys.readouterr().err.endswith(
        "first:\n  source (column '1'): 'red book'\n"
        "  target (column '2'): 'rotes Buch'\n"
    )
    read_tagged_words(write("red ADJ\nbook N\n"))
    assert capsys.readouterr().err.endswith(
        "tokens (column '1'): ['red', 'book']\n"
        "  tags (column '2'): ['ADJ', 'N']\n"
    )


def test_a_side_of_numbers_is_warned_of(write):
    rows = "".join(f"{n}\tword {n}\tWort\n" for n in range(9))
    path = write(f"No.\ten\ttext 2\n{rows}")
    with pytest.warns(
        CorpusWarning, match="source, column '1', is all numbers"
    ):
        read_parallel_corpus(path)
    assert len(read_parallel_corpus(path, 2, 3).pairs) == 10


@pytest.mark.parametrize("header", ["en\tde", "Source\tTarget"])
def test_a_header_that_is_read_as_a_row_is_warned_of(write, header):
    path = write(f"{header}\nred book\trotes Buch\n")
    with pytest.warns(CorpusWarning, match="first row, .*looks like a header"):
        assert len(read_parallel_corpus(path).pairs) == 2


@pytest.mark.parametrize("most", [1, 4])
def test_another_encoding_is_an_error_that_names_it(write, most):
    """A few broken lines are left out; not nine tenths of a file."""
    lines = [f"d'où vient {n}\t{n}" for n in range(100 if most > 1 else 1)]
    content = "\n".join(lines).encode("latin-1")
    content += "\n".join(f"it {n}\t{n}" for n in range(99)).encode()
    path = write(b"text\tlabel\n" + content)
    if most == 1:
        with pytest.warns(CorpusWarning, match="1 malformed of 100 lines"):
            assert len(read_rows(path, text=None, label=None)) == 98
        return
    for read in (
        lambda: read_rows(path, text=None, label=None),
        lambda: read_parallel_corpus(path),
        lambda: read_labelled_corpus(path),
    ):
        with pytest.raises(CorpusError, match="00 of .*iconv -f ISO-8859-1 -t"):
            read()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda write: read_rows([{"a": "b"}]),
            ValueError,
            "Name the columns .*Received: none",
        ),
        (lambda write: read_rows(3, text=None), CorpusError, "Received: int"),
        *(
            (
                lambda write, between=between: read_labelled_corpus(
                    write(as_text(between, header=False))
                ),
                CorpusError,
                "without a header, numbers from 1",
            )
            for between in (",", "\t", ";")
        ),
        *(
            (
                lambda write, name=name, content=content: read_rows(
                    write(content, name), text=None, label=None
                ),
                CorpusError,
                message,
            )
            for name, content, message in [
                ("a.json", '[{"text": "a"}, {"tex', "damaged JSON, or"),
                ("a.tmx", "<tmx>", "the format TMX. .*no element found"),
                (
                    "a.tmx",
                    TMX.replace('"1.0"', '"1.0" encoding="ebcdic"', 1),
                    "the format TMX. .*unknown encod",
                ),
                ("a.json", '{\n"text": "a"\n', "damaged JSON, or"),
                (
                    "a.json",
                    '{\n"a": 1\n}\n{\n"a": 2\n}',
                    "span several lines.*Extra data",
                ),
                (
                    "a.json",
                    b'[\n{"text":\n"\xe9"}\n]',
                    "not text.*line 3 .invalid UTF",
                ),
                ("a.csv", "text,label\n,x\n", "no usable row.*empty text"),
                (
                    "a.csv",
                    "a,a\n1,2\n",
                    "distinct names; for a file without a header",
                ),
                ("a.csv", "", "is empty. .*Received: 0 lines"),
                ("a.csv", "sep=;\n\n", "lacks a column|is empty"),
                ("a.json", "[]", "is empty. .*Received: 0 rows"),
                (
                    "a.jsonl",
                    '{"text": "a", "label": {"b": 1}}',
                    "not a label: {'b': 1}",
                ),
                (
                    "a.csv",
                    "te\0xt,label\na,b\n",
                    "of the columns .*Expected: UTF-8. R",
                ),
                (
                    "a.csv",
                    '{"text": "a"}\n',
                    "is JSON. Expected: .* extension .jsonl",
                ),
                (
                    "a.jsonl",
                    '{"text": "a", "label": [["b"]]}',
                    r"not a label: \['b'\]",
                ),
            ]
        ),
    ],
)
def test_sources_that_cannot_be_read(write, call, error, message):
    with pytest.raises(error, match=message):
        call(write)


@pytest.mark.parametrize(
    "name, good, bad, read",
    [
        ("a.csv", "so good,fine", "so bad,", read_labelled_corpus),
        ("a.csv", "so good,fine", "so, bad,poor", read_rows),
        ("a.tsv", "so good\tfein", "so bad", read_parallel_corpus),
        (
            "a.jsonl",
            '{"tokens": ["a"], "tags": ["X"]}',
            '{"tokens": ["a"]}',
            read_tagged_words,
        ),
    ],
)
def test_a_corpus_may_not_be_left_out_for_the_most(
    write, name, good, bad, read
):
    """Some rows of a form that is not understood may be read by chance."""
    columns = {"text": None, "label": None} if read is read_rows else {}
    header = ["text,label"] * name.endswith("csv")
    fine = [good, good.replace("fine", "poor")] * 5

    def lines(count):
        return write("\n".join([*header, *fine, *[bad] * count]), name)

    with pytest.warns(CorpusWarning, match="10 malformed of 2"):
        read(lines(10), **columns)
    with pytest.raises(CorpusError, match="out: 12 of .* half.*: line 1[12] "):
        read(lines(12), **columns)


def test_columns_of_one_name_are_refused(tmp_path):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    frame = pandas.DataFrame([["a", "b"]], columns=["text", "text"])
    path = tmp_path / "a.parquet"
    table = pyarrow.table([["a"], ["b"]], names=["text", "text"])
    parquet.write_table(table, path)
    for source in (frame, path):
        with pytest.raises(CorpusError, match="names. Received: 'text', 'te"):
            read_rows(source, text=None)


def test_damage_inside_of_a_parquet_file_is_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path, table = tmp_path / "a.parquet", pyarrow.table({"text": ["so good"]})
    options = {"compression": "none", "use_dictionary": False}
    options["write_statistics"] = False
    parquet.write_table(table, path, **options)
    content = path.read_bytes()
    assert content.count(b"so good") == 1
    path.write_bytes(content.replace(b"so good", b"so g\xffod"))
    with pytest.raises(CorpusError, match="a whole parquet file. .*UTF"):
        read_rows(path, text=None)
    parquet.write_table(table, path, write_page_checksum=True, **options)
    path.write_bytes(path.read_bytes().replace(b"so good", b"so food", 1))
    with pytest.raises(CorpusError, match="a whole parquet file. .*CRC"):
        read_rows(path, text=None)


def test_many_columns_take_no_long_time(write):
    names = ["text", "label", *(f"column {n}" for n in range(100_000))]
    path = write("\n".join([",".join(names), "a,b" + ",1" * 100_000]))
    start = time.process_time()
    rows = read_rows(path, text=None, labels=names[2:4000])
    assert rows["labels"] == [names[2:4000]]
    assert time.process_time() - start < 10
