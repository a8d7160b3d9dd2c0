"""Folders with a folder of texts for each class."""

import warnings

import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import read_labelled_corpus
from kerasrnn.data import read_rows


def write(folder, texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def silently(path, limit=None):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_labelled_corpus(path, limit=limit)


def test_a_folder_for_each_class(tmp_path):
    """Numbers are in the order of their values, of classes and of files."""
    texts = {
        f"{stars}/{n}_x.txt": f"\ufeff {stars} {n}\n"
        for stars in (10, 2, 9, 1)
        for n in (12, 2, 1)
    }
    texts |= {"README.txt": "no text", ".git/a.txt": "no text"}
    texts |= {"1/b.txt": "b", "1/a.txt": "a", "1/\u00b2.txt": "\u00b2"}
    corpus = silently(write(tmp_path, texts))
    assert corpus.label_names == ["1", "2", "9", "10"]
    in_turn = [f"{stars} {n}" for n in (1, 2, 12) for stars in (1, 2, 9, 10)]
    assert corpus.train.texts == [*in_turn, "a", "b", "\u00b2"]
    assert corpus.train.labels == [0, 1, 2, 3] * 3 + [0] * 3
    assert (corpus.test, corpus.unlabelled) == (None, [])
    assert silently(tmp_path, limit=6).train.labels == [0, 1, 2, 3, 0, 1]
    rows = read_rows(tmp_path, text=None, label=None)
    assert rows["text"] == corpus.train.texts


def test_classes_below_train_and_test(tmp_path):
    texts = {f"train/{kind}/a.txt": kind for kind in ("c", "a", "unsup")}
    texts |= {"train/unsup/b.txt": "more"}
    texts |= {"test/a/a.txt": "test", "test/unsup/a.txt": "no text"}
    corpus = silently(write(tmp_path, texts))
    assert corpus.train == (["a", "c"], [0, 1])
    assert corpus.test == (["test"], [0])
    assert corpus.unlabelled == ["unsup", "more"]
    corpus = read_labelled_corpus(tmp_path, limit=1, test_path=tmp_path)
    assert corpus.test == corpus.train and corpus.unlabelled == ["unsup"]


def test_what_is_no_text_of_a_class_is_counted(tmp_path):
    """Texts may lack an end, as those of 20 Newsgroups, or have another."""
    texts = {"a/1.txt": "a", "a/2.TXT": "aa", "b/51060": "b", "c/1.md": "c"}
    texts |= {"a/notes.md": "x", "a/3.txt": b"caf\xe9", "a/4.txt": "\u200b"}
    write(tmp_path, texts)
    (tmp_path / "a/5.txt").symlink_to(tmp_path / "a/1.txt")
    (tmp_path / "a/6.txt").mkdir()
    with (
        pytest.warns(CorpusWarning, match="its class 'c' has no .txt file"),
        pytest.warns(CorpusWarning, match="6 malformed of 9 texts") as found,
    ):
        corpus = read_labelled_corpus(tmp_path)
    assert corpus.train == (["a", "b", "aa"], [0, 1, 0])
    (said,) = (str(x.message) for x in found if "malformed" in str(x.message))
    assert said.count("a link, or not a .txt file") == 3


def test_links_are_not_followed(tmp_path):
    folder = write(tmp_path / "own", {"a/1.txt": "a", "b/1.txt": "b"})
    (folder / "c").symlink_to(folder / "a")
    with pytest.warns(CorpusWarning, match="c/1.txt .a link"):
        with pytest.warns(CorpusWarning, match="'c' has no .txt file"):
            assert read_labelled_corpus(folder).label_names == ["a", "b"]
    # A link that the user names is what they mean.
    (folder / "c").unlink()
    (tmp_path / "link").symlink_to(folder)
    assert silently(tmp_path / "link").train.texts == ["a", "b"]


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a/1.txt"], CorpusError, "at least two classes.*Received: "),
        (["a/1.md"], CorpusError, "at least two classes.*Received: "),
        (["c.txt"], IsADirectoryError, "Received: the folder"),
        (
            ["train/a/a.txt", "train/c/a.txt", "test/b/a.txt"],
            CorpusError,
            r"unknown classes.*Received: \['b'\]",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path, names, error, message):
    with pytest.raises(error, match=message):
        read_labelled_corpus(write(tmp_path, dict.fromkeys(names, "a")))
