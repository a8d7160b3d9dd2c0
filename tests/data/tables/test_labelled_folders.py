import gzip
import io
import pathlib
import random
import tarfile
import warnings

import pytest

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.labelled.labelled_corpus import read_labelled_corpus
from kerasrnn.data.labelled.labelled_texts import LabelledCorpus
from kerasrnn.data.labelled.labelled_texts import LabelledTexts

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
        "first bad — ख़राब",
        "first good",
        "second bad",
        "second good<br />",
        "third bad",
        "third good",
    ],
    [0, 1, 0, 1, 0, 1],
)
TEST = LabelledTexts(["test bad", "test good", "more test bad"], [0, 1, 0])
NAMES = ["neg", "pos"]
CORPUS = LabelledCorpus(TRAIN, TEST, ["first either", "second either"], NAMES)
# Where no review is read.
DECOYS = {
    "imdb.vocab": b"\xff",
    "README": b"\xff",
    "train/labeledBow.feat": b"9 0:9",
    "train/pos/._0_9.txt": b"\xff",
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


def silently(path, limit=None):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_labelled_corpus(path, limit=limit)


# The Large Movie Review Dataset.


@both
def test_all_parts(tmp_path, write_imdb):
    corpus = silently(write_imdb(tmp_path))
    assert isinstance(corpus, LabelledCorpus)
    assert isinstance(corpus.train, LabelledTexts)
    assert isinstance(corpus.test, LabelledTexts)
    assert corpus == CORPUS


def test_the_folder_around_it(tmp_path):
    write_folder(tmp_path)
    assert silently(str(tmp_path)) == CORPUS


@pytest.mark.parametrize("root", ["aclImdb", "./aclImdb"])
def test_archive_is_not_extracted(tmp_path, root):
    path = write_archive(tmp_path, root=root)
    assert silently(path) == CORPUS
    assert list(tmp_path.iterdir()) == [path]


@both
def test_test_and_unlabelled_may_be_missing(tmp_path, write_imdb):
    path = write_imdb(tmp_path, {"test": None, "train/unsup": None})
    assert silently(path) == LabelledCorpus(TRAIN, None, [], NAMES)
    two = LabelledTexts(TRAIN.texts[:2], [0, 1])
    assert silently(path, limit=2) == LabelledCorpus(two, None, [], NAMES)


def addresses(**films):
    """The file of addresses of a class, from numbers of lines to films."""
    lines = [
        f"http://host/title/tt{films.get(f'_{n}', 0)}/x" for n in range(31)
    ]
    return ("\r\n".join(lines) + "\r\n").encode()


FILMS = {
    "train/urls_neg.txt": addresses(_1=11, _2=12, _30=13),
    "train/urls_pos.txt": addresses(_0=11, _9=14, _10=15),
    "train/urls_unsup.txt": addresses(_3=14, _11=17),
}


@both
def test_the_films_of_reviews(tmp_path, write_imdb):
    corpus = silently(write_imdb(tmp_path, FILMS))
    assert corpus._replace(groups=None) == CORPUS
    assert corpus.groups_of([*TRAIN.texts, *corpus.unlabelled]) == [
        *("tt11", "tt11", "tt12", "tt14", "tt13", "tt15"),
        *("tt14", "tt17"),
    ]
    assert corpus.groups_of(["another"]) == ["another"]


def test_films_that_share_a_review_are_one(tmp_path):
    # Film 12 shares one with 17, and 17 with 14.
    same = {
        "train/unsup/4_0.txt": b"second bad",
        "train/unsup/3_0.txt": b"second either",
    }
    films = {"train/urls_unsup.txt": addresses(_3=14, _4=17, _11=17)}
    corpus = silently(write_archive(tmp_path, FILMS | same | films))
    joined = ["second bad", "second either", "second good<br />"]
    assert len(set(corpus.groups_of(joined))) == 1
    assert len(set(corpus.groups.values())) == 4


@both
def test_a_review_without_a_film_is_left_out(tmp_path, write_imdb):
    changes = FILMS | {
        "train/urls_pos.txt": b"/title/tt11/\n" + 9 * b"/title/nm14/\n",
        "train/urls_unsup.txt": None,
    }
    with pytest.warns(CorpusWarning, match="4 malformed of 11") as record:
        corpus = read_labelled_corpus(write_imdb(tmp_path, changes))
    assert corpus.unlabelled == []
    assert corpus.train == (TRAIN.texts[:3] + ["third bad"], [0, 1, 0, 0])
    problem = "train/pos/9_7.txt (its film is not in urls_pos.txt)"
    assert problem in str(record[0].message)


@both
@pytest.mark.parametrize("kind", ["pos", "neg"])
def test_a_class_may_not(tmp_path, write_imdb, kind):
    path = write_imdb(tmp_path, {f"train/{kind}/": None})
    with pytest.raises(CorpusError) as error:
        read_labelled_corpus(path)
    [other] = set(NAMES) - {kind}
    message = str(error.value)
    assert message.endswith(f"Expected: ['{other}']. Received: ['{kind}']")
    assert str(path) in message


@both
@pytest.mark.parametrize(
    ("limit", "train", "test", "unlabelled"),
    [(1, [0], [0], 1), (2, [0, 1], [0, 1], 2), (3, [0, 1, 2], [0, 1, 2], 2)],
)
def test_limit(tmp_path, write_imdb, limit, train, test, unlabelled):
    corpus = silently(write_imdb(tmp_path), limit)
    assert corpus.train.texts == [TRAIN.texts[i] for i in train]
    assert corpus.train.labels == [TRAIN.labels[i] for i in train]
    assert corpus.test.texts == [TEST.texts[i] for i in test]
    assert corpus.unlabelled == CORPUS.unlabelled[:unlabelled]


@both
def test_a_limit_above_the_size(tmp_path, write_imdb):
    assert silently(write_imdb(tmp_path), limit=1000) == CORPUS


@both
def test_bad_reviews_are_left_out(tmp_path, write_imdb):
    changes = {
        "train/neg/4_1.txt": b"caf\xe9",
        "test/pos/4_9.txt": "\u200b\n".encode(),
        "train/unsup/4_0.txt": b"",
    }
    path = write_imdb(tmp_path, changes)
    with pytest.warns(CorpusWarning) as record:
        assert read_labelled_corpus(path) == CORPUS
    [warning] = record
    assert str(warning.message).startswith(
        f"3 malformed of 14 texts in the corpus {path} were left out: "
        "test/pos/4_9.txt (empty), train/neg/4_1.txt (invalid UTF-8: byte "
        "0xe9 at offset 3), train/unsup/4_0.txt (empty)"
    )
    assert warning.filename == __file__


@both
def test_nothing_but_bad_reviews(tmp_path, write_imdb):
    changes = {name: b" \n" for name in FILES}
    with pytest.raises(CorpusError, match=r"0 texts .*\[\], 11 malf") as e:
        read_labelled_corpus(write_imdb(tmp_path, changes))
    assert "test/neg/5_1.txt (empty)" in str(e.value)
    assert str(e.value).endswith(", ...")


def test_reviews_of_another_encoding_are_refused(tmp_path):
    text = "Das ist für uns schön.".encode("latin-1")
    changes = {f"train/pos/{n}.txt": text for n in range(20, 24)}
    with pytest.raises(
        CorpusError, match="4 of 15 texts .*iconv -f ISO-8859-1"
    ):
        read_labelled_corpus(write_folder(tmp_path, changes))


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
    with pytest.raises(CorpusError, match="leads out of it") as error:
        read_labelled_corpus(path)
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
    with pytest.raises(CorpusError, match="is a link, a") as error:
        read_labelled_corpus(path)
    assert repr(member.name) in str(error.value)


def test_a_giant_member_is_refused_unread(tmp_path):
    member = tarfile.TarInfo("aclImdb/train/pos/5_9.txt")
    member.size = 2**24 + 1
    path = write_archive(tmp_path, more=[member])
    with pytest.raises(CorpusError, match="has 16,777,217 bytes"):
        read_labelled_corpus(path)


@pytest.mark.parametrize("kind", [b"L", b"x", b"g", b"K"])
def test_a_giant_header_is_refused_unread(tmp_path, kind):
    """A long name, or further facts, of as many zeros as it says."""
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = kind, 2**24 + 1
    path = write_archive(tmp_path, more=[member])
    with pytest.raises(
        CorpusError, match="a header that is too long. .*16,777"
    ):
        read_labelled_corpus(path)


@pytest.mark.parametrize("name", ["labeledBow.feat", "unsupBow.feat"])
def test_files_that_are_not_read_may_be_large(tmp_path, name):
    """The official archive has tables of word counts of up to 41 MB."""
    member = tarfile.TarInfo(f"aclImdb/train/{name}")
    member.size = 2**24 + 1
    assert silently(write_archive(tmp_path, more=[member])) == CORPUS


def test_what_is_no_text_of_a_class_is_counted(tmp_path):
    folder = write_folder(tmp_path, {"train/pos/notes.md": b"no review"})
    (folder / "train/pos/3_3.txt").symlink_to(folder / "train/pos/0_10.txt")
    (folder / "train/neg/3_3.txt").mkdir()
    (folder / "test/neg/lost.txt").symlink_to(folder / "nowhere")
    with pytest.warns(CorpusWarning) as record:
        assert read_labelled_corpus(folder) == CORPUS
    message = str(record[0].message)
    assert "4 malformed of 15 texts" in message
    assert "test/neg/lost.txt (a link or a device)" in message
    assert "train/neg/3_3.txt (not a .txt file)" in message
    assert "train/pos/3_3.txt (a link or a device)" in message


def test_no_class_and_no_part_is_lost_in_silence(tmp_path):
    """Texts may lack an end, as those of 20 Newsgroups, or have another."""
    texts = {"a/1.txt": "a", "a/2.TXT": "aa", "b/51060": "b", "c/1.md": "c"}
    with pytest.warns(CorpusWarning, match="its class 'c' has no .txt file"):
        with pytest.warns(CorpusWarning, match="c/1.md .not a .txt file"):
            corpus = read_labelled_corpus(write_texts(tmp_path / "all", texts))
    assert corpus.train == (["a", "b", "aa"], [0, 1, 0])
    parts = {f"{x}/{y}/1.txt": x + y for x in ("train", "dev") for y in "ab"}
    with pytest.warns(CorpusWarning, match="only train and test .*: 'dev'"):
        corpus = read_labelled_corpus(write_texts(tmp_path / "parts", parts))
    assert corpus.train.texts == ["traina", "trainb"]


def test_a_folder_is_read_in_one_order(tmp_path, monkeypatch):
    """Whatever the order in which the file system lists it."""
    names = [f"{kind}/{n}.txt" for kind in "ab" for n in range(30)]
    folder = write_texts(tmp_path, {name: name for name in names})
    corpus = silently(folder)
    in_turn = [f"{kind}/{n}.txt" for n in range(30) for kind in "ab"]
    assert corpus.train.texts == in_turn
    listed = pathlib.Path.iterdir
    generator = random.Random(1)

    def shuffled(path):
        found = list(listed(path))
        return iter(generator.sample(found, len(found)))

    monkeypatch.setattr(pathlib.Path, "iterdir", shuffled)
    for _ in range(3):
        assert silently(folder) == corpus


@pytest.mark.parametrize("name", ["train", "train/pos"])
def test_linked_folders_are_not_followed(tmp_path, name):
    folder = write_folder(tmp_path)
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CorpusError, match=f"'{name}', which is a link"):
        read_labelled_corpus(folder)
    # A link that the user names is what they mean.
    (tmp_path / "link").symlink_to(write_folder(tmp_path / "own"))
    assert silently(tmp_path / "link") == CORPUS


def write_texts(folder, texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_folder_for_each_class(tmp_path):
    texts = {
        f"{stars}/{n}.txt": f"{stars} {n}"
        for stars in (10, 2, 9, 1)
        for n in (2, 1)
    }
    texts |= {"README.txt": "no text", ".git/a.txt": "no text"}
    corpus = silently(write_texts(tmp_path, texts))
    assert corpus.label_names == ["1", "2", "9", "10"]
    assert corpus.train.texts == [
        f"{s} {n}" for n in (1, 2) for s in (1, 2, 9, 10)
    ]
    assert corpus.train.labels == [0, 1, 2, 3] * 2
    assert (corpus.test, corpus.unlabelled) == (None, [])
    assert silently(tmp_path, limit=6).train.labels == [0, 1, 2, 3, 0, 1]


def test_classes_below_train_and_test(tmp_path):
    texts = {f"train/{kind}/a.txt": kind for kind in "cab"}
    corpus = silently(write_texts(tmp_path, texts | {"test/b/a.txt": "test"}))
    assert corpus.train == (["a", "b", "c"], [0, 1, 2])
    assert corpus.test == (["test"], [1])


@pytest.mark.parametrize("texts", [{}, {"a/1.txt": "a"}, {"a/1.md": "a"}])
def test_a_folder_of_fewer_than_two_classes(tmp_path, texts):
    with pytest.raises(CorpusError, match="at least two classes.*Received: "):
        read_labelled_corpus(write_texts(tmp_path, texts))


@pytest.mark.parametrize(
    "damage", ["cut", "flipped", "header", "text", "empty"]
)
def test_damaged_archive(tmp_path, damage):
    path = write_archive(tmp_path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    elif damage == "header":  # before its compression: the checksum is right
        content = bytearray(gzip.decompress(content))
        content[content.rindex(b"aclImdb/") + 8] ^= 0xFF
        content = gzip.compress(content)
    elif damage == "text":
        content = b"<html>not found</html>"
    else:
        content = b""
    path.write_bytes(content)
    with pytest.raises(CorpusError, match="aclImdb_v1.*Received: .") as error:
        read_labelled_corpus(path)
    assert str(path) in str(error.value)
    assert error.value.__cause__ is not None
