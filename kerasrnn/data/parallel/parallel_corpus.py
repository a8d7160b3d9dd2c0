"""Reading a parallel corpus: sentences and their translations."""

import os
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.parallel.guided_alignment import alignments_of
from kerasrnn.data.tables.line_pairs import column_names
from kerasrnn.data.tables.lines import existing_path
from kerasrnn.data.tables.rows import finish
from kerasrnn.data.tables.rows import read_columns
from kerasrnn.data.tables.tables import RECORD_SUFFIXES
from kerasrnn.data.tables.tables import format_suffix
from kerasrnn.data.tables.tables import is_number
from kerasrnn.typing import PathLike


class ParallelCorpus(NamedTuple):
    """The content of a parallel corpus.

    Args:
        pairs: List of `(source, target)` strings, in the order of the file;
            of `(source, target, alignment)` if there are alignments.
        malformed: List of `(number, reason)`, the lines or rows, counted from
            1, that are neither blank nor a pair.
    """

    pairs: list[tuple[str, str]]
    malformed: list[tuple[int, str]]


def read_parallel_corpus(
    path: PathLike | tuple[PathLike, PathLike] | list[PathLike],
    source: str | int | None = None,
    target: str | int | None = None,
    limit: int | None = None,
    alignments: PathLike | None = None,
    arguments: tuple[str, str] = ("source", "target"),
) -> ParallelCorpus:
    r"""Reads a parallel corpus, in a format that its name determines.

    | `path`                           | format        | `source`, `target` |
    |----------------------------------|---------------|--------------------|
    | a pair, `("a.en", "a.de")`       | line by line  | file extensions    |
    | `.csv`                           | with a header | names of columns   |
    | `.jsonl`, `.ndjson`, `.json`     | JSON lines    | keys               |
    | `.parquet`                       | parquet       | names of columns   |
    | a folder                         | `datasets`    | names of columns   |
    | any other, names given           | with a header | names of columns   |
    | any other, numbers or none given | tabs          | numbers from 1     |

    All but the folder and parquet may be gzipped, as `.csv.gz`. Swap `source`
    and `target` for the other direction. By default they are the first and
    the second file or column; in a table with more columns, those named
    `source` and `target` or `src` and `tgt`. A folder must be written by
    `save_to_disk` of Hugging Face `datasets`, with one split. In a record
    `{"translation": {"en": ..., "de": ...}}`, the languages are the columns.

    Text is UTF-8, with or without a byte order mark, with LF or CRLF line
    ends; only a line feed ends a line, and U+2028 stays part of the sentence.
    White space around a sentence is removed; nothing else is changed. Blank
    lines are ignored, and so are further columns, such as the attribution in
    files for Anki, which some rows may lack. Of two files with `<seg>`
    elements, as of WMT, the segments are the lines; lines of markup, such as
    `<url>...</url>` of IWSLT, are left out with a `CorpusWarning`.

    In a file that is read without names, the first line is a pair, not a
    header. A line is malformed if a side is empty, it has more columns than
    most (with a header: more or fewer than that), it contains a carriage
    return, or it is not UTF-8. Malformed lines are left out, recorded, and
    reported in one `CorpusWarning`.

    Args:
        path: String or path, or a pair of them.
        source: String or positive integer, the side to translate from, as in
            the table.
        target: String or positive integer, the side to translate to.
        limit: Positive integer, how many pairs to keep: the first. Defaults
            to `None`, which keeps all.
        alignments: String or path of a file of word alignments, a line for
            each of the corpus, such as `0-0 1-2`, which links the first words
            and the second to the third. Each pair then has the line as a third
            string, for `translation_batches`.
        arguments: Tuple, what the caller calls `source` and `target`, for
            messages.

    Returns:
        A `ParallelCorpus`, a named tuple of `pairs` and `malformed`.

    Raises:
        CorpusError: If no pair is usable, or most would be left out, as in
            `read_rows`; if the file is damaged or not UTF-8, a column is
            missing, two files differ in their number of lines, or the
            alignments do not fit. It is a `ValueError`.
        FileNotFoundError: If there is no such file.
        IsADirectoryError: If a folder is not a data set, or is one of two
            files.
        ImportError: If parquet or `datasets` need a library that is missing.
        ValueError: If `limit` is not a positive integer, or only one of
            `source` and `target` is given.

    Example:

    >>> lines = ["Hello!\tनमस्ते!", "Who knows?\tकिसे पता?"]
    >>> pathlib.Path("corpus.tsv").write_text("\n".join(lines), "utf-8")
    >>> read_parallel_corpus("corpus.tsv").pairs
    [('Hello!', 'नमस्ते!'), ('Who knows?', 'किसे पता?')]
    >>> read_parallel_corpus("corpus.tsv", source=2, target=1, limit=1).pairs
    [('नमस्ते!', 'Hello!')]
    >>> row = {"de": "Guten Tag!", "en": "Hello!"}
    >>> pathlib.Path("opus.jsonl").write_text(json.dumps(row))
    >>> read_parallel_corpus("opus.jsonl", source="de", target="en").pairs
    [('Guten Tag!', 'Hello!')]
    """
    optional_positive_integer("limit", limit)
    if (source is None) != (target is None):
        raise ValueError(
            "`source` and `target` must be given both or neither. "
            f"Received: source={source!r}, target={target!r}"
        )
    columns = {"source": source, "target": target}
    delimiter = None
    if _is_of_lines(path, source, target):
        delimiter = "\t"
        columns = {"source": source or 1, "target": target or 2}
    named = dict(zip(columns, arguments, strict=True))
    rows = read_columns(path, columns, limit, named, delimiter=delimiter)
    report = rows.report
    if not len(rows):
        report.refuse_all(
            report.unit,
            "lines of `source TAB target`, or the format of the file's name",
        )
    finish(rows)
    pairs: list[Any] = list(zip(rows["source"], rows["target"], strict=True))
    if alignments is not None:
        links = alignments_of(alignments, pairs, report, limit)
        pairs = [(*pair, line) for pair, line in zip(pairs, links, strict=True)]
    return ParallelCorpus(pairs, report.malformed)


def language_names(
    train: Sequence[PathLike], source: str | None, target: str | None
) -> list[str]:
    """Returns what the columns of a parallel corpus are called.

    Most often these are its languages.

    Args:
        train: List of a path, of a file of pairs; or of two paths, of a file
            of sources and one of targets.
        source: String, the column to translate from; or `None`.
        target: String, the column to translate to; or `None`.

    Returns:
        List of the names of source and target; empty if they have none.

    Example:

    >>> language_names(["pairs.csv"], "german", "english")
    ['german', 'english']
    >>> language_names(["a.de", "a.en"], None, None)
    ['de', 'en']
    >>> language_names(["pairs.tsv"], "2", "1")
    []
    """
    names = [source, target]
    if source is None and len(train) == 2:
        names = column_names(train)
    found = [name for name in names if name and not is_number(name)]
    return found if len(found) == 2 else []


def _is_of_lines(path, source, target):
    """Whether a file has `source TAB target` lines without a header."""
    if not isinstance(path, str | os.PathLike):
        return False
    numbers = source is None or is_number(source) and is_number(target)
    named = format_suffix(path) in (".csv", *RECORD_SUFFIXES)
    return numbers and not named and not existing_path(path).is_dir()
