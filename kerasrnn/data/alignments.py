"""Word alignments: reading them, learning them, and from attention."""

import re

import numpy as np
import tensorflow as tf

from kerasrnn.data.reading.text_files import byte_lines
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
    """Reads the word alignments of a corpus, with a line for each pair.

    Args:
        path: String or path of a file in Pharaoh format, which fast_align,
            eflomal and awesome-align write: `0-0 1-2` links the first words of
            source and target, and the second source word to the third target
            word. Lines may be blank.
        pairs: List of the `(source, target)` strings of the corpus.
        corpus: The `Report` on reading it.
        limit: Positive integer, if only the first rows were read.

    Returns:
        List of strings, the line of each pair.

    Raises:
        CorpusError: If the number of lines differs from that of the corpus, or
            a line does not match the words of its pair.
    """
    report = Report(path)
    lines = dict(numbered_lines(byte_lines(path, report), report))
    if report.seen < corpus.seen or report.seen > corpus.seen and not limit:
        raise CorpusError(
            f"The alignments {path} do not match the corpus {corpus.corpus}. "
            f"Expected: {corpus.seen:,} lines, one for each line of the corpus "
            f"including its header. Received: {report.seen:,} lines"
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
                f"Line {number} of the alignments {path} does not match its "
                f"pair. Expected: links such as `0-0 1-2` between {sizes[0]} "
                f"source words and {sizes[1]} target words, counted from 0. "
                f"Received: {line[:80]!r}"
            )
    return found


def _links(alignment):
    return [tuple(map(int, x)) for x in _LINK.findall(alignment)]


def word_links(alignments):
    """Returns the indices of linked source words and of their target words.

    Args:
        alignments: List of strings in Pharaoh format, one for each pair.

    Returns:
        A list of two ragged tensors of shape `(pairs, links)`.
    """
    rows = [_links(alignment) for alignment in alignments]
    links = np.array([link for row in rows for link in row], "int32")
    lengths = np.array([len(row) for row in rows], "int64")
    return [
        tf.RaggedTensor.from_row_lengths(side, lengths)
        for side in links.reshape(-1, 2).T
    ]


def split_words(tokenizer: Tokenizer, texts, split, max_length):
    """Splits texts into tokens, and finds the word of each token.

    Args:
        tokenizer: A `Tokenizer`.
        texts: String tensor of shape `(batch,)`.
        split: Function from the tokenizer and a tensor of texts to ragged ids.
        max_length: Positive integer, maximum number of tokens.

    Returns:
        A tuple of two ragged tensors of shape `(batch, time)`: the ids, and the
        index of each token's word (separated by white space).

    Raises:
        ValueError: when spaces are tokens, which do not belong to a word.
    """
    if isinstance(tokenizer, CharacterTokenizer):
        raise ValueError(
            "Alignments link words. Expected: a tokenizer of words or "
            f"subwords. Received: {tokenizer!r}"
        )
    # At all characters that Python splits at, including no-break spaces.
    texts = tf.strings.regex_replace(texts, r"[\p{Z}\x{1c}-\x{1f}\x{85}]", " ")
    words = tf.strings.split(texts)
    ids = words.with_flat_values(split(tokenizer, words.flat_values))
    numbers = tf.ragged.range(words.row_lengths(), dtype=tf.int64)
    numbers = tf.repeat(numbers.flat_values, ids.values.row_lengths())
    ids = ids.merge_dims(1, 2)
    return ids[:, :max_length], ids.with_flat_values(numbers)[:, :max_length]


def alignment_matrix(linked, numbers, widths):
    """Returns the attention that each target token should pay to the source.

    Every token of a word is linked to every token of its linked words. A row
    sums to 1, or to 0 without links.

    Args:
        linked: Tuple of two ragged tensors of shape `(batch, links)`, the
            indices of the linked source and target words.
        numbers: Tuple of two ragged tensors of shape `(batch, time)`, the index
            of the word of each source and target token.
        widths: Tuple of the padded lengths of source and target.

    Returns:
        Float32 tensor of shape `(batch, target_time, source_time)`.
    """
    source, target = (
        _is_of(words.to_tensor(-1), tokens.to_tensor(-2), width)
        for words, tokens, width in zip(linked, numbers, widths, strict=True)
    )
    found = tf.minimum(tf.matmul(target, source, transpose_a=True), 1.0)
    return found / tf.maximum(tf.reduce_sum(found, axis=-1, keepdims=True), 1.0)


def _is_of(words, numbers, width):
    """Whether tokens belong to linked words, `(batch, links, width)`."""
    missing = width - tf.shape(numbers)[1]
    numbers = tf.pad(numbers, [[0, 0], [0, missing]], constant_values=-2)
    found = words[:, :, None] == tf.cast(numbers, words.dtype)[:, None]
    return tf.cast(found, tf.float32)


def word_attention(weights, source, target, source_words, target_words):
    """Merges tokens into words, with their attention weights.

    Weights are averaged over the tokens of a target word, and summed over the
    tokens of a source word. Padding is removed.

    Args:
        weights: Array of shape `(target tokens, source tokens)`.
        source: List of strings, the source tokens; empty for padding.
        target: List of strings, the target tokens; empty for padding.
        source_words: Function from a list of tokens to a list of
            `(start, word)`: the index of the first token of each word, and the
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
