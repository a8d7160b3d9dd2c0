import csv
import io
import tarfile
import warnings

import pytest

from kerasrnn.data.labelled_texts import LabelledTexts
from kerasrnn.data.parallel_corpus import CorpusError
from kerasrnn.data.parallel_corpus import CorpusWarning
from kerasrnn.data.review_corpus import ReviewCorpus
from kerasrnn.data.review_corpus import read_review_corpus

# Not in the order of their numbers, and 10 comes before 9 as a string.
FILES = {
    "train/pos/10_9.txt": "third good",
    "train/pos/9_7.txt": " second good<br />\n",
    "train/pos/0_10.txt": "\ufefffirst good",
    "train/neg/2_1.txt": "second bad",
    "train/neg/1_4.txt": "first bad — ख़राब",
    "train/neg/30_2.txt": "third bad",
    "train/unsup/11_0.txt": "second either",
    "train/unsup/3_0.txt": "first either",
    "test/pos/7_8.txt": "test good",
    "test/neg/5_1.txt": "test bad",
    "test/neg/6_1.txt": "more test bad",
}
TRAIN = LabelledTexts(
    [
        "first good",
        "first bad — ख़राब",
        "second good<br />",
        "second bad",
        "third good",
        "third bad",
    ],
    [1, 0, 1, 0, 1, 0],
)
TEST = LabelledTexts(["test good", "test bad", "more test bad"], [1, 0, 0])
CORPUS = ReviewCorpus(TRAIN, TEST, ["first either", "second either"])
# Where no review is read.
DECOYS = {
    "imdb.vocab": b"\xff",
    "README": b"\xff",
    "train/labeledBow.feat": b"9 0:9",
    "train/pos/notes.md": b"no review",
    "train/pos/._0_9.txt": b"\xff",
    "train/pos/old/0_9.txt": b"no review",
    "test/unsup/0_0.txt": b"no review",
}


def contents(changes):
    """The files by name; `None` leaves out those that begin so."""
    files = {name: text.encode() for name, text in FILES.items()} | DECOYS
    for name, content in changes.items():
        if content is None:
            files = {n: c for n, c in files.items() if not n.startswith(name)}
        else:
            files[name] = content
    return files


def write_folder(folder, changes=()):
    for name, content in contents(dict(changes)).items():
        path = folder / "aclImdb" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / "aclImdb"


def write_archive(folder, changes=(), root="aclImdb", more=()):
    path = folder / "aclImdb_v1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(root)
        member.type = tarfile.DIRTYPE
        archive.addfile(member)
        for name, content in contents(dict(changes)).items():
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in more:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return path


both = pytest.mark.parametrize(
    "write_imdb",
    [write_folder, write_archive],
    ids=lambda writer: writer.__name__,
)


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes to a file, without touching the line ends."""

    def write(content, name="reviews.csv"):
        if isinstance(content, str):
            content = content.encode("utf-8")
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def silently(path, limit=None):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_review_corpus(path, limit)


# The Large Movie Review Dataset.


@both
def test_all_parts(tmp_path, write_imdb):
    corpus = silently(write_imdb(tmp_path))
    assert isinstance(corpus, ReviewCorpus)
    assert isinstance(corpus.train, LabelledTexts)
    assert isinstance(corpus.test, LabelledTexts)
    assert corpus == CORPUS


def test_the_folder_around_it(tmp_path):
    write_folder(tmp_path)
    assert silently(str(tmp_path)) == CORPUS


@pytest.mark.parametrize("root", ["aclImdb", "./aclImdb"])
def test_archive_is_not_unpacked(tmp_path, root):
    path = write_archive(tmp_path, root=root)
    assert silently(path) == CORPUS
    assert list(tmp_path.iterdir()) == [path]


@both
def test_test_and_unlabelled_may_be_missing(tmp_path, write_imdb):
    path = write_imdb(tmp_path, {"test": None, "train/unsup": None})
    assert silently(path) == (TRAIN, None, [])
    assert silently(path, limit=2) == (([*TRAIN[0][:2]], [1, 0]), None, [])


@both
@pytest.mark.parametrize("kind", ["pos", "neg"])
def test_a_class_may_not(tmp_path, write_imdb, kind):
    path = write_imdb(tmp_path, {f"train/{kind}/": None})
    with pytest.raises(CorpusError) as error:
        read_review_corpus(path)
    counts = {"pos": "0 positive, 3 negative", "neg": "3 positive, 0 negative"}
    message = str(error.value)
    assert message.endswith(f"Received: {counts[kind]}")
    assert str(path) in message and f"aclImdb/train/{kind}" in message


@both
@pytest.mark.parametrize(
    ("limit", "train", "test", "unlabelled"),
    [(1, [0], [0], 1), (2, [0, 1], [0, 1], 2), (3, [0, 1, 2], [0, 1], 2)],
)
def test_limit(tmp_path, write_imdb, limit, train, test, unlabelled):
    corpus = silently(write_imdb(tmp_path), limit)
    assert corpus.train.texts == [TRAIN.texts[i] for i in train]
    assert corpus.train.labels == [TRAIN.labels[i] for i in train]
    assert corpus.test.texts == [TEST.texts[i] for i in test]
    assert corpus.unlabelled == CORPUS.unlabelled[:unlabelled]


@both
def test_a_limit_beyond_what_there_is(tmp_path, write_imdb):
    assert silently(write_imdb(tmp_path), limit=1000) == CORPUS


@both
def test_bad_reviews_are_left_out(tmp_path, write_imdb):
    changes = {
        "train/neg/4_1.txt": b"caf\xe9",
        "test/pos/4_9.txt": b" \n",
        "train/unsup/4_0.txt": b"",
    }
    path = write_imdb(tmp_path, changes)
    with pytest.warns(CorpusWarning) as record:
        assert read_review_corpus(path) == CORPUS
    [warning] = record
    assert str(warning.message) == (
        f"3 malformed reviews of the corpus {path} were left out: "
        "test/pos/4_9.txt (empty), train/neg/4_1.txt (invalid UTF-8 at "
        "offset 3), train/unsup/4_0.txt (empty)"
    )
    assert warning.filename == __file__


@both
def test_nothing_but_bad_reviews(tmp_path, write_imdb):
    changes = {name: b"\xff" for name in FILES}
    with pytest.raises(CorpusError, match="0 positive, 0 neg.*11 malf") as e:
        read_review_corpus(write_imdb(tmp_path, changes))
    assert "test/neg/5_1.txt (invalid UTF-8" in str(e.value)
    assert str(e.value).endswith(", ...")


@both
def test_files_without_a_number_come_last(tmp_path, write_imdb):
    changes = {f"train/pos/{n}.txt": n.encode() for n in ("b", "a", "²", "12")}
    corpus = silently(write_imdb(tmp_path, changes))
    positive = [t for t, n in zip(*corpus.train, strict=True) if n]
    assert positive[3:] == ["12", "a", "b", "²"]


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../evil.txt",
        "aclImdb/../../evil.txt",
        "aclImdb/train/pos/..",
        "aclImdb\\..\\evil.txt",
        "\\evil.txt",
        "C:evil.txt",
    ],
)
def test_members_that_lead_out_are_refused(tmp_path, name):
    path = write_archive(tmp_path, more=[tarfile.TarInfo(name)])
    with pytest.raises(CorpusError, match="leads out of the folder") as error:
        read_review_corpus(path)
    assert repr(name) in str(error.value) and str(path) in str(error.value)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "name", ["aclImdb/..txt", "aclImdb/a..b", "a/...", "b"]
)
def test_dots_in_names_are_harmless(tmp_path, name):
    path = write_archive(tmp_path, more=[tarfile.TarInfo(name)])
    assert silently(path) == CORPUS


@pytest.mark.parametrize("kind", ["SYM", "LNK", "CHR", "BLK", "FIFO"])
def test_members_that_are_no_files_are_refused(tmp_path, kind):
    member = tarfile.TarInfo("aclImdb/train/pos/5_9.txt")
    member.type = getattr(tarfile, f"{kind}TYPE")
    member.linkname = "0_10.txt"
    path = write_archive(tmp_path, more=[member])
    with pytest.raises(CorpusError, match="is a link or a device") as error:
        read_review_corpus(path)
    assert repr(member.name) in str(error.value)


def test_a_giant_member_is_refused_unread(tmp_path):
    member = tarfile.TarInfo("aclImdb/train/pos/5_9.txt")
    member.size = 2**24 + 1
    path = write_archive(tmp_path, more=[member])
    with pytest.raises(CorpusError, match="has 16,777,217 bytes"):
        read_review_corpus(path)


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
    with pytest.raises(CorpusError, match="aclImdb_v1.*Received: .") as error:
        read_review_corpus(path)
    assert str(path) in str(error.value)
    assert error.value.__cause__ is not None


# Tables.


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("between", [",", "\t"])
@pytest.mark.parametrize("text", ["review", "Text", "sentence"])
@pytest.mark.parametrize("label", ["sentiment", " Label"])
def test_table(write, mark, end, between, text, label):
    rows = [
        [label, "id", text],
        ["positive", "1", "good"],
        ["neg", "2", '"bad, ""really""\tbad\nyes"'],
        [],
        [" 1", "3", "अच्छा "],
        ["Negative", "4", "it's 5\" long"],
        ["pos", "5", "a"],
        ["0", "6", "b"],
    ]
    lines = [between.join(row) for row in rows]
    corpus = silently(write(mark + end.join(lines)))
    assert corpus.train == (
        ["good", 'bad, "really"\tbad\nyes', "अच्छा", "it's 5\" long", "a", "b"],
        [1, 0, 1, 0, 1, 0],
    )
    assert (corpus.test, corpus.unlabelled) == (None, [])


def test_the_name_of_a_table_makes_no_difference(write):
    text = "text\tlabel\ngood, so good\t1\nbad\t0\n"
    for name in ("a.tsv", "a.csv", "a"):
        assert silently(write(text, name)).train.labels == [1, 0]


@pytest.mark.parametrize(
    ("limit", "texts"), [(1, "c"), (2, "ac"), (3, "acd"), (6, "abcde")]
)
def test_limit_of_a_table_keeps_the_order(write, limit, texts):
    path = write("text,label\na,0\nb,0\nc,1\nd,1\ne,1\n")
    assert "".join(silently(path, limit).train.texts) == texts


BAD_ROWS = {
    "maybe,fine": "no label: 'maybe'",
    ",fine": "no label: ''",
    "2,fine": "no label: '2'",
    "1,": "empty text",
    "1": "1 columns instead of 2",
    "1,fine,": "3 columns instead of 2",
}


@pytest.mark.parametrize("bad", BAD_ROWS)
def test_bad_rows_are_left_out(write, bad):
    path = write(f'label,text\n1,"two\nlines"\n\n{bad}\n0,bad\n')
    with pytest.warns(CorpusWarning) as record:
        corpus = read_review_corpus(path)
    assert corpus.train == (["two\nlines", "bad"], [1, 0])
    [warning] = record
    assert str(warning.message) == (
        f"1 malformed reviews of the corpus {path} were left out: "
        f"line 5 ({BAD_ROWS[bad]})"
    )
    assert warning.filename == __file__


def test_bad_utf8_spoils_its_row_only(write):
    path = write(b"label,text\n1,good\n0,caf\xe9\n0,bad\n")
    with pytest.warns(CorpusWarning, match=r"line 3 \(invalid UTF-8\)$"):
        assert read_review_corpus(path).train.texts == ["good", "bad"]


def test_a_quote_that_is_never_closed_is_a_character(write):
    path = write('label,text\n1,good\n0,"bad\n0,"so, so"\n1,a "" b\n')
    corpus = read_review_corpus(path)
    assert corpus.train == (
        ["good", '"bad', "so, so", 'a "" b'],
        [1, 0, 0, 1],
    )


def test_a_quoted_word_may_begin_a_text(write):
    path = write('text\tlabel\n"Great" is the word\t1\nbad\t0\n"two"\t1\n')
    corpus = read_review_corpus(path)
    assert corpus.train.texts == ['"Great" is the word', "bad", "two"]


def test_what_follows_stray_quotes_keeps_its_line(write):
    path = write('label,text\n1,"good\n0,"bad"\n\nx,fine\n1,"fi"ne\n')
    with pytest.warns(CorpusWarning, match=r"out: line 5 \(no label: 'x'\)$"):
        assert read_review_corpus(path).train.labels == [1, 0, 1]


@pytest.mark.parametrize("between", [",", "\t"])
def test_a_text_of_a_table_may_be_long(write, between):
    text = 70_000 * "so, "
    limit = csv.field_size_limit()
    path = write(f'label{between}text\n1{between}"{text}"\n0{between}bad\n')
    assert read_review_corpus(path).train.texts == [text.strip(), "bad"]
    assert csv.field_size_limit() == limit


def test_nothing_but_bad_rows(write):
    path = write("label,text\n" + "x,fine\n" * 4)
    with pytest.raises(CorpusError) as error:
        read_review_corpus(path)
    message = str(error.value)
    assert "Received: 0 positive, 0 negative, 4 malformed: line 2 " in message
    assert "line 4 (no label: 'x'), ..." in message


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("", "'review' or 'text' or 'sentence'"),
        ("good,1", "'review' or 'text' or 'sentence'"),
        ("text,stars", "'sentiment' or 'label'"),
        ("text;label", "'review' or 'text' or 'sentence'"),
        ('"text,label', "'review' or 'text' or 'sentence'"),
    ],
)
def test_no_header(write, header, missing):
    path = write(f"{header}\ngood,1\nbad,0\n")
    with pytest.raises(CorpusError, match="no header") as error:
        read_review_corpus(path)
    message = str(error.value)
    assert f"Expected: a column of {missing}, " in message
    assert str(path) in message and "Received: [" in message


@pytest.mark.parametrize("name", ["absent.csv", "aclImdb_v1.tar.gz"])
def test_missing_path(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=f"'{name}' is mis") as error:
        read_review_corpus(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)


@pytest.mark.parametrize("limit", [0, -1, 1.5, "1"])
def test_bad_limit(write, limit):
    with pytest.raises(ValueError, match="`limit` must be.*Received"):
        read_review_corpus(write("text,label\na,1\nb,0\n"), limit=limit)
