import os

import pytest

from kerasrnn.data.parallel_corpus import read_parallel_corpus
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning

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


def test_takes_path_as_string(write):
    assert read_parallel_corpus(str(write(line(*HELLO)))).pairs == [HELLO]


def test_attribution_columns_are_ignored(write):
    text = line(*HELLO, "CC-BY 2.0 #1 & #2") + line(*KNOWS, "x")
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


def test_limit_above_the_size_keeps_all(write):
    path = write(line(*HELLO) + line(*KNOWS))
    assert read_parallel_corpus(path, limit=9).pairs == [HELLO, KNOWS]


def test_bad_limit(write):
    with pytest.raises(ValueError, match="`limit` must be.*limit=0"):
        read_parallel_corpus(write(line(*HELLO)), limit=0)


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


def test_missing_file(tmp_path):
    path = tmp_path / "absent.tsv"
    with pytest.raises(FileNotFoundError, match="'absent.tsv' is") as error:
        read_parallel_corpus(path)
    assert str(path) in str(error.value)


def test_folder_instead_of_a_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="Received: the folder"):
        read_parallel_corpus(tmp_path)
