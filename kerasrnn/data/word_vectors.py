"""Word vectors of a vocabulary: read from a file, or trained."""

import contextlib
import itertools
import json
import pathlib
import re
import tempfile
import unicodedata
import zlib
from collections.abc import Iterable
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import one_of
from kerasrnn.data.batches import in_parts
from kerasrnn.data.reading.text_files import byte_lines
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.report import Report
from kerasrnn.files import atomic_write
from kerasrnn.files import output_folder
from kerasrnn.optional import needs
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings
from kerasrnn.warning import warn

_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class WordVectors(NamedTuple):
    """Vectors of the tokens of a vocabulary.

    Args:
        matrix: Array of shape `(vocabulary, dimensions)`, float32.
        found: Integer, number of rows that are from the file.
    """

    matrix: np.ndarray
    found: int


def read_word_vectors(
    path: PathLike, vocabulary: Strings, seed: int = 0
) -> WordVectors:
    r"""Reads the vectors of a vocabulary from a text file.

    The file has the format of word2vec: a header `count dimensions`, then lines
    of a word and its numbers, separated by spaces. Or it has the format of
    GloVe, which is the same without the header. It is read line by line, and
    only vectors of the vocabulary are kept. If a word occurs twice, its first
    vector is used. A word may contain spaces, as some in GloVe do, if no part
    after a space is a number. Blank lines are skipped. The file may be gzipped
    (extension `.gz`).

    Tokens that are not in the file, such as special tokens, get random
    vectors: normally distributed, with mean 0 and the standard deviation of all
    numbers in the vectors found.

    Args:
        path: String or path, the file to read.
        vocabulary: List of tokens, in the order of their ids.
        seed: Integer. The same file, vocabulary and seed give the same
            matrix.

    Returns:
        A `WordVectors`, a named tuple of `matrix`, of shape
        `(vocabulary, dimensions)`, and `found`.

    Raises:
        CorpusError: If a line has the wrong number of columns or no finite
            numbers, the file is empty, damaged or UTF-16, or it has none of the
            tokens. It is a `ValueError`.
        FileNotFoundError: If there is no such file.
        IsADirectoryError: If `path` is a folder.

    Example:

    >>> lines = ["2 3", "book 0.1 0.2 0.3", "red 1 0 -1"]
    >>> pathlib.Path("vectors.txt").write_text("\n".join(lines))
    >>> words = ["<unk>", "red", "book"]
    >>> matrix, found = read_word_vectors("vectors.txt", words)
    >>> matrix.shape, found
    ((3, 3), 2)
    >>> matrix[1].tolist()
    [1.0, 0.0, -1.0]

    References:
        [Mikolov et al., 2013](https://arxiv.org/abs/1301.3781),
        [Pennington et al., 2014](https://aclanthology.org/D14-1162).
    """
    ids = {token.encode(): i for i, token in enumerate(vocabulary)}
    known = np.zeros(len(vocabulary), bool)
    matrix = None
    lines: Iterator[tuple[int, bytes]] = (
        line for line in byte_lines(path, Report(path)) if line[1].strip()
    )
    number, first = next(lines, (0, b""))
    count, width = _sizes(first, path)
    if count is None:
        lines = itertools.chain([(number, first)], lines)
    total = 0
    for number, line in lines:
        total += 1
        word, numbers = _divide(line, width, number, path)
        i = ids.get(word, ids.get(_composed(word), -1))
        if i < 0 or known[i]:
            continue
        if matrix is None:
            # Allocated only now, because a wrong header may state any width.
            matrix = np.zeros((len(vocabulary), width), "float32")
        matrix[i] = _parse(numbers, width, number, path)
        known[i] = True
    if matrix is None:
        raise CorpusError(
            f"The word vectors {path} have no tokens of the vocabulary. "
            f"Expected: some of its {len(vocabulary)} tokens. Received: "
            f"{total} other words"
        )
    if count is not None and total != count:
        warn(
            f"The word vectors {path} may be truncated. Expected: {count} "
            f"words, as the first line says. Received: {total}",
            CorpusWarning,
        )
    found = matrix[known]
    missing = np.random.default_rng(seed).normal(
        0.0, found.std(dtype="float64"), (~known).sum() * width
    )
    matrix[~known] = missing.reshape(-1, width)
    return WordVectors(matrix, int(known.sum()))


def _sizes(line, path):
    """Returns count and dimensions; without a header, a count of `None`."""
    columns = line.split()
    count, width = None, len(columns) - 1
    if width == 1 and all(column.isdigit() for column in columns):
        count, width = map(int, columns)
    if width < 1:
        raise CorpusError(
            f"The word vectors {path} have no numbers in their first line. "
            "Expected: `count dimensions` or `word number ... number`. "
            f"Received: {line[:80]!r}"
        )
    return count, width


def _divide(line, width, number, path):
    """Splits a line into its word and the bytes of its `width` numbers."""
    line = line.rstrip()
    word, _, numbers = line.partition(b" ")
    if numbers.count(b" ") + 1 == width and numbers:
        return word, numbers
    columns = line.split()
    more = columns[1 : len(columns) - width]
    if len(columns) <= width or any(map(_NUMBER.fullmatch, more)):
        raise CorpusError(
            f"Line {number} of the word vectors {path} has the wrong number "
            f"of columns. Expected: a word and {width} numbers. "
            f"Received: {len(columns)} columns, {line[:80]!r}"
        )
    return b" ".join(columns[:-width]), b" ".join(columns[-width:])


def _composed(word):
    """Returns a word in Unicode NFC, like tokenizers; bytes if not UTF-8."""
    try:
        return unicodedata.normalize("NFC", word.decode()).encode()
    except UnicodeDecodeError:
        return word


def _parse(numbers, width, number, path):
    # Too large numbers become infinite.
    with contextlib.suppress(ValueError), np.errstate(over="ignore"):
        vector = np.array([float(x) for x in numbers.split()], "float32")
        if len(vector) == width and np.isfinite(vector).all():
            return vector
    raise CorpusError(
        f"Line {number} of the word vectors {path} is malformed. "
        f"Expected: {width} finite numbers after the word. "
        f"Received: {numbers[:80]!r}"
    )


KINDS = ("skip-gram", "cbow")


def load_word_vectors(
    source: PathLike,
    tokenizer: Tokenizer,
    texts: Strings = (),
    folder: PathLike = ".",
    dimensions: int = 100,
    seed: int = 0,
) -> WordVectors:
    """Returns word vectors for a tokenizer, read from a file or trained.

    Trained vectors are written to a file in the folder, whose name depends on
    the texts, the configuration of the tokenizer, the dimensions and the seed.
    If that file exists, they are not trained again. The number of words with a
    vector is printed.

    Args:
        source: Path of a file; or `"skip-gram"` or `"cbow"` to train them.
        tokenizer: The `Tokenizer` with the vocabulary, which normalizes the
            texts.
        texts: List of strings to train on.
        folder: String or path of the folder for trained vectors.
        dimensions: As for `train_word_vectors`.
        seed: Integer, for the training and for words without a vector.

    Returns:
        A `WordVectors`, as `read_word_vectors` returns it.

    Raises:
        ValueError: If several workers would have to train them.

    Example:

    >>> texts = 10 * ["a red book"]
    >>> tokenizer = ReviewTokenizer.train(texts)
    >>> vectors = load_word_vectors("cbow", tokenizer, texts, ".", 20)
    >>> vectors.matrix.shape
    (5, 20)
    """
    if source in KINDS:
        options = tokenizer.get_config() | {"name": None}
        facts = json.dumps([texts, options, dimensions, seed]).encode()
        path = pathlib.Path(folder, f"{source}-{zlib.crc32(facts):08x}.txt")
        resolver = tf.distribute.get_strategy().cluster_resolver
        workers = resolver.cluster_spec().as_dict() if resolver else {}
        if sum(map(len, workers.values())) > 1:
            raise ValueError(
                "Several workers would train different word vectors. Expected: "
                "the path of a file, such as one that a run with a single "
                f"worker wrote. Received: {source!r}"
            )
        if not path.exists():
            lines = itertools.chain.from_iterable(
                in_parts(texts, tokenizer.normalize_all)
            )
            train_word_vectors(lines, path, dimensions, source, seed)
        source = path
    vectors = read_word_vectors(source, tokenizer.vocabulary, seed)
    count = len(vectors.matrix)
    print(f"{vectors.found:,} of {count:,} words have a vector.")
    return vectors


def train_word_vectors(
    lines: Iterable[str],
    path: PathLike,
    dimensions: int = 100,
    kind: str = "skip-gram",
    seed: int = 0,
) -> None:
    """Trains word vectors with gensim and writes them to a text file.

    The window has eight words on both sides, words that occur fewer than five
    times are left out, and there are eight epochs. Training uses two threads,
    so two runs with the same seed differ slightly.

    Args:
        lines: Iterable of strings, words separated by spaces, as
            `ReviewTokenizer.normalize_all` returns them.
        path: String or path, the file to write, for `read_word_vectors`. It
            is written completely or not at all. Missing folders are created.
        dimensions: Positive integer, the length of a vector.
        kind: `"skip-gram"`, which predicts the context words from a word, or
            `"cbow"`, which predicts a word from its context words.
        seed: Integer.

    Raises:
        CorpusError: If no word occurs five times. It is a `ValueError`.
        OSError: If the file cannot be written.
        ValueError: If `kind` is unknown.

    Example:

    >>> train_word_vectors(10 * ["a red book"], "vectors.txt", dimensions=20)
    >>> read_word_vectors("vectors.txt", ["red", "book"]).matrix.shape
    (2, 20)

    References:
        [Mikolov et al., 2013](https://arxiv.org/abs/1301.3781).
    """
    with needs("gensim", "recipes"):
        from gensim.models import Word2Vec

    one_of("kind", kind, KINDS)
    path = pathlib.Path(path)
    output_folder(path.parent)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        text = pathlib.Path(folder, "lines")
        with text.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        model = Word2Vec(
            vector_size=dimensions,
            sg=kind == "skip-gram",
            window=8,
            min_count=5,
            workers=2,
            epochs=8,
            seed=seed,
        )
        model.build_vocab(corpus_file=str(text))
        if not len(model.wv):
            raise CorpusError(
                "No word is frequent enough to train word vectors. Expected: "
                "at least one word that occurs five times. Received: none"
            )
        print("Training word vectors.")
        model.train(
            corpus_file=str(text),
            total_examples=model.corpus_count,
            total_words=model.corpus_total_words,
            epochs=model.epochs,
        )
    with atomic_write(path) as partial:
        model.wv.save_word2vec_format(str(partial))
