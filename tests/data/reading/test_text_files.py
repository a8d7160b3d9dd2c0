"""What every reader refuses, and where it says so."""

import bz2
import gzip
import lzma

import pytest

from kerasrnn.data.labelled_corpus import read_labelled_corpus
from kerasrnn.data.parallel_corpus import read_parallel_corpus
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.tagged_words import read_tagged_words
from kerasrnn.data.text_corpus import read_text_corpus

TEXT = "label\ttext\n" + "good\tनमस्ते, hello there\nbad\tक्या हाल है\n" * 20
READERS = [
    read_labelled_corpus,
    read_parallel_corpus,
    read_tagged_words,
    read_text_corpus,
]
by_all = pytest.mark.parametrize("read", READERS)


PACKED = gzip.compress(TEXT.encode(), mtime=0)


@by_all
@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        *(
            (
                TEXT.encode(encoding),
                "a.txt",
                f"in {encoding.upper()}.*iconv -f {encoding.upper()}",
            )
            for encoding in ("utf-16", "utf-16le", "utf-16be")
        ),
        (
            TEXT.replace("\n", "\r").encode(),
            "a.txt",
            r"carriage returns .*`tr '\\r'",
        ),
        *(
            (content, "a.txt", message)
            for content, message in [
                (PACKED, r"gzip. Expected: .* with the file extension \.gz"),
                (bz2.compress(TEXT.encode()), "compressed with bzip2"),
                (lzma.compress(TEXT.encode()), "compressed with xz"),
                (b"PK\x03\x04\x14\0\0\0", "zip, as spreadsheets are"),
            ]
        ),
        *(
            (content, "a.txt.gz", "a whole gzip file. Received: .")
            for content in (
                PACKED[:50] + bytes([PACKED[50] ^ 0xFF]) + PACKED[51:],
                PACKED[:40],
                b"no gzip",
            )
        ),
    ],
)
def test_what_is_no_text_is_named_with_its_remedy(
    tmp_path, read, content, name, message
):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message) as error:
        read(path)
    assert str(path) in str(error.value) and "Received: " in str(error.value)


def test_a_nul_byte_is_not_text(write):
    path = write(b"a\tb\nc\0\td\n" + b"e\tf\n" * 50)
    with pytest.warns(CorpusWarning, match="line 2 .not text: a NUL byte at o"):
        assert len(read_parallel_corpus(path).pairs) == 51
    with pytest.raises(CorpusError, match="line 2 .*a NUL byte at off"):
        read_tagged_words(path)
    path = write(b"text,label\na\0,1\nb,0\nc,1\n")
    with pytest.warns(CorpusWarning, match="line 2 .not text: a NUL byte"):
        assert read_labelled_corpus(path).train.texts == ["b", "c"]


@pytest.mark.parametrize(
    "content",
    [
        b'{"text": "a b"}\n',
        b'[\n  {\n    "text": "a b"\n  }\n]',
    ],
)
def test_rows_are_no_lines_of_text(write, content):
    for read in (read_tagged_words, read_text_corpus):
        with pytest.raises(CorpusError, match="is JSON"):
            read(write(content))
    path = write(b'{"a": "b"}\tc d\n')  # a source, not a row
    assert read_parallel_corpus(path).pairs == [('{"a": "b"}', "c d")]


def test_joined_files_have_no_mark_between_them(write):
    mark = b"\xef\xbb\xbf"
    path = write(2 * (mark + b"a\tb\n\n"))
    assert read_parallel_corpus(path).pairs == [("a", "b")] * 2
    assert read_tagged_words(path) == [[("a", "b")]] * 2
    assert read_text_corpus(path).validation == ["a\tb"]
    path = write(mark + b"text,label\nx,0\n" + mark + b"text ,label\ny,1\n")
    with pytest.warns(CorpusWarning, match="line 3 .the header again"):
        assert read_labelled_corpus(path).label_names == ["0", "1"]


@by_all
def test_a_missing_file(tmp_path, read):
    with pytest.raises(FileNotFoundError, match="'no.txt' is missing") as error:
        read(tmp_path / "no.txt")
    assert str(tmp_path / "no.txt") in str(error.value)


@pytest.mark.parametrize("read", [read_parallel_corpus, read_tagged_words])
def test_a_folder_instead_of_a_file(tmp_path, read):
    with pytest.raises(IsADirectoryError, match="Received: the folder"):
        read(tmp_path)
