import pytest

from kerasrnn.data.parallel_corpus import CorpusError
from kerasrnn.data.parallel_corpus import CorpusWarning
from kerasrnn.data.parallel_files import read_parallel_files
from kerasrnn.data.parallel_files import read_vocabulary


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path

    return write


def test_lines_are_pairs(write):
    corpus = read_parallel_files(
        write("a.en", "\ufeffa house\r\n\r\n the sea \r\n"),
        write("a.vi", "một ngôi nhà\n\nbiển\u2028cả"),
    )
    assert corpus.pairs == [
        ("a house", "một ngôi nhà"),
        ("the sea", "biển\u2028cả"),
    ]
    assert corpus.malformed == []


def test_a_file_is_not_its_own_translation(write):
    path = write("train.vi", "c d\n")
    with pytest.raises(CorpusError, match="two files.*train.vi for both"):
        read_parallel_files(path, str(path))


def test_limit_keeps_the_first(write):
    paths = write("a", "1\n2\n3\n"), write("b", "x\ny\nz\n")
    assert read_parallel_files(*paths, limit=2).pairs == [
        ("1", "x"),
        ("2", "y"),
    ]


def test_unequal_numbers_of_lines_are_an_error(write):
    paths = write("a.en", "1\n2\n3\n"), write("a.vi", "x\ny\n")
    with pytest.raises(
        CorpusError, match="a.en.*a.vi.*as many lines.*3 and 2 lines"
    ):
        read_parallel_files(*paths)


def test_an_empty_side_is_named_and_left_out(write):
    paths = write("a", "1\n\n3\n4"), write("b", "x\ny\n\nz\n")
    with pytest.warns(
        CorpusWarning, match=r"2 of 4 .*line 2 \(empty source\), line 3"
    ):
        corpus = read_parallel_files(*paths)
    assert corpus.pairs == [("1", "x"), ("4", "z")]
    assert corpus.malformed == [(2, "empty source"), (3, "empty target")]


def test_nothing_but_empty_sides(write):
    with pytest.raises(CorpusError, match="no pair.*2 lines"):
        read_parallel_files(write("a", "1\n\n"), write("b", "\ny\n"))


def test_an_empty_file_and_one_that_is_not_utf8(write):
    good = write("good", "1\n")
    with pytest.raises(CorpusError, match="empty is empty"):
        read_parallel_files(good, write("empty", "\n \n"))
    with pytest.raises(CorpusError, match="must be UTF-8.*0xe9 at offset 3"):
        read_parallel_files(good, write("bad", b"caf\xe9\n"))


def test_a_missing_file(write, tmp_path):
    with pytest.raises(FileNotFoundError, match="'none.vi' is missing"):
        read_parallel_files(write("a", "1\n"), tmp_path / "none.vi")


@pytest.mark.parametrize("limit", [0, -1, 1.5])
def test_bad_limit(write, limit):
    with pytest.raises(ValueError, match="`limit`.*Received"):
        read_parallel_files(write("a", "1\n"), write("b", "x\n"), limit)


def test_a_vocabulary_has_its_tokens_in_order(write):
    path = write("vocab", "<unk>\n<s>\n</s>\nKhoa\nhọc\n")
    assert read_vocabulary(path) == ["<unk>", "<s>", "</s>", "Khoa", "học"]


@pytest.mark.parametrize(
    "content, message",
    [
        ("<unk>\n</s>\na\n", "lacks '<s>'.*3 tokens"),
        ("<unk>\n<s>\n</s>\na\nb\na\n", "line 6, which has 'a' a second time"),
        ("<unk>\n<s>\n</s>\n\nb\n", "line 4, which is empty"),
        ("", "is empty"),
    ],
)
def test_a_vocabulary_that_is_none(write, content, message):
    with pytest.raises(CorpusError, match=message):
        read_vocabulary(write("vocab", content))


def test_a_vocabulary_may_need_no_specials(write):
    assert read_vocabulary(write("vocab", "a\nb\n"), required=()) == ["a", "b"]
