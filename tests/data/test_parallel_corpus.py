import itertools
import random

import pytest

from kerasrnn.data.parallel_corpus import CorpusError
from kerasrnn.data.parallel_corpus import CorpusWarning
from kerasrnn.data.parallel_corpus import drop_long
from kerasrnn.data.parallel_corpus import drop_overlap
from kerasrnn.data.parallel_corpus import read_parallel_corpus
from kerasrnn.data.parallel_corpus import source_key
from kerasrnn.data.parallel_corpus import split_by_source

HELLO = ("Hello!", "नमस्ते!")
KNOWS = ("who knows", "किसे पता")


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes to a file, without touching the line ends."""

    def write(content):
        if isinstance(content, str):
            content = content.encode("utf-8")
        path = tmp_path / "corpus.tsv"
        path.write_bytes(content)
        return path

    return write


def line(*columns):
    return "\t".join(columns) + "\n"


# Reading.


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n"])
@pytest.mark.parametrize("last_end", [True, False])
def test_byte_order_mark_and_line_ends(write, mark, end, last_end):
    text = mark + "\t".join(HELLO) + end + "\t".join(KNOWS)
    corpus = read_parallel_corpus(write(text + end * last_end))
    assert corpus.pairs == [HELLO, KNOWS]
    assert corpus.malformed == []


def test_takes_path_as_string(write):
    assert read_parallel_corpus(str(write(line(*HELLO)))).pairs == [HELLO]


def test_attribution_columns_are_ignored(write):
    text = line(*HELLO, "CC-BY 2.0 #1 & #2") + line(*KNOWS, "x", "y")
    assert read_parallel_corpus(write(text)) == ([HELLO, KNOWS], [])


def test_white_space_around_a_side_is_dropped(write):
    text = "  who knows \t\u00a0किसे पता  \r\n"
    assert read_parallel_corpus(write(text)).pairs == [KNOWS]


def test_joiners_are_kept(write):
    pair = ("joined", "क्\u200dष\u200c")
    assert read_parallel_corpus(write(line(*pair))).pairs == [pair]


def test_blank_lines_are_skipped_but_counted(write):
    text = "\n" + line(*HELLO) + "\r\n  \n\u00a0\n" + "bad\n" + line(*KNOWS)
    with pytest.warns(CorpusWarning, match="line 6"):
        corpus = read_parallel_corpus(write(text))
    assert corpus.pairs == [HELLO, KNOWS]
    assert [number for number, _ in corpus.malformed] == [6]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"no tab here\n", "no tab"),
        (b"\ttarget\n", "empty source"),
        (b"  \ttarget\n", "empty source"),
        (b"source\t\n", "empty target"),
        (b"source\t \r\n", "empty target"),
        (b"source\t\tattribution\n", "empty target"),
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
    assert "line 4 (no tab between source and target), ..." in message
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


def test_limit_above_the_size_keeps_all(write):
    path = write(line(*HELLO) + line(*KNOWS))
    assert read_parallel_corpus(path, limit=9).pairs == [HELLO, KNOWS]


@pytest.mark.parametrize("limit", [0, -1, 1.5, "1"])
def test_bad_limit(write, limit):
    with pytest.raises(ValueError, match="`limit` must be.*Received"):
        read_parallel_corpus(write(line(*HELLO)), limit=limit)


@pytest.mark.parametrize(
    ("content", "received"),
    [
        (b"", "Received: 0 lines$"),
        (b"\xef\xbb\xbf", "1 lines, all blank$"),
        (b"\n \n\r\n", "3 lines, all blank$"),
        (b"\nbad\nworse\n", r"3 lines, line 2 \(no tab"),
        ("a\tb\n".encode("utf-16"), r"2 lines, line 1 \(invalid UTF-8"),
    ],
)
def test_no_usable_line(write, content, received):
    path = write(content)
    with pytest.raises(CorpusError, match=received) as error:
        read_parallel_corpus(path)
    assert str(path) in str(error.value)
    assert "source TAB target" in str(error.value)
    assert isinstance(error.value, ValueError)


def test_missing_file(tmp_path):
    path = tmp_path / "absent.tsv"
    with pytest.raises(FileNotFoundError, match="'absent.tsv' is") as error:
        read_parallel_corpus(path)
    assert str(path) in str(error.value)


def test_folder_instead_of_a_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="Received: the folder"):
        read_parallel_corpus(tmp_path)


# The source key.


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Hello!", "hello"),
        ("  I don't\tknow.\n", "i dont know"),
        ("STRASSE – Straße", "strasse strasse"),
        ("क्या?  हाँ।", "क्या हाँ"),
        ("cafe\u0301", "caf\u00e9"),
        ("?!", ""),
    ],
)
def test_source_key(text, key):
    assert source_key(text) == key


def test_source_key_keeps_words_apart():
    assert source_key("no one") != source_key("none")


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


@pytest.mark.parametrize("seed", range(5))
def test_spellings_of_a_source_stay_together(seed):
    twins = [("Hello!", "नमस्ते"), ("hello", "नमस्कार")]
    pairs = [twins[0], KNOWS, ("jump", "उछलो"), twins[1]]
    train, dev = split_by_source(pairs, 2, seed)
    assert set(twins) in (set(train), set(dev))
    assert len(dev) == 2


def test_group_that_would_overshoot_goes_to_train():
    twins = [("Hello!", "नमस्ते"), ("hello", "नमस्कार")]
    for seed in range(5):
        train, dev = split_by_source([*twins, KNOWS], 1, seed)
        assert dev == [KNOWS]
        assert sorted(train) == sorted(twins)


def test_dev_is_the_smallest_group_where_none_fits():
    twins = [("b", "1"), ("B", "2")]
    pairs = [("a", "1"), ("A", "2"), ("a.", "3"), *twins]
    for seed in range(5):
        train, dev = split_by_source(pairs, 1, seed)
        assert sorted(train) == sorted(pairs[:3])
        assert sorted(dev) == sorted(twins)


@pytest.mark.parametrize("pairs", [[("a", "1")], [("a", "1"), ("A", "2")]])
def test_one_source_cannot_be_split(pairs):
    with pytest.raises(CorpusError, match=f"Received: {len(pairs)} pairs"):
        split_by_source(pairs, 1, seed=0)
    assert split_by_source(pairs, 0, seed=0) == (pairs, [])


def test_split_depends_on_the_seed_only():
    pairs = corpus_with_repeats()
    random.seed(1)
    first = split_by_source(pairs, 50, seed=13)
    random.seed(2)
    assert split_by_source(pairs, 50, seed=13) == first
    assert split_by_source(pairs, 50, seed=14) != first


def test_dev_is_drawn_from_the_whole_corpus():
    pairs = corpus_with_repeats()
    _, dev = split_by_source(pairs, 100, seed=13)
    places = [pairs.index(pair) for pair in dev]
    assert min(places) < 50
    assert max(places) > len(pairs) - 50


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


def test_split_by_own_key():
    pairs = [("a1", "x"), ("a2", "y"), ("b1", "z")]
    train, dev = split_by_source(pairs, 1, seed=0, key=lambda s: s[0])
    assert dev == [("b1", "z")]
    assert sorted(train) == [("a1", "x"), ("a2", "y")]


@pytest.mark.parametrize("dev_size", [-1, 2, 3, 0.5, "1", None])
def test_bad_dev_size(dev_size):
    with pytest.raises(ValueError, match="number of pairs, 2. Received"):
        split_by_source([HELLO, KNOWS], dev_size, seed=0)


# Dropping an overlap.


def test_drop_overlap_compares_normalised_sources():
    more = [("HELLO", "हैलो"), ("jump", "उछलो"), ("Who knows?", "पता नहीं")]
    assert drop_overlap(more, [HELLO, KNOWS]) == [("jump", "उछलो")]
    assert drop_overlap(more, []) == more


def test_drop_overlap_by_own_key():
    more = [("HELLO", "हैलो"), ("Hello!", "नमस्कार")]
    assert drop_overlap(more, [HELLO], key=str) == more[:1]


def test_long_pairs_are_dropped_by_either_side():
    pairs = [("a b", "x"), ("a", "x y z"), ("a b c", "x"), ("", "x y")]
    assert drop_long(pairs, most_words=2) == [pairs[0], pairs[3]]
    assert drop_long(pairs, most_words=3) == pairs
    assert drop_long([], most_words=1) == []
