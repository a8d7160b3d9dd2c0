"""Reading a parallel corpus of two files, and vocabularies."""

import pathlib
import warnings

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.parallel_corpus import ParallelCorpus
from kerasrnn.tokenizers.tokenizer import END
from kerasrnn.tokenizers.tokenizer import START
from kerasrnn.tokenizers.tokenizer import UNKNOWN


def read_parallel_files(source_path, target_path, limit=None):
    r"""Reads two files whose lines translate each other.

    The files are UTF-8, with or without a byte order mark, with LF or CRLF
    line ends; only a line feed ends a line. A pair with an empty side is left
    out, recorded, and reported in one `CorpusWarning`; a pair of two empty
    sides is left out silently.

    Args:
        source_path: String or path, the sentences to translate.
        target_path: String or path, their translations, line by line.
        limit: Positive integer, the number of pairs to keep: the first.
            Defaults to `None`, which keeps all.

    Returns:
        A `ParallelCorpus`, a named tuple of `pairs` and `malformed`.

    Raises:
        CorpusError: If the files differ in their number of lines, one of them
            is empty or not UTF-8, both are the same, or no pair is left. It
            is a `ValueError`.
        FileNotFoundError: If a file is missing.
        ValueError: If `limit` is not a positive integer.

    Example:

    ```python
    pathlib.Path("a.en").write_text("a house\n\nthe sea\n")
    pathlib.Path("a.vi").write_text("một ngôi nhà\n\nbiển\n")
    read_parallel_files("a.en", "a.vi").pairs
    # [("a house", "một ngôi nhà"), ("the sea", "biển")]
    ```
    """
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise ValueError(
            "`limit` must be a positive integer or `None`. "
            f"Received: limit={limit!r}"
        )
    if pathlib.Path(source_path) == pathlib.Path(target_path):
        raise CorpusError(
            "Source and target must be two files. "
            f"Received: {source_path} for both"
        )
    sources, targets = _lines(source_path), _lines(target_path)
    if len(sources) != len(targets):
        raise CorpusError(
            f"The files {source_path} and {target_path} do not translate "
            "each other line by line. Expected: as many lines in both. "
            f"Received: {len(sources):,} and {len(targets):,} lines"
        )
    pairs, malformed = [], []
    for number, pair in enumerate(zip(sources, targets, strict=True), 1):
        if all(pair):
            pairs.append(pair)
        elif any(pair):
            side = "target" if pair[0] else "source"
            malformed.append((number, f"empty {side}"))
        if len(pairs) == limit:
            break
    if not pairs:
        raise CorpusError(
            f"The files {source_path} and {target_path} hold no pair of "
            f"sentences. Received: {len(sources):,} lines, each with an "
            "empty side"
        )
    if malformed:
        first = ", ".join(f"line {n} ({why})" for n, why in malformed[:3])
        warnings.warn(
            f"{len(malformed)} of {len(sources):,} pairs of {source_path} "
            f"and {target_path} were left out: {first}"
            + (", ..." if len(malformed) > 3 else ""),
            CorpusWarning,
            stacklevel=2,
        )
    return ParallelCorpus(pairs, malformed)


def read_vocabulary(path, required=(UNKNOWN, START, END)):
    """Reads a vocabulary of one token a line, in the order of the ids.

    Args:
        path: String or path, the file to read.
        required: Tokens that it must have.

    Returns:
        List of strings.

    Raises:
        CorpusError: If the file is empty or not UTF-8, has a token twice, or
            lacks a required one. It is a `ValueError`.
        FileNotFoundError: If there is no such file.

    Example:

    ```python
    tokenizer = WordTokenizer(read_vocabulary("vocab.vi"), lowercase=False)
    ```
    """
    tokens = _lines(path)
    seen = set()
    for number, token in enumerate(tokens, 1):
        if not token or token in seen:
            problem = f"has {token!r} a second time" if token else "is empty"
            raise CorpusError(
                f"The vocabulary {path} must have each token once, one a "
                f"line. Received: line {number}, which {problem}"
            )
        seen.add(token)
    missing = [token for token in required if token not in seen]
    if missing:
        raise CorpusError(
            f"The vocabulary {path} lacks {', '.join(map(repr, missing))}. "
            f"Expected: {', '.join(map(repr, required))} among its tokens. "
            f"Received: {len(tokens):,} tokens, the first of them "
            f"{tokens[:3]!r}"
        )
    return tokens


def _lines(path):
    """The stripped lines of a file, of which there is at least one."""
    path = pathlib.Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(
            f"The corpus file {path.name!r} is missing. "
            f"Looked for: {path.absolute()}"
        )
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"The corpus file {path} must be UTF-8. Received: byte "
            f"0x{content[error.start]:02x} at offset {error.start}"
        ) from error
    if not text.strip():
        raise CorpusError(f"The corpus file {path} is empty.")
    return [line.strip() for line in text.removesuffix("\n").split("\n")]
