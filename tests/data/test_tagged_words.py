import pytest

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tagged_words import read_tagged_words

TAGGED = [[("who", "WP"), ("knows", "VBZ")], [("नमस्ते", "UH")]]


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes to a file, without touching the line ends."""

    def write(content, name="corpus.txt"):
        if isinstance(content, str):
            content = content.encode("utf-8")
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", ["", " ", "\t"])
@pytest.mark.parametrize("last", [0, 1, 2])
def test_tagged_words(write, mark, end, blank, last):
    lines = ["who\tWP", "knows \t VBZ", blank, blank, "नमस्ते\tUH"]
    path = write(mark + end.join(lines) + end * last)
    assert read_tagged_words(str(path)) == TAGGED


def test_blank_lines_first(write):
    path = write("\n\nwho\tWP\nknows\tVBZ\n\nनमस्ते\tUH\n")
    assert read_tagged_words(path) == TAGGED


@pytest.mark.parametrize(
    "bad", ["word", "word tag", "\tNN", "word\t", "word\tNN\tx", "a\t\tNN"]
)
def test_bad_tagged_line(write, bad):
    path = write(f"who\tWP\n\n{bad}\nknows\tVBZ\n")
    with pytest.raises(CorpusError, match="^Line 3 of the corpus") as error:
        read_tagged_words(path)
    message = str(error.value)
    assert str(path) in message and "Expected: `word TAB tag`" in message
    assert message.endswith(f"Received: {bad!r}")


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf\n", b"\n \r\n\t\n"])
def test_no_tagged_words(write, content):
    with pytest.raises(CorpusError, match="is empty"):
        read_tagged_words(write(content))


def test_tagged_words_that_are_not_utf8(write):
    with pytest.raises(CorpusError, match="not UTF-8.*0xe9 at offset 9"):
        read_tagged_words(write(b"who\tWP\nca\xe9\tNN\n"))


def test_tagged_words_in_a_folder(tmp_path):
    with pytest.raises(IsADirectoryError, match="Received: the folder"):
        read_tagged_words(tmp_path)
