"""Alignments of words: read, as attention to learn, and from attention."""

import re

import numpy as np
import tensorflow as tf

from kerasrnn.data.reading.text_files import numbered_lines
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.tokenizers.table_tokenizers import CharacterTokenizer
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import Pairs
from kerasrnn.typing import PathLike

_LINK = re.compile(r"([0-9]+)-([0-9]+)")


def alignments_of(
    path: PathLike, pairs: Pairs, corpus: Report, limit: int | None = None
) -> list[str]:
    """Reads the alignments of a corpus, a line for each of its lines.

    Args:
        path: String or path of a file in Pharaoh's format, which fast_align,
            eflomal and awesome-align write: `0-0 1-2` links the first words of
            source and target, and the second to the third. A line may be
            blank.
        pairs: List of the `(source, target)` strings that the corpus has.
        corpus: The `Report` of what was read of it.
        limit: Positive integer, if only the first rows were read.

    Returns:
        List of strings, the line of each pair.

    Raises:
        CorpusError: If there are not as many lines as in the corpus, or one is
            not of the words of its pair.
    """
    report = Report(path)
    lines = dict(numbered_lines(path, report))
    if report.seen < corpus.seen or report.seen > corpus.seen and not limit:
        raise CorpusError(
            f"The alignments {path} are not of the corpus {corpus.corpus}. "
            f"Expected: {corpus.seen:,} lines, one for each of its lines, also "
            f"for a header. Received: {report.seen:,} lines"
        )
    found = [lines.get(number, "?") for number in corpus.kept]
    for number, line, pair in zip(corpus.kept, found, pairs, strict=True):
        sizes = [len(text.split()) for text in pair]
        fits = all(map(_LINK.fullmatch, line.split())) and all(
            position < size
            for link in _links(line)
            for position, size in zip(link, sizes, strict=True)
        )
        if not fits:
            raise CorpusError(
                f"Line {number} of the alignments {path} does not fit that of "
                "the corpus. Expected: links such as `0-0 1-2` of "
                f"{sizes[0]} source words to {sizes[1]} target words, counted "
                f"from 0. Received: {line[:80]!r}"
            )
    return found


def _links(alignment):
    return [tuple(map(int, x)) for x in _LINK.findall(alignment)]


class Links:
    """The links of the words of some pairs, as graph operations.

    Args:
        alignments: List of strings in Pharaoh's format, one of each pair.
    """

    def __init__(self, alignments):
        rows = [_links(alignment) for alignment in alignments]
        links = np.array([link for row in rows for link in row], "int32")
        lengths = np.array([len(row) for row in rows], "int64")
        self._sides = [
            tf.RaggedTensor.from_row_lengths(side, lengths)
            for side in links.reshape(-1, 2).T
        ]

    def gather(self, indices):
        """Returns the source and the target words that are linked."""
        return [tf.gather(side, indices) for side in self._sides]


def split_words(tokenizer: Tokenizer, texts, split, max_length):
    """Splits the words of texts into tokens.

    Args:
        tokenizer: A `Tokenizer`.
        texts: String tensor of shape `(batch,)`.
        split: Function from the tokenizer and such a tensor to ragged ids.
        max_length: Positive integer, of how many tokens to keep the ids.

    Returns:
        A tuple of two ragged tensors of shape `(batch, time)`: the ids, and
        for each the number of its word, between white space.

    Raises:
        ValueError: when spaces are tokens, which belong to no word.
    """
    if isinstance(tokenizer, CharacterTokenizer):
        raise ValueError(
            "Alignments are of words. Expected: a tokenizer of words or of "
            f"subwords. Received: {tokenizer!r}"
        )
    # At all that Python splits at, also a no-break space.
    texts = tf.strings.regex_replace(texts, r"[\p{Z}\x{1c}-\x{1f}\x{85}]", " ")
    words = tf.strings.split(texts)
    ids = words.with_flat_values(split(tokenizer, words.flat_values))
    numbers = tf.ragged.range(words.row_lengths(), dtype=tf.int64)
    numbers = tf.repeat(numbers.flat_values, ids.values.row_lengths())
    ids = ids.merge_dims(1, 2)
    return ids[:, :max_length], ids.with_flat_values(numbers)[:, :max_length]


def alignment_matrix(linked, numbers, widths):
    """Returns how much each target token should attend to each source token.

    Every token of a word is linked to every token of the words that it is
    linked to. A row sums to 1, or to 0 where nothing is linked.

    Args:
        linked: Tuple of two ragged tensors of shape `(batch, links)`, the
            numbers of the source and of the target words of the links.
        numbers: Tuple of two ragged tensors of shape `(batch, time)`, the
            number of the word of each source and target token.
        widths: Tuple of the numbers of columns of the padded tokens.

    Returns:
        Float32 tensor of shape `(batch, target_time, source_time)`.
    """
    source, target = (
        _is_of(words.to_tensor(-1), tokens.to_tensor(-2), width)
        for words, tokens, width in zip(linked, numbers, widths, strict=True)
    )
    found = tf.minimum(tf.matmul(target, source, transpose_a=True), 1.0)
    total = tf.reduce_sum(found, axis=-1, keepdims=True)
    return found / tf.maximum(total, 1.0)


def _is_of(words, numbers, width):
    """Whether each token is of each linked word, `(batch, links, width)`."""
    missing = width - tf.shape(numbers)[1]
    numbers = tf.pad(numbers, [[0, 0], [0, missing]], constant_values=-2)
    found = words[:, :, None] == tf.cast(numbers, words.dtype)[:, None]
    return tf.cast(found, tf.float32)


def word_attention(weights, source, target, source_words, target_words):
    """Merges tokens into words, and their attention weights with them.

    The weights of a target word are the mean over its tokens; the weight on a
    source word is the sum over its tokens. Padding is removed.

    Args:
        weights: Array of shape `(target tokens, source tokens)`.
        source: List of strings, the source tokens; empty for padding.
        target: List of strings, the target tokens; empty for padding.
        source_words: Function from a list of tokens to a list of
            `(start, word)`, the index of the first token of each word and the
            word. The first start is 0.
        target_words: The same for the target.

    Returns:
        A tuple `(weights, source_words, target_words)`: an array of shape
        `(target words, source words)` and two lists of strings.

    Example:

    >>> def pairs(tokens):
    ...     return [(i, "".join(tokens[i : i + 2])) for i in (0, 2)]
    >>> weights = np.eye(2, 5)  # (targets, sources), the last is padding
    >>> source = ["wh", "ere", "i", "s", ""]
    >>> word_attention(weights, source, ["x", "y"], pairs, enumerate)
    (array([[1., 0.],
           [1., 0.]]), ['where', 'is'], ['x', 'y'])
    """
    rows, columns = (
        [i for i, token in enumerate(x) if token] for x in (target, source)
    )
    weights = weights[rows][:, columns]
    if not weights.size:
        return weights, [], []
    source_starts, source = zip(
        *source_words([source[i] for i in columns]), strict=True
    )
    target_starts, target = zip(
        *target_words([target[i] for i in rows]), strict=True
    )
    lengths = np.diff([*target_starts, len(weights)])[:, None]
    weights = np.add.reduceat(weights, source_starts, axis=1)
    weights = np.add.reduceat(weights, target_starts, axis=0) / lengths
    return weights, list(source), list(target)
