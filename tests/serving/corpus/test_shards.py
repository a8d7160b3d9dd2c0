import gzip

import pytest

from kerasrnn.data import CorpusError
from kerasrnn.serving.corpus.shards import Shards

LINES = "one\ntwo\n\nfour\nfive\n"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "input.txt"
    path.write_text(LINES)
    return path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "shards"
    path.mkdir()
    return path


def answer(shards, *numbers):
    for shard in numbers:
        shards.write(shard, [f"{line}!" for line in shards.read(shard)])


@pytest.mark.parametrize(
    ("suffix", "pack", "unpack"),
    [
        (".txt", bytes, bytes),
        (".GZ", gzip.compress, gzip.decompress),
    ],
)
def test_the_answers_are_joined_in_the_order_of_the_lines(
    text, folder, suffix, pack, unpack
):
    source, output = text.with_suffix(suffix), text.with_name(f"out{suffix}")
    source.write_bytes(pack(LINES.encode()))
    shards = Shards.split(source, folder, 2)
    assert [shards.size(0), shards.size(1)] == [2, 3]
    answer(shards, 1, 0)
    shards.join(output)
    assert unpack(output.read_bytes()).decode() == LINES.replace("\n", "!\n")
    shards.delete()
    assert not folder.exists()


@pytest.mark.parametrize("content", ["", "no line feed"])
def test_a_file_may_have_fewer_lines_than_shards(content, text, folder):
    text.write_text(content)
    shards = Shards.split(text, folder, 5)
    answer(shards, *shards.unfinished())
    shards.join(text)
    assert text.read_text() == (f"{content}!\n" if content else "")


def test_bad_lines_keep_their_place_and_are_listed(text, folder):
    text.write_bytes(b"\xef\xbb\xbfgood\r\nb\xffd\nn\0l\n123456789\n12345678\n")
    shards = Shards.split(text, folder, 1, max_bytes=8)
    assert shards.read(0) == ["good", None, None, None, "12345678"]
    answer(shards, 0)
    output = text.with_name("output.txt")
    shards.join(output)
    listed = text.with_name("output.txt.bad.tsv")
    rows = [line.split("\t") for line in listed.read_text().splitlines()]
    assert [number for number, _ in rows] == ["2", "3", "4"]
    assert [reason.partition(":")[0] for _, reason in rows] == (
        ["invalid UTF-8", "not text", "too long"]
    )
    # A later run without bad lines leaves no list of them.
    shards.delete()
    folder.mkdir()
    text.write_text("good\n")
    shards = Shards.split(text, folder, 1)
    answer(shards, 0)
    shards.join(output)
    assert not listed.exists()


def test_a_reason_may_have_any_characters(text, folder):
    shards = Shards.split(text, folder, 1)
    shards.write(0, [""] * 5, {3: "one\u2028two\rthree"})
    output = text.with_name("output.txt")
    shards.join(output)
    listed = text.with_name("output.txt.bad.tsv").read_bytes().decode("utf-8")
    assert listed == "4\tone\u2028two\rthree\n"


def test_a_run_continues_where_it_was_interrupted(text, folder):
    answer(Shards.split(text, folder, 3, model="a/1"), 1)
    before = (folder / "output-00001-of-00003").stat()
    (folder / "partial-output-00002-of-00003").write_text("half")
    shards = Shards.split(text, folder, 3, model="a/1")
    assert shards.unfinished() == [0, 2]
    assert (folder / "output-00001-of-00003").stat() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "a/2"}, "model='a/1'. Received: model='a/2'"),
        ({"count": 2}, "shards=3. Received: shards=2"),
        ({"max_bytes": 9}, "Received: max_bytes=9"),
        ({"text": "another\n"}, "Received: input="),
        ({"text": LINES.replace("two", "two ")}, "Received: input="),
    ],
)
def test_shards_of_other_work_are_not_mixed(change, message, text, folder):
    given = {"count": 3, "model": "a/1"}
    Shards.split(text, folder, **given)
    text.write_text(change.pop("text", LINES))
    with pytest.raises(ValueError, match=message):
        Shards.split(text, folder, **given | change)


def test_answers_that_a_killed_run_was_deleting_are_not_used(text, folder):
    answer(Shards.split(text, folder, 2, model="a/1"), 0, 1)
    (folder / "settings.json").unlink()
    assert Shards.split(text, folder, 2, model="a/2").unfinished() == [0, 1]


def test_many_lines_of_another_encoding_are_an_error(text, folder):
    lines = ["plain", "größer"] * 20
    text.write_bytes("\n".join(lines).encode("latin-1"))
    with pytest.raises(
        CorpusError, match="20 of 40 lines.*iconv -f ISO-8859-1"
    ):
        Shards.split(text, folder)
    text.write_text("\n".join(lines), "utf-8")
    assert Shards.split(text, folder, 1).read(0) == lines


def test_a_shard_that_is_answered_twice_at_once_is_one_of_both(text, folder):
    shards = Shards.split(text, folder, 1)

    def answers():
        yield "slow"
        shards.write(0, ["fast"] * 5)
        yield from ["slow"] * 4

    shards.write(0, answers())
    shards.join(text.with_name("output.txt"))
    assert text.with_name("output.txt").read_text() == "slow\n" * 5
