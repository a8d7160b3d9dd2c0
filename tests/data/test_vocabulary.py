import pytest

from kerasrnn.data.report import CorpusError
from kerasrnn.data.vocabulary import read_vocabulary


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path

    return write


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
def test_a_bad_vocabulary(write, content, message):
    with pytest.raises(CorpusError, match=message):
        read_vocabulary(write("vocab", content))


def test_tokens_are_composed(write):
    path = write("vocab", "re\u0301sume\u0301\n")
    assert read_vocabulary(path, required=()) == ["r\u00e9sum\u00e9"]


def test_a_vocabulary_may_need_no_specials(write):
    assert read_vocabulary(write("vocab", "a\nb\n"), required=()) == ["a", "b"]
