"""Training of word vectors."""

import itertools
import json
import pathlib
import tempfile
import zlib

import keras

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.word_vectors import read_word_vectors

KINDS = ("skip-gram", "cbow")


def load_word_vectors(source, tokenizer, texts, folder, dimensions, seed=0):
    """Returns word vectors for a tokenizer: from a file, or of some texts.

    Vectors that are trained are kept in a file of the folder, named for texts,
    normalisation, dimensions and seed, and not trained again. How many words
    have a vector is printed.

    Args:
        source: Path of a file; or `"skip-gram"` or `"cbow"`, to train them.
        tokenizer: The `Tokenizer` that has the vocabulary and normalises the
            texts.
        texts: List of strings to train on.
        folder: String or path of a folder.
        dimensions, seed: As for `train_word_vectors`.

    Returns:
        A `WordVectors`, as of `read_word_vectors`.

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
        if not path.exists():
            parts = (texts[i : i + 1000] for i in range(0, len(texts), 1000))
            lines = itertools.chain.from_iterable(
                map(tokenizer.normalize_all, parts)
            )
            train_word_vectors(lines, path, dimensions, source, seed)
        source = path
    vectors = read_word_vectors(source, tokenizer.vocabulary)
    print(f"{vectors.found} of {len(vectors.matrix)} words have a vector.")
    return vectors


def train_word_vectors(lines, path, dimensions=100, kind="skip-gram", seed=0):
    """Trains word vectors with gensim and writes them to a text file.

    A window reaches eight words to both sides, words that occur fewer than
    five times are left out, and the text is read eight times. Two threads
    share the work, so two runs with the same seed differ a little. A bar
    shows how often the text was read.

    Args:
        lines: Iterable of strings, words with spaces between, as
            `ReviewTokenizer.normalize_all` returns them.
        path: String or path, the file to write; `read_word_vectors` reads it.
            It is there only when it is whole.
        dimensions: Positive integer, numbers of a vector.
        kind: `"skip-gram"`, which predicts its neighbours from a word, or
            `"cbow"`, the word from them.
        seed: Integer.

    Raises:
        CorpusError: If no word occurs five times. It is a `ValueError`.
        ValueError: If there is no such kind.

    Example:

    >>> train_word_vectors(10 * ["a red book"], "vectors.txt", dimensions=20)
    >>> read_word_vectors("vectors.txt", ["red", "book"]).matrix.shape
    (2, 20)

    References:
        [Mikolov et al., 2013](https://arxiv.org/abs/1301.3781).
    """
    from gensim.models import Word2Vec

    if kind not in KINDS:
        raise ValueError(
            f"`kind` must be 'skip-gram' or 'cbow'. Received: kind={kind!r}"
        )
    path = pathlib.Path(path)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        text, partial = (pathlib.Path(folder, x) for x in ("lines", "vectors"))
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
                "Word vectors need words that occur often. Expected: one that "
                "occurs five times at least. Received: none"
            )
        model.train(
            corpus_file=str(text),
            total_examples=model.corpus_count,
            total_words=model.corpus_total_words,
            epochs=model.epochs,
            callbacks=[_Readings(model.epochs)],
        )
        model.wv.save_word2vec_format(str(partial))
        partial.replace(path)


class _Readings:
    """A bar of how often gensim has read the text."""

    def __init__(self, count):
        self._bar = keras.utils.Progbar(count, unit_name="reading")

    def on_epoch_end(self, model):
        self._bar.add(1)

    def on_train_begin(self, model):
        print("Word vectors are trained.")

    def on_epoch_begin(self, model):
        pass

    def on_train_end(self, model):
        pass
