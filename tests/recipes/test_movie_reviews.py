import io
import tarfile

import pytest
from corpora.movie_reviews import read_movie_reviews

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning

# Not in the order of their numbers, and 10 comes before 9 as a string.
FILES = {
    "train/pos/10_9.txt": "third good",
    "train/pos/9_7.txt": " second good<br />\n",
    "train/pos/0_10.txt": "\ufefffirst good",
    "train/neg/2_1.txt": "second bad",
    "train/neg/1_4.txt": "first bad",
    "train/neg/30_2.txt": "third bad",
    "train/unsup/11_0.txt": "second either",
    "train/unsup/3_0.txt": "first either",
    "test/pos/7_8.txt": "test good",
    "test/neg/6_1.txt": "test bad",
    # Where no review is read.
    "imdb.vocab": "\xff",
    "train/labeledBow.feat": "9 0:9",
    "train/pos/._0_9.txt": "no review",
    "test/unsup/0_0.txt": "no review",
}


def films(**numbers):
    """The file of addresses of a class, from numbers of lines to films."""
    return "".join(
        f"http://host/title/tt{numbers.get(f'_{n}', 0)}/x\r\n"
        for n in range(31)
    )


FILMS = {
    "train/urls_neg.txt": films(_1=11, _2=12, _30=13),
    "train/urls_pos.txt": films(_0=11, _9=14, _10=15),
    "train/urls_unsup.txt": films(_3=14, _11=17),
}


def write(folder, files, root="aclImdb"):
    path = folder / "aclImdb_v1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            content = text if isinstance(text, bytes) else text.encode()
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("root", ["aclImdb", "./aclImdb"])
def test_all_parts_are_read_from_the_archive(tmp_path, root):
    path = write(tmp_path, FILES | FILMS, root)
    corpus = read_movie_reviews(path)
    assert corpus.train.texts == [
        *("first bad", "first good", "second bad", "second good<br />"),
        *("third bad", "third good"),
    ]
    assert corpus.train.labels == [0, 1] * 3
    assert corpus.test == (["test bad", "test good"], [0, 1])
    assert corpus.unlabelled == ["first either", "second either"]
    assert corpus.label_names == ["neg", "pos"]
    assert corpus.groups_of([*corpus.train.texts, *corpus.unlabelled]) == [
        *("tt11", "tt11", "tt12", "tt14", "tt13", "tt15"),
        *("tt14", "tt17"),
    ]
    limited = read_movie_reviews(path, limit=1)
    assert limited.train.texts == ["first bad"]
    assert limited.test.texts == ["test bad"]
    assert limited.unlabelled == ["first either"]
    assert list(tmp_path.iterdir()) == [path]


def test_films_that_share_a_review_are_one(tmp_path):
    """Film 12 shares one with 17, and 17 with 14."""
    same = {
        "train/unsup/4_0.txt": "second bad",
        "train/unsup/3_0.txt": "second either",
        "train/urls_unsup.txt": films(_3=14, _4=17, _11=17),
    }
    corpus = read_movie_reviews(write(tmp_path, FILES | FILMS | same))
    joined = ["second bad", "second either", "second good<br />"]
    assert len(set(corpus.groups_of(joined))) == 1
    assert len(set(corpus.groups.values())) == 4


def test_bad_reviews_are_left_out(tmp_path):
    bad = {"train/neg/4_1.txt": b"caf\xe9", "train/pos/12_9.txt": "\u200b\n"}
    with pytest.warns(CorpusWarning, match="2 malformed of 8.*0xe9.*empty t"):
        corpus = read_movie_reviews(write(tmp_path, FILES | bad))
    assert len(corpus.train.texts) == 6 and corpus.groups is None


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "empty"])
def test_a_damaged_archive(tmp_path, damage):
    path = write(tmp_path, FILES)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    else:
        content = b"<html>not found</html>" * (damage == "text")
    path.write_bytes(content)
    with pytest.raises(CorpusError, match="aclImdb_v1.*Received: ."):
        read_movie_reviews(path)
