import io
import tarfile

import pytest

from kerasrnn.data.report import CorpusError
from kerasrnn.data.text_corpus import TextCorpus
from kerasrnn.data.text_corpus import read_text_corpus

TRAIN, VALIDATION, TEST = "ptb.train.txt", "ptb.valid.txt", "ptb.test.txt"


def training_lines(types=9_999, width=100):
    words = [f"w{n}" for n in range(types)]
    return [" ".join(words[n : n + width]) for n in range(0, types, width)]


PTB = TextCorpus(
    training_lines(),
    [f"w{n} w1" for n in range(30)],
    [f"w{n} w2" for n in range(20)],
)


def contents(**changes):
    """Mikolov's files by name, as he spaces them; `None` leaves one out."""
    parts = {
        name: "".join(f" {line} \n" for line in lines).encode()
        for name, lines in zip((TRAIN, VALIDATION, TEST), PTB, strict=True)
    }
    for name, content in changes.items():
        parts[f"ptb.{name}.txt"] = content
    return {name: text for name, text in parts.items() if text is not None}


def write_folder(folder, **changes):
    for name, content in contents(**changes).items():
        (folder / name).write_bytes(content)
    return folder


def write_archive(folder, root="./simple-examples", **changes):
    path = folder / "simple-examples.tgz"
    decoys = {"data/README": b"\xff", "models/ptb.train.txt": b"no data"}
    files = {f"data/{n}": text for n, text in contents(**changes).items()}
    with tarfile.open(path, "w:gz") as archive:
        for name in (root, f"{root}/data"):
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE
            archive.addfile(member)
        for name, content in {**files, **decoys}.items():
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


WRITERS = [write_folder, write_archive]
both = pytest.mark.parametrize(
    "write_ptb", WRITERS, ids=lambda writer: writer.__name__
)


@both
def test_three_parts(tmp_path, write_ptb):
    corpus = read_text_corpus(write_ptb(tmp_path))
    assert isinstance(corpus, TextCorpus)
    assert corpus == PTB


@pytest.mark.parametrize("name", [TRAIN, VALIDATION, TEST])
def test_any_of_the_files_stands_for_the_folder(tmp_path, name):
    assert read_text_corpus(str(write_folder(tmp_path) / name)) == PTB


@pytest.mark.parametrize("root", ["simple-examples", "./simple-examples"])
def test_archive_is_not_extracted(tmp_path, root):
    path = write_archive(tmp_path, root)
    assert read_text_corpus(path) == PTB
    assert list(tmp_path.iterdir()) == [path]


@both
def test_test_part_may_be_missing(tmp_path, write_ptb):
    corpus = read_text_corpus(write_ptb(tmp_path, test=None))
    assert corpus == PTB._replace(test=None)
    limited = read_text_corpus(write_ptb(tmp_path, test=None), limit=30)
    assert limited == (PTB.train[:30], PTB.validation[:3], None)


@both
@pytest.mark.parametrize("part", ["train", "valid"])
def test_other_parts_may_not(tmp_path, write_ptb, part):
    path = write_ptb(tmp_path, **{part: None})
    with pytest.raises(FileNotFoundError) as error:
        read_text_corpus(path)
    message = str(error.value)
    assert str(path) in message
    others = {TRAIN, VALIDATION, TEST} - {f"ptb.{part}.txt"}
    received = message.partition("Received: ")[2]
    assert set(received.split(", ")) == {repr(name) for name in others}
    assert f"'ptb.{part}.txt'" in message


def test_folder_with_none_of_them(tmp_path):
    with pytest.raises(FileNotFoundError, match="Received: none of them"):
        read_text_corpus(tmp_path)


@both
@pytest.mark.parametrize("types", [1, 9_998, 10_000])
def test_not_ten_thousand_types(tmp_path, write_ptb, types):
    train = "\n".join(training_lines(types)).encode()
    path = write_ptb(tmp_path, train=train)
    for limit in (None, 2):  # checked before it is cut
        with pytest.raises(CorpusError) as error:
            read_text_corpus(path, limit=limit)
        message = str(error.value)
        assert TRAIN in message and "exactly 10,000 types" in message
        found = f"Received: {types + 1:,} types, {types:,} words"
        assert found in message


def test_any_white_space_divides_words_when_types_are_counted(tmp_path):
    train = "\n".join(training_lines(9_999)).replace(" ", "  ").encode()
    corpus = read_text_corpus(write_folder(tmp_path, train=train))
    assert corpus.train[0].startswith("w0  w1")


@pytest.mark.parametrize(
    ("limit", "held_out"), [(1, 1), (9, 1), (20, 2), (59, 5), (10_000, 1000)]
)
@both
def test_limit(tmp_path, write_ptb, limit, held_out):
    corpus = read_text_corpus(write_ptb(tmp_path), limit=limit)
    assert corpus.train == PTB.train[:limit]
    assert corpus.validation == PTB.validation[:held_out]
    assert corpus.test == PTB.test[:held_out]


@both
@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_empty_part(tmp_path, write_ptb, part):
    path = write_ptb(tmp_path, **{part: b" \n\n"})
    with pytest.raises(CorpusError, match=rf"ptb\.{part}\.txt is empty"):
        read_text_corpus(path)


@both
def test_part_that_is_not_utf8(tmp_path, write_ptb):
    path = write_ptb(tmp_path, valid=b"caf\xe9 w1\n")
    with pytest.raises(CorpusError, match="0xe9 in position 3") as error:
        read_text_corpus(path)
    assert VALIDATION in str(error.value)


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "empty"])
def test_damaged_archive(tmp_path, damage):
    path = write_archive(tmp_path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    elif damage == "text":
        content = b"<html>not found</html>"
    else:
        content = b""
    path.write_bytes(content)
    with pytest.raises(
        CorpusError, match="a whole tar archive.*Received: ."
    ) as e:
        read_text_corpus(path)
    assert str(path) in str(e.value)
    assert e.value.__cause__ is not None
