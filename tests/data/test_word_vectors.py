import types
import warnings

import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.word_vectors import WordVectors
from kerasrnn.data.word_vectors import load_word_vectors
from kerasrnn.data.word_vectors import read_word_vectors
from kerasrnn.data.word_vectors import train_word_vectors
from kerasrnn.tokenizers import ReviewTokenizer

LINES = ["book 0.5 -1 2e-1", "किताब 1 2 3", "red 4 5 6", ". 7 8 9"]
WORD2VEC = "\n".join(["4 3", *LINES]) + "\n"
GLOVE = "\n".join(LINES) + "\n"
VOCABULARY = ["<unk>", "red", "book", "blue", "किताब"]
FOUND = {1: [4, 5, 6], 2: [0.5, -1, 0.2], 4: [1, 2, 3]}

both = pytest.mark.parametrize("content", [WORD2VEC, GLOVE])


@both
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "\n\n"])
def test_rows_are_those_of_the_file(write, content, mark, end):
    path = write(mark + content.replace("\n", end))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors = read_word_vectors(str(path), VOCABULARY)
    assert isinstance(vectors, WordVectors)
    matrix, found = vectors
    assert (matrix.shape, matrix.dtype, found) == ((5, 3), np.float32, 3)
    assert type(found) is int
    for i, row in FOUND.items():
        np.testing.assert_array_equal(matrix[i], np.float32(row))


def test_other_rows_are_random_with_the_deviation_of_the_found(write):
    path = write("up 1 5\ndown -3 7\n")  # mean 2.5, deviation 3.84
    vocabulary = ["up", "down", *map(str, range(20_000))]
    matrix, _ = read_word_vectors(path, vocabulary)
    assert matrix[2:].mean() == pytest.approx(0.0, abs=0.1)
    assert matrix[2:].std() == pytest.approx(14.75**0.5, rel=0.02)
    # Normal: this much lies within one deviation.
    within = np.abs(matrix[2:]) < 14.75**0.5
    assert within.mean() == pytest.approx(0.683, abs=0.01)
    # Every row is another.
    assert len(np.unique(matrix, axis=0)) == len(vocabulary)


def test_the_seed_decides_the_random_rows(write):
    path = write(GLOVE)
    first, again, other = (
        read_word_vectors(path, VOCABULARY, seed).matrix for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first[[0, 3]] != other[[0, 3]]).all()
    np.testing.assert_array_equal(first[1], other[1])


def test_a_word_with_spaces_is_passed_over(write):
    path = write("a 1 2\n. . 3 4\nat b@c.org 5 6\nb 7  8\nb 9 9\n")
    matrix, found = read_word_vectors(path, ["b", "at", "."])
    assert found == 1
    assert matrix[0].tolist() == [7.0, 8.0]


def test_words_are_composed_as_tokenizers_do(write):
    path = write("4 2\ncaf\u00e9 1 2\nnhe\u0302\u0301 3 4\n\u0958 5 6\n")
    words = ["nh\u1ebf", "\u0915\u093c"]
    with pytest.warns(CorpusWarning, match="truncated.* 4 words.*Received: 3"):
        matrix, found = read_word_vectors(path, words)
    assert (found, matrix.tolist()) == (2, [[3, 4], [5, 6]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *(
            (
                f"{header}a 1 2 3\nb 4 5 6\n{bad}\n",
                f"^Line {number} of the .* wrong number of columns.*Expected: "
                f"a word and 3 numbers.*Received: {len(bad.split())} columns",
            )
            for bad, header, number in [
                ("c 1", "", 3),
                ("c 1 2 3 4", "3 3\n", 4),
                ("1 2 3 4 5", "", 3),
            ]
        ),
        *(
            (f"a 1 2\nb 3 {bad}\n", f"^Line 2 .*finite numbers.*d: .*{bad}")
            for bad in ("x", "nan", "inf", "1e99")
        ),
        *(
            (content, "no numbers in their fir")
            for content in ("", "\n", "\ufeff", "word\n", "5 0\n")
        ),
        *(
            (
                content,
                "no tokens of the voc.*its 2 tokens.*"
                f"Received: {count} other words$",
            )
            for content, count in [("c 1\nd 2\n", 2), ("9 3\n", 0)]
        ),
    ],
)
def test_what_is_wrong_is_said(write, content, message):
    path = write(content)
    with pytest.raises(CorpusError, match=message) as error:
        read_word_vectors(path, ["b", "<unk>"])
    assert str(path) in str(error.value)


# Training.


def similarity(matrix, i, j):
    a, b = matrix[i], matrix[j]
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize("kind", ["skip-gram", "cbow"])
def test_words_of_the_same_lines_are_alike(tmp_path, capsys, caplog, kind):
    caplog.set_level("INFO", "gensim")
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
    assert "Training word vectors" in capsys.readouterr().out
    assert ("using sg=1" in caplog.text) == (kind == "skip-gram")
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
    load_word_vectors("cbow", tokenizer, texts, tmp_path, 4, seed=9)
    assert len(list(tmp_path.glob("cbow-*.txt"))) == 5
    assert capsys.readouterr().out.count("Training word") == 5


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
