"""Training of word vectors."""

import itertools
import json
import pathlib
import tempfile
import zlib
from collections.abc import Iterable

import keras
import tensorflow as tf

from kerasrnn.arguments import one_of
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.text.word_vectors import WordVectors
from kerasrnn.data.text.word_vectors import read_word_vectors
from kerasrnn.data.token_ids import in_parts
from kerasrnn.files import atomic_write
from kerasrnn.files import output_folder
from kerasrnn.optional import needs
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings

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
    the texts, the configuration of the tokenizer, the dimensions and the
    seed. If that file exists, they are not trained again. The number of words
    that have a vector is printed.

    Args:
        source: Path of a file; or `"skip-gram"` or `"cbow"` to train them.
        tokenizer: The `Tokenizer` that has the vocabulary and normalises the
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
        if _several_workers():
            raise ValueError(
                "Several workers would train different word vectors. "
                "Expected: the path of a file, such as one that a run of one "
                f"worker has written. Received: {source!r}"
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


def _several_workers():
    """Whether this process trains a model together with others."""
    resolver = tf.distribute.get_strategy().cluster_resolver
    if resolver is None:
        return False
    return sum(map(len, resolver.cluster_spec().as_dict().values())) > 1


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
    so two runs with the same seed differ slightly. A progress bar shows the
    epochs.

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
                "Word vectors need frequent words. Expected: at least one "
                "word that occurs five times. Received: none"
            )
        model.train(
            corpus_file=str(text),
            total_examples=model.corpus_count,
            total_words=model.corpus_total_words,
            epochs=model.epochs,
            callbacks=[_EpochBar(model.epochs)],
        )
    with atomic_write(path) as partial:
        model.wv.save_word2vec_format(str(partial))


class _EpochBar:
    """A progress bar of the epochs of gensim."""

    def __init__(self, count):
        self._bar = keras.utils.Progbar(count, unit_name="epoch")

    def on_epoch_end(self, model):
        self._bar.add(1)

    def on_train_begin(self, model):
        print("Training word vectors.")

    def on_epoch_begin(self, model):
        pass

    def on_train_end(self, model):
        pass
