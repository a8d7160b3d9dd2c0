"""Every row of the guides' tables of what can be read is tried.

The names here are those of the rows, in short; they may be worded otherwise.
"""

import gzip
import json
import pathlib
import re

import pandas
import pytest

from kerasrnn.data import read_labelled_corpus
from kerasrnn.data import read_parallel_corpus
from kerasrnn.data import read_rows
from kerasrnn.data import read_series
from kerasrnn.data import read_tagged_words

datasets = pytest.importorskip("datasets")
GUIDES = pathlib.Path(__file__).parents[2] / "docs" / "guides"
HEADINGS = "your pairs", "format", "labels", "you have"  # of the tables

PAIRS = [("Haus", "house"), ("die See", "sea")]
RECORDS = [dict(zip(("de", "en"), pair, strict=True)) for pair in PAIRS]
TMX = "".join(
    f'<tu><tuv xml:lang="de"><seg>{de}</seg></tuv>'
    f'<tuv xml:lang="en"><seg>{en}</seg></tuv></tu>'
    for de, en in PAIRS
)
TMX = f'<?xml version="1.0"?><tmx version="1.4"><body>{TMX}</body></tmx>'
TABLE = "de\ten\nHaus\thouse\ndie See\tsea\n"


def pairs(name, *columns):
    return lambda folder: read_parallel_corpus(folder / name, *columns).pairs


def rows(name, **columns):
    """The rows of a file, or of each of several; they are equal."""
    names = [name] if isinstance(name, str) else name

    def read(folder):
        found = [read_rows(folder / x, **columns).columns for x in names]
        assert found == found[:1] * len(found)
        return list(zip(*found[0].values(), strict=True))

    return read


BOTH = {"de": None, "en": None}
TEXTS = [("so good", "fine"), ("bad", "poor")]
LABELLED = {"text": None, "label": None}
WORDS = [[("Anna", "B-PER"), ("sings", "O")], [("Bonn", "B-LOC")]]
CONLL = "Anna NNP B-PER\nsings VBZ O\n\nBonn NNP B-LOC\n"
KAGGLE = "Sentence #,Word,Tag\n1,Anna,B-PER\n,sings,O\n2,Bonn,B-LOC\n"
SPANS = [
    {"text": "Anna sings", "spans": [[0, 4, "PER"]]},
    {"text": "Bonn", "spans": [{"start": 0, "end": 4, "label": "LOC"}]},
]
SPACY = [(x["text"], {"entities": [x["spans"][0]]}) for x in SPANS]
LISTS = [
    {"tokens": words, "ner_tags": tags}
    for words, tags in (zip(*sentence, strict=True) for sentence in WORDS)
]


def lines(records):
    return "\n".join(map(json.dumps, records))


def tags(*names, **options):
    def read(folder):
        found = [read_tagged_words(folder / x, **options) for x in names]
        assert found == found[:1] * len(found)
        return found[0]

    return read


LABELS = ["noise", "price"], [(0, 1), (), (1,)]


def several(name, **options):
    def read(folder):
        options_ = {"multi_label": True, **options}
        corpus = read_labelled_corpus(folder / name, **options_)
        return corpus.label_names, corpus.train.labels

    return read


FIRST = "2024-05-01T00:00"


def series(text, time="date", **options):
    """What a table is read as: the first time, the step, and the values."""
    text = "\n".join(text.split("|"))

    def read(folder):
        (folder / "a.csv").write_text(text)
        found = read_series(folder / "a.csv", time, **options)
        (one, *_) = found.series
        values = [x.values[:, 0].tolist() for x in found.series]
        return str(one.times[0])[:16], found.step, found.columns, values

    return {}, read


def expected(step, *values, first=FIRST, columns=("load",)):
    return first, step, [*columns], list(values)


LOADS = [
    {"date": "2024-05-01 00:00", "load": 1},
    {"date": "2024-05-01 01:00", "load": 2},
]
MORE = "date,load,price,size|2024-05-01,1,8,5|2024-05-02,2,9,5|2024-05-03,,7,5"
TRIED = {
    "own_text.md": {
        "TSV **without** a header, source first": (
            {"a.tsv": TABLE.partition("\n")[2]},
            pairs("a.tsv"),
            PAIRS,
        ),
        "the same, target first": (
            {"a.tsv": TABLE.partition("\n")[2]},
            pairs("a.tsv", 2, 1),
            [pair[::-1] for pair in PAIRS],
        ),
        "TSV or CSV **with** a header, JSON lines or a JSON array": (
            {
                "a.tsv": TABLE,
                "a.csv": TABLE.replace("\t", ","),
                "a.jsonl": lines(RECORDS),
                "a.json": json.dumps(RECORDS),
            },
            rows(["a.tsv", "a.csv", "a.jsonl", "a.json"], **BOTH),
            PAIRS,
        ),
        "CSV without a header": (
            {"a.csv": "Haus,house\ndie See,sea"},
            pairs("a.csv", 1, 2),
            PAIRS,
        ),
        "a translation memory, `.tmx`": (
            {"a.tmx": TMX},
            pairs("a.tmx", "de", "en"),
            PAIRS,
        ),
        "a folder of files of one format, read one after another": (
            {"a/1.tsv": "Haus\thouse\n", "a/2.tsv": "die See\tsea\n"},
            pairs("a"),
            PAIRS,
        ),
        "two files, line by line": (
            {"a.de": "Haus\ndie See\n", "a.en.gz": "house\nsea\n"},
            lambda folder: [
                *read_parallel_corpus(
                    [folder / "a.de", folder / "a.en.gz"], "de", "en"
                ).pairs
            ],
            PAIRS,
        ),
        "CSV, TSV, also with semicolons or vertical bars": (
            {
                **{"a.csv": TABLE.replace("\t", ","), "a.tsv": TABLE},
                **{"b.csv": TABLE.replace("\t", ";")},
                **{"c.csv.gz": TABLE.replace("\t", "|")},
            },
            rows(["a.csv", "a.tsv", "b.csv", "c.csv.gz"], **BOTH),
            PAIRS,
        ),
        "JSON lines, one JSON array, also as the only one in an object": (
            {
                **{"a.jsonl": lines(RECORDS), "b.ndjson": lines(RECORDS)},
                **{"c.json": lines(RECORDS), "d.json": json.dumps(RECORDS)},
                "e.json": json.dumps({"version": 1, "data": RECORDS}),
            },
            rows(["a.jsonl", "b.ndjson", "c.json", "d.json", "e.json"], **BOTH),
            PAIRS,
        ),
        "Parquet": (
            {"a.parquet": pandas.DataFrame(RECORDS).to_parquet},
            rows("a.parquet", **BOTH),
            PAIRS,
        ),
        "TMX, a translation memory": (
            {"a.tmx": TMX},
            rows("a.tmx", **BOTH),
            PAIRS,
        ),
        "fastText, lines of `__label__NAME text` (labels anywhere)": (
            {"a.txt": "__label__fine so good\n__label__poor bad\n"},
            rows("a.txt", **LABELLED),
            TEXTS,
        ),
        "a word in each line": (
            {"a.conll": CONLL, "b.txt": f"-DOCSTART- -X- O\n\n{CONLL}"},
            rows(["a.conll", "b.txt"], tokens=None, tags=2),
            [(["Anna", "sings"], ["NNP", "VBZ"]), (["Bonn"], ["NNP"])],
        ),
        "a text with the spans of its names, or a word in each row": (
            {"a.jsonl": lines(SPANS)},
            rows("a.jsonl", tokens=None, tags=None),
            [tuple(map(list, zip(*x, strict=True))) for x in WORDS],
        ),
        "a folder with a folder of `.txt` files for each class": (
            {"a/fine/1.txt": "so good", "a/poor/1.txt": "bad"},
            rows("a", **LABELLED),
            TEXTS,
        ),
        "a folder that Hugging Face `datasets` saved": (
            {"a": datasets.Dataset.from_list(RECORDS).save_to_disk},
            rows("a", **BOTH),
            PAIRS,
        ),
        "in Python": (
            {},
            lambda _: [
                read_rows(source, **BOTH).columns
                for source in (
                    datasets.Dataset.from_list(RECORDS),
                    pandas.DataFrame(RECORDS),
                    RECORDS,
                )
            ],
            3 * [{"de": ["Haus", "die See"], "en": ["house", "sea"]}],
        ),
    },
    "own_labels.md": {
        "a list": (
            {"a.txt": "__label__noise __label__price a\nb\n__label__price c"},
            several("a.txt", label_column="label"),
            LABELS,
        ),
        "a cell with a separator, `noise; price`": (
            {"a.tsv": "text\tlabel\na\tnoise; price\nb\t\nc\tprice"},
            several("a.tsv", label_separator=";"),
            LABELS,
        ),
        "a column of 0 and 1 for each label": (
            {"a.csv": "text,noise,price\na,1,1\nb,0,0\nc,0,1"},
            several("a.csv", label_column=["noise", "price"]),
            LABELS,
        ),
    },
    "tags.md": {
        "CoNLL-2003, CoNLL-2000: columns separated by blanks": (
            {"a.conll": CONLL},
            tags("a.conll"),
            WORDS,
        ),
        "word TAB tag": (
            {"a.tsv": "Anna\tB-PER\nsings\tO\n\nBonn\tB-LOC\n"},
            tags("a.tsv"),
            WORDS,
        ),
        "tag TAB word": (
            {"a.tsv": "B-PER\tAnna\nO\tsings\n\nB-LOC\tBonn\n"},
            tags("a.tsv"),
            WORDS,
        ),
        "columns in another order": (
            {"a.txt": "B-PER X Anna\nO X sings\n\nB-LOC X Bonn\n"},
            tags("a.txt"),
            WORDS,
        ),
        "CoNLL-U, CoNLL-U Plus": (
            {
                "a.conllu": "1\tAnna" + 7 * "\t_" + "\tname=B-PER\n"
                "2\tsings" + 7 * "\t_" + "\tSpaceAfter=No\n\n"
                "1\tBonn" + 7 * "\t_" + "\tname=B-LOC\n",
                "b.conllup": "# global.columns = ID FORM NAME\n1\tAnna\tB-PER\n"
                "2\tsings\tO\n\n1\tBonn\tB-LOC\n",
            },
            tags("a.conllu", "b.conllup", tag="name"),
            WORDS,
        ),
        "numbered words, as GermEval": (
            {"a.tsv": "1\tAnna\tB-PER\tO\n2\tsings\tO\tO\n\n1\tBonn\tB-LOC\tX"},
            tags("a.tsv"),
            WORDS,
        ),
        "CSV with a word in each row, `Sentence #,Word,POS,Tag`": (
            {"a.csv": KAGGLE},
            tags("a.csv", sentence="Sentence #"),
            WORDS,
        ),
        "JSON with a text and spans": (
            {"a.jsonl": lines(SPANS)},
            tags("a.jsonl"),
            WORDS,
        ),
        "spaCy": ({"b.json": json.dumps(SPACY)}, tags("b.json"), WORDS),
        "JSON lines, parquet": (
            {
                "a.jsonl": lines(LISTS),
                "b.parquet": pandas.DataFrame(LISTS).to_parquet,
            },
            tags("a.jsonl", "b.parquet"),
            WORDS,
        ),
    },
    "series.md": {
        "CSV, TSV, parquet or JSON lines with a column of times": (
            {
                "a.csv": "date,load\n2024-05-01 00:00,1\n2024-05-01 01:00,2",
                "b.tsv": "date\tload\n2024-05-01 00:00\t1\n2024-05-01 01:00\t2",
                "c.parquet": pandas.DataFrame(LOADS).to_parquet,
                "d.jsonl": lines(LOADS),
            },
            lambda folder: {
                read_series(path, "date", step="h").fingerprint()
                for path in folder.iterdir()
            },
            {read_series(LOADS, "date", step="h").fingerprint()},
        ),
        "dates such as 01.05.2024": (
            *series(
                "date,load|01.05.2024,1|02.05.2024,2|03.05.2024,3",
                time_format="%d.%m.%Y",
            ),
            expected("D", [1, 2, 3]),
        ),
        "years of two digits": (
            *series(
                "date,load|01.05.24,1|02.05.24,2|03.05.24,3",
                time_format="%d.%m.%y",
            ),
            expected("D", [1, 2, 3]),
        ),
        "months such as 202405": (
            *series("date,load|202405,1|202406,2|202407,3", time_format="%Y%m"),
            expected("MS", [1, 2, 3]),
        ),
        "dates and hours in separate columns": (
            *series(
                "Date,Time,load|01/05/2024,00:00,1|31/05/2024,00:00,2",
                ["Date", "Time"],
                step="30D",
            ),
            expected("30D", [1, 2]),
        ),
        "columns year, month, day, hour, minute or second": (
            *series(
                "hour,month,day,year,load|0,5,1,2024,1|1,5,1,2024,2",
                ["year", "month", "day", "hour"],
                step="h",
            ),
            expected("h", [1, 2]),
        ),
        "the same with other names": (
            *series(
                "yr,mnth,dy,hr,load|2024,5,1,0,1|2024,5,1,1,2",
                ["yr", "mnth", "dy", "hr"],
                time_format="%Y %m %d %H",
                step="h",
            ),
            expected("h", [1, 2]),
        ),
        "numbers that count from 1970, such as 1714521600": (
            *series(
                "date,load|1714521600,1|1714525200,2", time_format="s", step="h"
            ),
            expected("h", [1, 2]),
        ),
        "numbers such as 1,5": (
            *series(
                "date;load|2024-05-01;1,5|2024-05-02;2", decimal=",", step="D"
            ),
            expected("D", [1.5, 2]),
        ),
        "more columns than are to be forecast": (
            *series(MORE, columns=["price"]),
            expected("D", [8, 9, 7], columns=["price"]),
        ),
        "several series, one below the other": (
            *series(
                "date,shop,item,load|2024-05-01,a,x,1|2024-05-01,a,y,2",
                key=["shop", "item"],
                step="D",
            ),
            expected("D", [1], [2]),
        ),
        "columns known ahead: prices, holidays": (
            *series(MORE, columns=["size"], known=["price"]),
            expected("D", [5, 5, 5], columns=["size"]),
        ),
        "a daily, weekly or yearly rhythm": (
            *series(MORE, columns=["size"], calendar=["weekday"]),
            expected("D", [5, 5, 5], columns=["size"]),
        ),
        "numbers that describe a whole series": (
            *series(MORE, columns=["price"], static=["size"]),
            expected("D", [8, 9, 7], columns=["price"]),
        ),
        "irregular times": (
            *series(
                "date,load|2024-05-01 00:00,1|2024-05-01 00:07,3|"
                "2024-05-01 00:15,5|2024-05-01 00:29,7",
                step="15min",
                resample="mean",
            ),
            expected("15min", [2, 6]),
        ),
    },
}


@pytest.mark.parametrize("page", TRIED)
def test_every_row_is_tried(page):
    found, is_wanted = [], False
    for line in (GUIDES / page).read_text("utf-8").splitlines():
        first = (
            re.split(r"(?<!\\)\|", line)[1].strip() if line[:1] == "|" else ""
        )
        is_wanted = first in HEADINGS or is_wanted and bool(first)
        found += [first] * is_wanted
    found = [x for x in found if x not in HEADINGS and not set(x) <= {"-"}]
    assert len({*found}) == len(TRIED[page]), found


@pytest.mark.filterwarnings("ignore:.*column does not seem to have")
@pytest.mark.parametrize(
    "page, row", [(page, row) for page in TRIED for row in TRIED[page]]
)
def test_what_a_guide_says_is_read(page, row, tmp_path):
    files, read, result = TRIED[page][row]
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        elif name.endswith(".gz"):
            path.write_bytes(gzip.compress(content.encode()))
        else:
            path.write_text(content)
    assert read(tmp_path) == result
