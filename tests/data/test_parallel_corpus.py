import functools
import itertools
import json
import os
import sys

import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import ParallelParts
from kerasrnn.data import add_synthetic
from kerasrnn.data import hold_out_pairs
from kerasrnn.data import mix_parts
from kerasrnn.data import read_parallel_parts
from kerasrnn.data.parallel_corpus import drop_long
from kerasrnn.data.parallel_corpus import drop_overlap
from kerasrnn.data.parallel_corpus import language_names
from kerasrnn.data.parallel_corpus import read_parallel_corpus
from kerasrnn.data.parallel_corpus import split_by_source
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.splits import source_key

HELLO = ("Hello!", "नमस्ते!")
KNOWS = ("who knows", "किसे पता")


def line(*columns):
    return "\t".join(columns) + "\n"


# Reading.


def test_a_pipe_can_be_read():
    """As a shell gives it: `--train <(head -1000 corpus.tsv)`."""
    out, into = os.pipe()
    os.write(into, line(*HELLO).encode())
    os.close(into)
    try:
        assert read_parallel_corpus(f"/dev/fd/{out}").pairs == [HELLO]
    finally:
        os.close(out)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n"])
@pytest.mark.parametrize("last_end", [True, False])
def test_byte_order_mark_and_line_ends(write, mark, end, last_end):
    text = mark + "\t".join(HELLO) + end + "\t".join(KNOWS)
    corpus = read_parallel_corpus(write(text + end * last_end))
    assert corpus == ([HELLO, KNOWS], [])


def test_one_warning_names_the_first_malformed_lines(write):
    path = write(line(*HELLO) + "bad\n" * 5)
    with pytest.warns(CorpusWarning) as record:
        read_parallel_corpus(path)
    reason = "no tab between columns"
    shown = ", ".join(f"line {number} ({reason})" for number in (2, 3, 4))
    assert [str(x.message) for x in record] == [
        f"5 malformed of 6 lines in the corpus {path} were left out: "
        f"{shown}, ..."
    ]


# Formats.


PAIRS = [("A house.", "Ein Haus."), ('The "sea", deep', "Das Meer")]
SWAPPED = [pair[::-1] for pair in PAIRS]
CSV = 'id,en,de\n1,A house.,Ein Haus.\n2,"The ""sea"", deep",Das Meer\n'
RECORDS = [
    {"id": n, "translation": {"en": en, "de": de}}
    for n, (en, de) in enumerate(PAIRS)
]


def corpus_of(write, files):
    """The path of a file, or of each of two."""
    paths = [write(content, name) for name, content in files.items()]
    return paths[0] if len(paths) == 1 else paths


LINES = line(*HELLO) + line(*KNOWS)
NESTED = "\n\n".join(map(json.dumps, RECORDS))
FLAT = "\n".join(
    json.dumps(x["translation"], ensure_ascii=False) for x in RECORDS
)
TWO = {
    "a.EN.GZ": "\ufeffa house\r\n\r\n the sea \r\n",
    "a.vi": "một ngôi nhà\n\nbiển\u2028cả",
}
VIETNAMESE = [("a house", "một ngôi nhà"), ("the sea", "biển\u2028cả")]
ODD = [(f"one{x}two", "z") for x in ("\x85", "\u2028", "\u2029", "\v", "\x1c")]
READ = {
    "attributions": (
        {"a": line(*HELLO, "CC-BY 2.0 #1 & #2") + line(*KNOWS, "x")},
        {},
        [HELLO, KNOWS],
    ),
    "no line ends": ({"a": "".join(line(*x) for x in ODD)}, {}, ODD),
    **{
        f"names in {name}": (
            {name: CSV.replace("\n", "\r\n")},
            {"source": "en", "target": "DE"},
            PAIRS,
        )
        for name in ("a.csv", "a.csv.gz", "A.CSV.GZ", "a.txt")
    },
    "a limit": (
        {"a.csv": f"\ufeff{CSV}"},
        {"source": "de", "target": "en", "limit": 1},
        SWAPPED[:1],
    ),
    "two columns": ({"a.csv": "en,de\n1,2"}, {}, [("1", "2")]),
    "usual names": ({"a.csv": "id,SRC,tgt\n1,2,3"}, {}, [("2", "3")]),
    "other order": ({"a.csv": "Target,source,x\n1,2,3"}, {}, [("2", "1")]),
    "a variety": (
        {"a.csv": "en-GB,end,de\n1,2,3"},
        {"source": "en", "target": "de"},
        [("1", "3")],
    ),
    "nested JSON": ({"a.json.gz": NESTED}, {}, PAIRS),
    "JSON": ({"a.ndjson": FLAT}, {"source": "de", "target": "en"}, SWAPPED),
    "two files": (TWO, {}, VIETNAMESE),
    "a limit of two files": (TWO, {"limit": 1}, VIETNAMESE[:1]),
    "a bad line after the limit": (
        {"a": b"1\n\xe9\n", "b": "x\ny\n"},
        {"limit": 1},
        [("1", "x")],
    ),
    "tabs, whatever the file names": (
        {"a": f"sep=;\n{LINES}"},
        {},
        [HELLO, KNOWS],
    ),
    "one line": ({"a": "\t".join(HELLO) + "\r"}, {}, [HELLO]),
    "ends of two files": (
        TWO,
        {"source": "vi", "target": "en"},
        [pair[::-1] for pair in VIETNAMESE],
    ),
    "ends that are numbers": (
        {"a.1": "one", "a.2": "two"},
        {"source": 2, "target": 1},
        [("two", "one")],
    ),
    "pairs beside targets": (
        {"a.tsv": "a house\tein Haus\n", "b.de": "ein Haus\n"},
        {},
        [("a house\tein Haus", "ein Haus")],
    ),
}


@pytest.mark.parametrize("name", READ)
def test_pairs_are_read(write, name):
    files, options, expected = READ[name]
    found = read_parallel_corpus(corpus_of(write, files), **options)
    assert found == (expected, [])


BAD_JSON = {
    "{": "invalid JSON",
    "[1]": "not a JSON object",
    '{"en": "a"}': "empty target",
    '{"en": 3, "de": "b"}': "not a text in 'source': 3",
    r'{"en": "a", "de": "\ud800"}': "a lone surrogate in 'target'",
    r'{"en": "a\u0000", "de": "b"}': "not text: a NUL byte at offset 1",
}
BAD_LINES = {
    b"no tab here": "no tab between columns",
    b"  \ttarget": "empty source",
    b"source\t \r": "empty target",
    "\u200b\ttarget".encode(): "empty source",
    b"source\t\tattribution": "3 columns instead of 2",
    b"\t": "empty source",
    b"a\tb\rc\td": "carriage return inside the line",
    b"caf\xe9\ttarget": "invalid UTF-8: byte 0xe9 at offset 3",
    b"source\t\xe0\xa4": "invalid UTF-8: byte 0xe0 at offset 7",
}
LEFT_OUT = {
    **{
        str(bad): (
            {"a": line(*HELLO).encode() + bad + b"\n" + line(*KNOWS).encode()},
            [HELLO, KNOWS],
            {2: reason},
        )
        for bad, reason in BAD_LINES.items()
    },
    "blank lines": (
        {"a": f"\n{line(*HELLO)}\r\n  \n\u00a0\nbad\n{line(*KNOWS)}"},
        [HELLO, KNOWS],
        {6: "no tab between columns"},
    ),
    "JSON": (
        {"a.jsonl": "\n".join(['{"en": "a", "de": "b"}', *BAD_JSON])},
        [("a", "b")],
        dict(enumerate(BAD_JSON.values(), start=2)),
    ),
    "CSV": (
        {"a.csv": b'en,de\na,b\n"two\nlines",c\nd\n,e\nf,\xe9\n"g,h\ni,j\n'},
        [("a", "b"), ("two\nlines", "c"), ('"g', "h"), ("i", "j")],
        {
            5: "1 columns instead of 2",
            6: "empty source",
            7: "invalid UTF-8: byte 0xe9 at offset 0",
        },
    ),
    "two files": (
        {"a": b"1\n\n3\ncaf\xe9\n5\nx\ry", "b": "x\ny\n\nz\nw\nu"},
        [("1", "x"), ("5", "w")],
        {
            2: "empty source",
            3: "empty target",
            4: "invalid UTF-8: byte 0xe9 at offset 3",
            6: "carriage return inside the line",
        },
    ),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_malformed_lines_are_recorded_and_reported(write, name):
    files, pairs, malformed = LEFT_OUT[name]
    path = corpus_of(write, files)
    with pytest.warns(CorpusWarning, match=f"{len(malformed)} malformed") as r:
        found = read_parallel_corpus(path)
    assert found == (pairs, list(malformed.items()))
    assert r[0].filename == __file__


def test_malformed_lines_before_a_limit_are_reported(write):
    files = {"a": b"\xe9\n1\n\xe9\n", "b": "x\ny\nz\n"}
    with pytest.warns(CorpusWarning, match="1 malformed of 3 lines"):
        found = read_parallel_corpus(corpus_of(write, files), limit=1)
    assert found.pairs == [("1", "y")]


XML = '<?xml version="1.0"?>\n<xliff>'
REFUSED = {
    "nothing": ({"a": ""}, {}, "Received: 0 lines$"),
    "blanks": ({"a": "\n \n\r\n"}, {}, "source TAB.* 3 lines, all blank$"),
    "no pair": ({"a": "\nbad\nworse\n"}, {}, r"3 lines, line 2 \(no tab"),
    "no names": ({"a.csv": CSV}, {}, r"'source' or 'src' am.*'id', 'en"),
    "two varieties": (
        {"a.csv": "en-GB,en-US,de\n1,2,3\n"},
        {"source": "en", "target": "de"},
        "'en' among the columns",
    ),
    "one name": ({"a.csv": CSV}, {"source": "en"}, "both or neither.*t=None"),
    "two files of pairs": (
        {"a.tsv": "a house\tein Haus\n\n", "b.tsv": "a house\tein Haus\n"},
        {},
        "Received: two files of pairs",
    ),
    "three files": (
        dict.fromkeys(("a.vi", "b.vi", "c.vi"), "c d\n"),
        {},
        "two files. Received: .*a.vi",
    ),
    "unequal files": (
        {"a.en": "1\n2\n3\n", "a.vi": "x\ny\n"},
        {"limit": 1},
        "a.en.*a.vi.*same number of lines.*3 and 2 lines",
    ),
    "an empty file": (
        {"a": "1\n", "b": "\ufeff"},
        {},
        "b has no usable sentence",
    ),
    "XLIFF": ({"a.xlf": XML}, {}, "is XML. .*extension .tmx"),
    "XLIFF beside text": ({"a.xlf": XML, "b": "x\n"}, {}, "is XML. .*ion .tmx"),
    "TMX": (
        {"a.xml": '\ufeff<tmx version="1.4">'},
        {},
        "is XML. .*extension .tmx",
    ),
    "WMT": (
        {"a.sgm": '<srcset a="b">\n<doc>\n<seg id="1">a</seg>'},
        {},
        "marked up",
    ),
    "TED": (
        {"a.tags": "<url>http://x</url>\n<talkid>1</talkid>\n"},
        {},
        "marked up",
    ),
}


@pytest.mark.parametrize(
    "files, options, message", REFUSED.values(), ids=REFUSED
)
def test_what_cannot_be_read_is_refused(write, files, options, message):
    with pytest.raises(ValueError, match=message):
        read_parallel_corpus(corpus_of(write, files), **options)


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


# Parts.


OLD = [(f"old {i}", f"alt {i}") for i in range(30)]
NEW = [(f"new {i}", f"neu {i}") for i in range(10)]


def save_pairs(path, pairs):
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
    return [path]


def test_a_tenth_is_held_out_at_most_and_one_at_least(tmp_path):
    train = save_pairs(tmp_path / "train.tsv", OLD)
    for size, seed, expected in ((2, 13, 2), (500, 13, 3), (500, 5, 3)):
        parts = read_parallel_parts(train, dev_size=size, seed=seed)
        assert (len(parts.dev), len(parts.test)) == (expected, 0)
        assert sorted(parts.train + parts.dev) == sorted(OLD)
    assert read_parallel_parts(train).dev != parts.dev
    few = read_parallel_parts(train, limit=4)
    assert len(few.dev) == 1 and sorted(few.train + few.dev) == OLD[:4]


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_what_is_held_out_or_tested_is_not_trained_on(tmp_path):
    parts = read_parallel_parts(
        save_pairs(tmp_path / "train.tsv", [(b, a) for a, b in OLD]),
        save_pairs(tmp_path / "dev.tsv", [("x", "OLD 1!")]),
        save_pairs(tmp_path / "test.tsv", [("y", "old 2")]),
        columns=(2, 1),
    )
    assert parts == (OLD[:1] + OLD[3:], [("OLD 1!", "x")], [("old 2", "y")])


@pytest.mark.parametrize("oversample, times", [(None, 3), (5, 5)])
def test_each_new_pair_weighs_more(oversample, times, capsys):
    old = ParallelParts(OLD[4:], OLD[:4], [])
    new = ParallelParts(NEW[1:], NEW[:1], NEW[:1])
    parts = mix_parts(new, old, oversample)
    assert sorted(parts.train) == sorted(old.train + times * new.train)
    assert sorted(parts.dev) == sorted(old.dev + new.dev)
    assert mix_parts(new, old, seed=1).dev != parts.dev
    assert parts.test == {"new": new.dev, "old": old.dev, "test": new.test}
    assert f"26 old pairs once, and 9 new pairs {times} times" in (
        capsys.readouterr().out
    )


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_what_either_holds_out_is_not_trained_on():
    old = ParallelParts([*OLD[1:], NEW[0]], OLD[:1], [])
    new = ParallelParts([*NEW[1:], OLD[0]], NEW[:1], [])
    parts = mix_parts(new, old, 1)
    assert sorted(parts.train) == sorted([*OLD[1:], *NEW[1:]])
    old = old._replace(train=[*old.train, ("test", "T")])
    tested = new._replace(test=[("test", "Y")])
    assert sorted(mix_parts(tested, old, 1).train) == sorted(parts.train)


@pytest.mark.filterwarnings("ignore:1 of 21 pairs.*targets are held out")
@pytest.mark.parametrize("oversample, times", [(None, 2), (1, 1)])
def test_synthetic_pairs_are_trained_on_beside_the_true(oversample, times):
    """But for those whose target is held out; they are not validated on."""
    synthetic = [("<BT> x", f"{i}") for i in range(20)]
    parts = ParallelParts(NEW[1:], NEW[:1], [("y", "z")])
    found = add_synthetic(parts, [*synthetic, ("w", "NEU 0!")], oversample)
    assert sorted(found.train) == sorted(synthetic + times * NEW[1:])
    assert found[1:] == parts[1:]


def test_alignments_are_of_what_is_trained_on(tmp_path):
    links = tmp_path / "links"
    links.write_text("".join(f"0-{i % 2}\n" for i in range(30)))
    train = save_pairs(tmp_path / "train.tsv", OLD)
    parts = read_parallel_parts(train, alignments=links)
    expected = {pair: f"0-{i % 2}" for i, pair in enumerate(OLD)}
    assert all(expected[a, b] == links for a, b, links in parts.train)
    assert set(parts.dev) < set(OLD)
    mixed = mix_parts(parts, ParallelParts(NEW, [], []), 1)
    assert {len(pair) for pair in mixed.train} == {2, 3}


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_what_is_tested_is_not_validated_on(tmp_path):
    train = save_pairs(tmp_path / "train.tsv", OLD)
    test = save_pairs(tmp_path / "test.tsv", OLD[:25])
    parts = read_parallel_parts(train, (), test)
    assert {*parts.train, *parts.dev} == {*OLD[25:]}


@pytest.mark.filterwarnings("ignore:.*are not trained on")
@pytest.mark.filterwarnings("ignore:.*are held out")
def test_named_tests_are_not_trained_on():
    tests = {"news": [("new 0", "neu 0")]}
    old = ParallelParts(OLD, [("x", "X")], tests)
    mixed = mix_parts(ParallelParts(NEW, [("y", "Y")], []), old)
    assert ("new 0", "neu 0") not in mixed.train
    assert mixed.test["news"] == tests["news"]
    tested = ParallelParts(NEW, [("y", "Y")], [("z", "Z")])
    found = mix_parts(tested, old._replace(test=[("v", "V")])).test
    assert (found["test"], found["old test"]) == ([("z", "Z")], [("v", "V")])
    more = [("<BT> a", "neu 0"), ("<BT> b", "neu 1")]
    assert more[0] not in add_synthetic(old, more).train


# Splits.


# Splitting.


def corpus_with_repeats(sources=200):
    """Pairs whose sources have 1, 2 or 3 spellings and translations."""
    spellings = ["Number {}!", "number {}", "NUMBER, {}."]
    return [
        (spellings[copy].format(n), f"संख्या {n} {copy}")
        for n in range(sources)
        for copy in range(1 + n % 3)
    ]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dev_size", [0, 1, 50, 300])
def test_split_is_a_disjoint_partition_of_the_exact_size(seed, dev_size):
    pairs = corpus_with_repeats()
    train, dev = split_by_source(pairs, dev_size, seed)
    assert len(dev) == dev_size
    assert sorted(train + dev) == sorted(pairs)
    sources = [
        {source_key(source) for source, _ in side} for side in (train, dev)
    ]
    assert sources[0].isdisjoint(sources[1])


def test_group_that_would_overshoot_goes_to_train():
    twins = [("Hello!", "नमस्ते"), ("hello", "नमस्कार")]
    for seed in range(5):
        train, dev = split_by_source([*twins, KNOWS], 1, seed)
        assert dev == [KNOWS]
        assert sorted(train) == sorted(twins)


def test_dev_is_the_smallest_group_if_none_fits():
    twins = [("b", "1"), ("B", "2")]
    pairs = [("a", "1"), ("A", "2"), ("a.", "3"), *twins]
    for seed in range(5):
        train, dev = split_by_source(pairs, 1, seed)
        assert sorted(train) == sorted(pairs[:3])
        assert sorted(dev) == sorted(twins)


TWINS = [("a", "1"), ("A", "2")]


def test_nothing_of_one_source_is_held_out():
    assert split_by_source(TWINS, 0, seed=0) == (TWINS, [])


def test_both_sides_are_shuffled_and_the_input_is_not():
    pairs = corpus_with_repeats()
    original = list(pairs)
    train, dev = split_by_source(pairs, 100, seed=13)
    assert pairs == original
    for side in (train, dev):
        assert side != sorted(side, key=pairs.index)
        # Nor do the pairs of a source stay neighbours.
        keys = [source_key(source) for source, _ in side]
        assert len([*itertools.groupby(keys)]) > len({*keys})


BAD_SIZE = "`dev_size` must be an integer >= 0.*={}$"
WRONG = {
    "one pair": (lambda: split_by_source(TWINS[:1], 1, 0), "Received: 1 rows"),
    "one source": (lambda: split_by_source(TWINS, 1, 0), "Received: 2 rows"),
    **{
        f"dev_size {x}": (
            functools.partial(split_by_source, [HELLO, KNOWS], x, 0),
            BAD_SIZE.format(x),
        )
        for x in (-1, 2, 0.5, True)
    },
    **{
        f"oversample {x}": (
            functools.partial(
                add_synthetic, ParallelParts([HELLO], [], []), [KNOWS], x
            ),
            f"oversample={x}",
        )
        for x in (-1, 0)
    },
    "no true pair": (
        lambda: add_synthetic(ParallelParts([], [], []), [KNOWS]),
        "true pairs.*none, and 1 synthetic",
    ),
    "all too long": (
        lambda: drop_long([("a", "b c"), ("a b c", "d")], 1),
        "left of 2.*most 1",
    ),
    "none": (lambda: drop_long([], 1), "left of 0.*most 1"),
}


@pytest.mark.parametrize("call, message", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Dropping an overlap.


def test_drop_overlap_compares_normalised_sources():
    more = [("HELLO", "हैलो"), ("jump", "उछलो"), ("Who knows?", "पता नहीं")]
    with pytest.warns(CorpusWarning, match="2 of 3 pairs are not trained on"):
        assert drop_overlap(more, [HELLO, KNOWS]) == [("jump", "उछलो")]
    assert drop_overlap(more, []) == more


def test_drop_overlap_by_own_key():
    more = [("HELLO", "हैलो"), ("Hello!", "नमस्कार")]
    with pytest.warns(CorpusWarning, match="1 of 2 pairs") as record:
        assert drop_overlap(more, [HELLO], key=str) == more[:1]
    assert record[0].filename == __file__


def test_long_pairs_are_dropped_by_either_side():
    pairs = [("a b", "x"), ("a", "x y z"), ("a b c", "x"), ("", "x y")]
    pairs[3] += ("0-0 0-1 1-0 1-1",)  # an alignment
    assert drop_long(pairs, most_words=2) == [pairs[0], pairs[3]]
    assert drop_long(pairs, most_words=3) == pairs
    assert drop_long(pairs, most_words=None) == pairs


@pytest.mark.parametrize(
    ("count", "dev_size", "expected"), [(40, 500, 4), (40, 3, 3), (5, 500, 1)]
)
def test_at_most_a_tenth_is_held_out(count, dev_size, expected):
    pairs = [(f"{number} apples", "x") for number in range(count)]
    train, dev = hold_out_pairs(pairs, dev_size, seed=13)
    assert len(dev) == expected
    assert sorted(train + dev) == sorted(pairs)
