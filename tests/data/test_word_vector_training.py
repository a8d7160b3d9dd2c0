import types

import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data.report import CorpusError
from kerasrnn.data.word_vectors import load_word_vectors
from kerasrnn.data.word_vectors import read_word_vectors
from kerasrnn.data.word_vectors import train_word_vectors
from kerasrnn.tokenizers import ReviewTokenizer


def similarity(matrix, i, j):
    a, b = matrix[i], matrix[j]
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize("kind", ["skip-gram", "cbow"])
def test_words_of_the_same_lines_are_alike(tmp_path, capsys, kind):
    rng = np.random.default_rng(0)
    topics = ["film actor plot scene".split(), "boat river fish net".split()]
    lines = (
        " ".join(rng.choice(topics[i % 2], 12)) + " rare" * (i < 4)
        for i in range(3000)
    )
    path = tmp_path / "vectors.txt"
    # Files of like names are none of its business.
    neighbour = path.with_suffix(".lines")
    neighbour.write_text("mine", encoding="utf-8")
    train_word_vectors(lines, path, 8, kind, seed=3)
    assert "8/8" in capsys.readouterr().out  # how far it is
    assert set(tmp_path.iterdir()) == {path, neighbour}
    assert neighbour.read_text(encoding="utf-8") == "mine"
    vocabulary = [*topics[0], *topics[1], "rare"]
    matrix, found = read_word_vectors(path, vocabulary)
    assert matrix.shape == (9, 8)
    assert found == 8
    inside = similarity(matrix, 0, 1), similarity(matrix, 4, 5)
    across = similarity(matrix, 0, 4), similarity(matrix, 1, 5)
    assert min(inside) > max(across) + 0.3


def test_a_failed_training_writes_no_file(tmp_path):
    path = tmp_path / "vectors.txt"
    with pytest.raises(CorpusError, match="occurs five times"):
        train_word_vectors(["a book", "a red book"], path)
    with pytest.raises(ValueError, match="Received: kind='glove'"):
        train_word_vectors(["a book"], path, kind="glove")

    def lines():
        yield "a book"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="is gone"):
        train_word_vectors(lines(), path)
    assert not list(tmp_path.iterdir())


def test_vectors_are_trained_once_for_the_same_texts(tmp_path, capsys):
    tokenizer = ReviewTokenizer.train(["a fine film"])
    keeps = ReviewTokenizer(tokenizer.vocabulary, special="keep")
    for word in ("fine", "dull", "fine"):
        texts = 5 * [f"A {word} film!"]
        for of in (tokenizer, keeps):
            matrix, found = load_word_vectors("cbow", of, texts, tmp_path, 4)
            assert (matrix.shape, found) == (
                (5, 4),
                2 + (word == "fine") - (of is keeps),
            )
    assert len(list(tmp_path.glob("cbow-*.txt"))) == 4
    assert capsys.readouterr().out.count("Training word") == 4


def test_vectors_of_a_file(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("film 1 0 2\nfine -1 0.5 3\n", "utf-8")
    tokenizer = ReviewTokenizer.train(["a fine film"])
    matrix, found = load_word_vectors(path, tokenizer, [], tmp_path, 100)
    assert (matrix.shape, found) == ((5, 3), 2)
    # The seed decides the rows of the words without a vector.
    rows = tokenizer, [], tmp_path, 100
    other, _ = load_word_vectors(path, *rows, seed=1)
    same = [(a == b).all() for a, b in zip(matrix, other, strict=True)]
    assert same.count(True) == 2


@pytest.mark.parametrize("hosts", [1, 2])
def test_several_workers_do_not_train_vectors_of_their_own(
    hosts, tmp_path, monkeypatch
):
    spec = tf.train.ClusterSpec(
        {"worker": ["localhost:1", "localhost:2"][:hosts]}
    )
    resolver = types.SimpleNamespace(cluster_spec=lambda: spec)
    strategy = types.SimpleNamespace(cluster_resolver=resolver)
    monkeypatch.setattr(tf.distribute, "get_strategy", lambda: strategy)
    tokenizer, texts = ReviewTokenizer.train(["a fine film"]), 5 * ["a film"]
    if hosts == 1:
        load_word_vectors("cbow", tokenizer, texts, tmp_path, 4)
    else:
        with pytest.raises(ValueError, match="Expected: the path of a file"):
            load_word_vectors("cbow", tokenizer, texts, tmp_path, 4)
    assert len(list(tmp_path.iterdir())) == 2 - hosts


def test_missing_folders_are_created(tmp_path):
    path = tmp_path / "a" / "b" / "vectors.txt"
    train_word_vectors(10 * ["a red book"], path, 4)
    assert [*path.parent.iterdir()] == [path]
