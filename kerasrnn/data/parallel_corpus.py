"""Reading and splitting a parallel corpus: one pair of sentences a line."""

import codecs
import pathlib
import random
import unicodedata
import warnings
from typing import NamedTuple

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning


class ParallelCorpus(NamedTuple):
    """The content of a parallel corpus file.

    Args:
        pairs: List of `(source, target)` strings, in the order of the file.
        malformed: List of `(line number, reason)`, counted from 1: every line
            that is neither blank nor a pair.
    """

    pairs: list[tuple[str, str]]
    malformed: list[tuple[int, str]]


def read_parallel_corpus(path, limit=None):
    r"""Reads a file of `source TAB target` lines.

    The file is UTF-8, with or without a byte order mark, with LF or CRLF line
    ends. Further columns, such as the attribution in files made for Anki, are
    ignored, and so are blank lines. A line without a tab, with an empty side,
    with a carriage return inside, or that is not UTF-8 is malformed: it is
    left out, recorded, and reported in one `CorpusWarning`.

    Only a line feed ends a line. Other characters that Unicode counts as line
    ends, such as U+2028, stay part of the sentence.

    Args:
        path: String or path, the file to read.
        limit: Positive integer, the number of pairs to keep: reading stops
            there. Defaults to `None`, which reads the whole file.

    Returns:
        A `ParallelCorpus`, a named tuple of `pairs` and `malformed`.

    Raises:
        CorpusError: If no line is usable. It is a `ValueError`.
        FileNotFoundError: If there is no such file.
        IsADirectoryError: If `path` is a folder.
        ValueError: If `limit` is not a positive integer.

    Example:

    ```python
    with open("corpus.tsv", "w", encoding="utf-8") as file:
        file.write("Hello!\tनमस्ते!\nno tab here\nWho knows?\tकिसे पता?\n")
    pairs, malformed = read_parallel_corpus("corpus.tsv")  # and a warning
    pairs  # [("Hello!", "नमस्ते!"), ("Who knows?", "किसे पता?")]
    malformed  # [(2, "no tab between source and target")]
    ```
    """
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise ValueError(
            "`limit` must be a positive integer or `None`. "
            f"Received: limit={limit!r}"
        )
    path = _existing_file(path)
    pairs, malformed, number = [], [], 0
    # Read as bytes, so that one line of bad UTF-8 spoils only itself and
    # nothing but a line feed splits.
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            try:
                pair = _parse(line)
            except ValueError as error:
                malformed.append((number, str(error)))
                continue
            if pair:
                pairs.append(pair)
            if len(pairs) == limit:
                break
    if not pairs:
        problem = _summary(malformed[:1]) if malformed else "all blank"
        raise CorpusError(
            f"The corpus {path} has no usable line. "
            "Expected: lines of `source TAB target` in UTF-8. "
            f"Received: {number} lines" + (f", {problem}" if number else "")
        )
    if malformed:
        warnings.warn(
            f"{len(malformed)} malformed of {number} lines in the corpus "
            f"{path} were left out: {_summary(malformed[:3])}"
            + (", ..." if len(malformed) > 3 else ""),
            CorpusWarning,
            stacklevel=2,
        )
    return ParallelCorpus(pairs, malformed)


def source_key(text):
    """Reduces a sentence to what makes it the same sentence as another.

    Case, punctuation (Unicode category P, wherever it stands), the form of
    Unicode composition and the amount of white space make no difference.

    Args:
        text: String, a sentence.

    Returns:
        A string, equal for two sentences that count as the same.

    Example:

    ```python
    source_key("Hello!") == source_key("hello")  # True
    source_key("  I don't\tknow.")  # "i dont know"
    ```
    """
    text = unicodedata.normalize("NFC", text.casefold())
    kept = (c for c in text if not unicodedata.category(c).startswith("P"))
    return " ".join("".join(kept).split())


def split_by_source(pairs, dev_size, seed, key=source_key):
    """Shuffles pairs and splits them so that no source is on both sides.

    A source with several translations goes whole to one side: groups of pairs
    with the same `key(source)` are shuffled, and each goes to the held-out
    side if it still fits there, else to the training side. Where none fits,
    the smallest is held out all the same.

    Args:
        pairs: List of `(source, target)` tuples.
        dev_size: Non-negative integer below `len(pairs)`, the number of pairs
            to hold out. Fewer are held out only if no group left is small
            enough to fill the rest; one source with a single translation is
            enough to fill the last place.
        seed: Integer. The same pairs and seed give the same split.
        key: Function from a source to what identifies it. Defaults to
            `source_key`.

    Returns:
        A tuple `(train, dev)` of lists of pairs. Both are in random order.

    Raises:
        ValueError: If `dev_size` is not an integer in `[0, len(pairs))`.
        CorpusError: If there are pairs to hold out, and all have one source.

    Example:

    ```python
    pairs = [("hello", "नमस्ते"), ("Hello!", "नमस्कार"), ("help", "बचाओ")]
    train, dev = split_by_source(pairs, dev_size=1, seed=13)
    dev  # [("help", "बचाओ")]
    ```
    """
    by_source = {}
    for pair in pairs:
        by_source.setdefault(key(pair[0]), []).append(pair)
    groups = list(by_source.values())
    if dev_size and len(groups) < 2:
        raise CorpusError(
            "Pairs can be held out only where there are others: all have the "
            f"same source. Received: {len(pairs)} pairs, dev_size={dev_size}"
        )
    if not (isinstance(dev_size, int) and 0 <= dev_size < len(pairs)):
        raise ValueError(
            "`dev_size` must be an integer, at least 0 and less than the "
            f"number of pairs, {len(pairs)}. Received: dev_size={dev_size!r}"
        )
    rng = random.Random(seed)
    rng.shuffle(groups)
    if dev_size:
        dev_size = max(dev_size, min(map(len, groups)))
    train, dev = [], []
    for group in groups:
        fits = len(dev) + len(group) <= dev_size
        (dev if fits else train).extend(group)
    # Pairs of one source stand together until here.
    rng.shuffle(train)
    rng.shuffle(dev)
    return train, dev


def drop_overlap(pairs, held_out, key=source_key):
    """Drops the pairs whose source also stands in a held-out set.

    Args:
        pairs: List of `(source, target)` tuples, for instance more data to
            train on.
        held_out: List of `(source, target)` tuples that must stay unseen.
        key: Function from a source to what identifies it. Defaults to
            `source_key`.

    Returns:
        The list of the pairs that remain, in their order.

    Example:

    ```python
    more = [("Help!", "मदद!"), ("Jump!", "उछलो!")]
    drop_overlap(more, held_out=[("help", "बचाओ")])  # [("Jump!", "उछलो!")]
    ```
    """
    unseen = {key(source) for source, _ in held_out}
    return [pair for pair in pairs if key(pair[0]) not in unseen]


def drop_long(pairs, most_words):
    """Drops the pairs of which a side is too long.

    Args:
        pairs: List of `(source, target)` tuples.
        most_words: Positive integer, the most words of a side, as white space
            divides them.

    Returns:
        The list of the pairs that remain, in their order.

    Example:

    ```python
    drop_long([("a house", "một ngôi nhà"), ("sea", "biển")], most_words=2)
    # [("sea", "biển")]
    ```
    """
    return [
        pair
        for pair in pairs
        if all(len(text.split()) <= most_words for text in pair)
    ]


def _existing_file(path):
    path = pathlib.Path(path).expanduser()
    if path.is_dir():
        raise IsADirectoryError(
            "Expected a corpus file of `source TAB target` lines. "
            f"Received: the folder {path.absolute()}"
        )
    if not path.exists():
        raise FileNotFoundError(
            f"The corpus file {path.name!r} is missing. "
            f"Looked for: {path.absolute()}"
        )
    return path


def _parse(line):
    """Returns the pair in a line of bytes, or `None` if the line is blank."""
    try:
        text = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"invalid UTF-8: byte 0x{line[error.start]:02x} "
            f"at offset {error.start}"
        ) from error
    if "\r" in text:
        raise ValueError("carriage return inside the line")
    if "\t" not in text:
        if not text.strip():
            return None
        raise ValueError("no tab between source and target")
    source, target = (side.strip() for side in text.split("\t")[:2])
    if not source:
        raise ValueError("empty source")
    if not target:
        raise ValueError("empty target")
    return source, target


def _summary(malformed):
    return ", ".join(f"line {n} ({reason})" for n, reason in malformed)
