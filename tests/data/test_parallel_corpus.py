import itertools
import json
import os
import random
import sys

import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import ParallelParts
from kerasrnn.data import add_synthetic
from kerasrnn.data import mix_parts
from kerasrnn.data import read_parallel_parts
from kerasrnn.data.parallel_corpus import drop_long
from kerasrnn.data.parallel_corpus import drop_overlap
from kerasrnn.data.parallel_corpus import hold_out_pairs
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
    assert corpus.pairs == [HELLO, KNOWS]
    assert corpus.malformed == []


def test_attribution_columns_are_ignored(write):
    text = line(*HELLO, "CC-BY 2.0 #1 & #2") + line(*KNOWS, "x")
    assert read_parallel_corpus(write(text)) == ([HELLO, KNOWS], [])


def test_blank_lines_are_skipped_but_counted(write):
    text = "\n" + line(*HELLO) + "\r\n  \n\u00a0\n" + "bad\n" + line(*KNOWS)
    with pytest.warns(CorpusWarning, match="line 6"):
        corpus = read_parallel_corpus(write(text))
    assert corpus.pairs == [HELLO, KNOWS]
    assert [number for number, _ in corpus.malformed] == [6]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"no tab here\n", "no tab between columns"),
        (b"\ttarget\n", "empty source"),
        (b"  \ttarget\n", "empty source"),
        (b"source\t\n", "empty target"),
        (b"source\t \r\n", "empty target"),
        ("\u200b\ttarget\n".encode(), "empty source"),
        (b"source\t\tattribution\n", "3 columns instead of 2"),
        (b"\t\n", "empty source"),
        (b"a\tb\rc\td\n", "carriage return"),
        (b"caf\xe9\ttarget\n", "invalid UTF-8: byte 0xe9 at offset 3"),
        (b"source\t\xe0\xa4\n", "invalid UTF-8: byte 0xe0 at offset 7"),
    ],
)
def test_malformed_line_is_recorded_and_reported(write, bad, reason):
    before, after = (line(*pair).encode() for pair in (HELLO, KNOWS))
    path = write(before + bad + after)
    with pytest.warns(CorpusWarning, match=f"(?s)1 malformed.*{reason}"):
        corpus = read_parallel_corpus(path)
    assert corpus.pairs == [HELLO, KNOWS]
    [(number, recorded)] = corpus.malformed
    assert number == 2
    assert reason in recorded


def test_one_warning_names_the_first_malformed_lines(write):
    path = write(line(*HELLO) + "bad\n" * 5)
    with pytest.warns(CorpusWarning) as record:
        corpus = read_parallel_corpus(path)
    assert [number for number, _ in corpus.malformed] == [2, 3, 4, 5, 6]
    assert len(record) == 1
    message = str(record[0].message)
    assert "5 malformed of 6 lines" in message
    assert str(path) in message
    assert "line 4 (no tab between columns), ..." in message
    assert "line 5" not in message
    assert record[0].filename == __file__


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029", "\v", "\x1c"])
def test_only_a_line_feed_ends_a_line(write, odd):
    pair = (f"one{odd}two", f"एक{odd}दो")
    corpus = read_parallel_corpus(write(line(*pair) + line(*HELLO)))
    assert corpus == ([pair, HELLO], [])


def test_limit_keeps_the_first_usable_pairs(write):
    path = write("\nbad\n" + line(*HELLO) + line(*KNOWS) + "worse\n")
    with pytest.warns(CorpusWarning, match="line 2"):
        corpus = read_parallel_corpus(path, limit=1)
    assert corpus.pairs == [HELLO]
    assert [number for number, _ in corpus.malformed] == [2]


@pytest.mark.parametrize(
    ("content", "received"),
    [
        (b"", "Received: 0 lines$"),
        (b"\xef\xbb\xbf", "1 lines, all blank$"),
        (b"\n \n\r\n", "3 lines, all blank$"),
        (b"\nbad\nworse\n", r"3 lines, line 2 \(no tab"),
    ],
)
def test_no_usable_line(write, content, received):
    path = write(content)
    with pytest.raises(CorpusError, match=received) as error:
        read_parallel_corpus(path)
    assert str(path) in str(error.value)
    assert "source TAB target" in str(error.value)
    assert isinstance(error.value, ValueError)


# Formats.


PAIRS = [("A house.", "Ein Haus."), ('The "sea", deep', "Das Meer")]
SWAPPED = [pair[::-1] for pair in PAIRS]
CSV = 'id,en,de\n1,A house.,Ein Haus.\n2,"The ""sea"", deep",Das Meer\n'
RECORDS = [
    {"id": n, "translation": {"en": en, "de": de}}
    for n, (en, de) in enumerate(PAIRS)
]


# Named columns.


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "A.CSV.GZ", "a.txt"])
def test_named_columns(write, name, mark):
    path = write(mark + CSV.replace("\n", "\r\n"), name)
    assert read_parallel_corpus(path, "en", "DE") == (PAIRS, [])
    assert read_parallel_corpus(path, "de", "en", limit=1).pairs == SWAPPED[:1]


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
    path = write(f"{header}\n{row}\n", "a.csv")
    assert read_parallel_corpus(path).pairs == [pair]


def test_columns_that_tell_nothing(write):
    with pytest.raises(CorpusError, match=r"'source' or 'src' am.*'id', 'en"):
        read_parallel_corpus(write(CSV, "a.csv"))


def test_one_name_is_not_enough(write):
    with pytest.raises(ValueError, match="both or neither.*target=None"):
        read_parallel_corpus(write(CSV, "a.csv"), "en")


def test_bad_rows_keep_their_line_numbers(write):
    rows = b'en,de\na,b\n"two\nlines",c\nd\n,e\nf,\xe9\n"g,h\ni,j\n'
    with pytest.warns(CorpusWarning, match="3 malformed of 9 lines") as record:
        corpus = read_parallel_corpus(write(rows, "a.csv"))
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


# Columns by number.


def test_columns_by_number(write):
    path = write("1\tA house.\tEin Haus.\n2\ta\n3\n\n4\tb\tc\n", "a.tsv.gz")
    with pytest.warns(CorpusWarning, match="line 2 .2 columns i.*line 3 .no t"):
        corpus = read_parallel_corpus(path, source="3", target=2)
    assert corpus.pairs == [SWAPPED[0], ("c", "b")]


# JSON lines.


@pytest.mark.parametrize("name", ["a.jsonl", "a.json.gz", "a.ndjson"])
@pytest.mark.parametrize("nested", [False, True])
def test_json_lines(write, name, nested):
    records = RECORDS if nested else [r["translation"] for r in RECORDS]
    lines = [json.dumps(r, ensure_ascii=nested) for r in records]
    path = write("\n\n".join(lines), name)
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
    path = write("\n".join(['{"en": "a", "de": "b"}', *bad]), "a.jsonl")
    with pytest.warns(CorpusWarning, match="6 malformed of 7 lines"):
        corpus = read_parallel_corpus(path)
    assert corpus.pairs == [("a", "b")]
    assert corpus.malformed == list(enumerate(bad.values(), start=2))


# Two files.


def test_two_files(write):
    paths = (
        write("\ufeffa house\r\n\r\n the sea \r\n", "a.en.gz"),
        write("một ngôi nhà\n\nbiển\u2028cả", "a.vi"),
    )
    pairs = [("a house", "một ngôi nhà"), ("the sea", "biển\u2028cả")]
    assert read_parallel_corpus(paths) == (pairs, [])
    assert read_parallel_corpus(paths, limit=1).pairs == pairs[:1]
    swapped = read_parallel_corpus(list(paths), source="vi", target="en")
    assert swapped.pairs == [pair[::-1] for pair in pairs]


def test_two_files_of_pairs(write):
    paths = [write("a house\tein Haus\n", name) for name in ("a.tsv", "b.tsv")]
    with pytest.raises(CorpusError, match="Received: two files of pairs"):
        read_parallel_corpus(paths)
    one = paths[0], write("ein Haus\n", "b.de")
    pairs = [("a house\tein Haus", "ein Haus")]
    assert read_parallel_corpus(one).pairs == pairs


@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_two_files(write, count):
    path = write("c d\n", "train.vi")
    with pytest.raises(CorpusError, match="two files. Received: .*train.vi"):
        read_parallel_corpus([path] * count)


def test_unequal_numbers_of_lines_are_an_error(write):
    paths = (
        write("1\n2\n3\n", "a.en"),
        write("x\ny\n", "a.vi"),
    )
    for limit in (None, 1):
        with pytest.raises(
            CorpusError, match="a.en.*a.vi.*as many lines.*3 and 2 lines"
        ):
            read_parallel_corpus(paths, limit=limit)


def test_bad_lines_of_a_file_are_dropped_with_their_translations(write):
    paths = (
        write(b"1\n\n3\ncaf\xe9\n5", "a"),
        write("x\ny\n\nz\nw", "b"),
    )
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
    paths = (
        write("1\n", "a"),
        write(content, "b"),
    )
    with pytest.raises(CorpusError, match="b has no usable sentence"):
        read_parallel_corpus(paths)


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
    paths = (
        write("one", "a.1"),
        write("two", "a.2"),
    )
    assert read_parallel_corpus(paths, 2, 1).pairs == [("two", "one")]


def test_a_carriage_return_inside_a_line_of_two_files_is_malformed(write):
    paths = (
        write("x\ry\nz\n", "a.en"),
        write("u\nv\n", "a.de"),
    )
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
    path = write(text, name)
    for source in (path, (path, write("x\n", "b.de"))):
        with pytest.raises(CorpusError, match=message):
            read_parallel_corpus(source)


# Parts.


OLD = [(f"old {i}", f"alt {i}") for i in range(30)]
NEW = [(f"new {i}", f"neu {i}") for i in range(10)]


def save_pairs(path, pairs):
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
    return [path]


def test_a_tenth_is_held_out_at_most_and_one_at_least(tmp_path):
    train = save_pairs(tmp_path / "train.tsv", OLD)
    for size, expected in ((2, 2), (500, 3)):
        parts = read_parallel_parts(train, dev_size=size)
        assert (len(parts.dev), len(parts.test)) == (expected, 0)
        assert sorted(parts.train + parts.dev) == sorted(OLD)
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
    old = ParallelParts(OLD[3:], OLD[:3], [])
    new = ParallelParts(NEW[1:], NEW[:1], NEW[:1])
    parts = mix_parts(new, old, oversample)
    assert sorted(parts.train) == sorted(old.train + times * new.train)
    assert sorted(parts.dev) == sorted(old.dev + new.dev)
    assert parts.test == {"new": new.dev, "old": old.dev, "test": new.test}
    assert f"27 old pairs once, and 9 new pairs {times} times" in (
        capsys.readouterr().out
    )


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_what_either_holds_out_is_not_trained_on():
    old = ParallelParts([*OLD[1:], NEW[0]], OLD[:1], [])
    new = ParallelParts([*NEW[1:], OLD[0]], NEW[:1], [])
    parts = mix_parts(new, old, 1)
    assert sorted(parts.train) == sorted([*OLD[1:], *NEW[1:]])


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


@pytest.mark.parametrize("oversample", [-1, 0])
def test_pairs_occur_at_least_once(oversample):
    parts = ParallelParts([("a", "A")], [], [])
    with pytest.raises(ValueError, match=f"oversample={oversample}"):
        add_synthetic(parts, [("x", "X")], oversample)


def test_there_must_be_true_pairs():
    with pytest.raises(CorpusError, match="true pairs.*none, and 1 synthetic"):
        add_synthetic(ParallelParts([], [], []), [("x", "X")])


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


@pytest.mark.parametrize("pairs", [[("a", "1")], [("a", "1"), ("A", "2")]])
def test_one_source_cannot_be_split(pairs):
    with pytest.raises(CorpusError, match=f"Received: {len(pairs)} rows"):
        split_by_source(pairs, 1, seed=0)
    assert split_by_source(pairs, 0, seed=0) == (pairs, [])


def test_split_depends_on_the_seed_only():
    pairs = corpus_with_repeats()
    random.seed(1)
    first = split_by_source(pairs, 50, seed=13)
    random.seed(2)
    assert split_by_source(pairs, 50, seed=13) == first
    assert split_by_source(pairs, 50, seed=14) != first


def test_both_sides_are_shuffled_and_the_input_is_not():
    pairs = corpus_with_repeats()
    original = list(pairs)
    train, dev = split_by_source(pairs, 100, seed=13)
    assert pairs == original
    for side in (train, dev):
        assert side != sorted(side, key=pairs.index)
        # Nor do the pairs of a source stay neighbours.
        runs = itertools.groupby(side, key=lambda pair: source_key(pair[0]))
        sources = {source_key(source) for source, _ in side}
        assert len(list(runs)) > len(sources)


@pytest.mark.parametrize("dev_size", [-1, 2, 0.5, True])
def test_bad_dev_size(dev_size):
    with pytest.raises(ValueError, match="`dev_size` must be an integer >= 0"):
        split_by_source([HELLO, KNOWS], dev_size, seed=0)


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
    assert drop_long(pairs, most_words=2) == [pairs[0], pairs[3]]
    assert drop_long(pairs, most_words=3) == pairs
    assert drop_long(pairs, most_words=None) == pairs
    for given in (pairs[1:3], []):
        with pytest.raises(CorpusError, match=f"left of {len(given)}.*most 1"):
            drop_long(given, most_words=1)


@pytest.mark.parametrize(
    ("count", "dev_size", "expected"), [(40, 500, 4), (40, 3, 3), (5, 500, 1)]
)
def test_at_most_a_tenth_is_held_out(count, dev_size, expected):
    pairs = [(f"{number} apples", "x") for number in range(count)]
    train, dev = hold_out_pairs(pairs, dev_size, seed=13)
    assert len(dev) == expected
    assert sorted(train + dev) == sorted(pairs)
