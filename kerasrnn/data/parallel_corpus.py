"""Reading a parallel corpus: sentences and their translations."""

import itertools
from typing import NamedTuple

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.lines import Report
from kerasrnn.data.lines import check_limit
from kerasrnn.data.lines import existing_path
from kerasrnn.data.lines import numbered_lines
from kerasrnn.data.tables import JSON_ENDS
from kerasrnn.data.tables import cell_text
from kerasrnn.data.tables import find_column
from kerasrnn.data.tables import format_end
from kerasrnn.data.tables import open_table
from kerasrnn.typing import PathLike

_NAMES = (("source", "target"), ("src", "tgt"))


class ParallelCorpus(NamedTuple):
    """The content of a parallel corpus.

    Args:
        pairs: List of `(source, target)` strings, in the order of the file.
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
) -> ParallelCorpus:
    r"""Reads a parallel corpus, in a format that its name determines.

    | `path`                           | format        | `source`, `target` |
    |----------------------------------|---------------|--------------------|
    | a pair, `("a.en", "a.de")`       | line by line  | ends of the names  |
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
    files for Anki. In a file that is read without names, the first line is a
    pair, not a header. A line is malformed if a side is empty, there is no
    tab, it contains a carriage return, or it is not UTF-8. Malformed lines
    are left out, recorded, and reported in one `CorpusWarning`.

    Args:
        path: String or path, or a pair of them.
        source: String or positive integer, the side to translate from, as in
            the table.
        target: String or positive integer, the side to translate to.
        limit: Positive integer, how many pairs to keep: the first. Defaults
            to `None`, which keeps all.

    Returns:
        A `ParallelCorpus`, a named tuple of `pairs` and `malformed`.

    Raises:
        CorpusError: If no pair is usable, the file is damaged or not UTF-8, a
            column is missing, or two files differ in their number of lines.
            It is a `ValueError`.
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
    check_limit(limit)
    if (source is None) != (target is None):
        raise ValueError(
            "`source` and `target` must be given both or neither. "
            f"Received: source={source!r}, target={target!r}"
        )
    rows, report = _open(path, source, target)
    pairs = []
    for number, row in rows:
        try:
            pairs.append((cell_text(row, "source"), cell_text(row, "target")))
        except ValueError as error:
            report.add(number, error)
        if len(pairs) == limit:
            break
    if not pairs:
        problem = report.first(1) if report.malformed else "all blank"
        raise CorpusError(
            f"The corpus {report.corpus} has no usable {report.unit}. "
            "Expected: lines of `source TAB target`, or the format of the "
            f"file's name. Received: {report.seen} {report.unit}s"
            + (f", {problem}" if report.seen else "")
        )
    report.warn()
    return ParallelCorpus(pairs, report.malformed)


def _open(path, source, target):
    """The rows of a corpus, `(number, {"source", "target"})`, and a report."""
    if isinstance(path, (tuple, list)):
        return _two_files(path, source, target)
    path = existing_path(path)
    report = Report(path)
    columns = (1, 2) if source is None else (source, target)
    numbers = list(map(str, columns))
    tabs = all(number.isdecimal() and int(number) for number in numbers)
    named = (*JSON_ENDS, ".csv", ".parquet")
    if tabs and not path.is_dir() and format_end(path) not in named:
        return _tab_rows(path, *map(int, numbers), report), report
    table = open_table(path, report)
    columns = _columns(table, source, target, report)
    rows = (
        (number, {"source": row.get(columns[0]), "target": row.get(columns[1])})
        for number, row in table.rows
    )
    return rows, report


def _columns(table, source, target, report):
    """The names of the columns of source and target."""
    if source is not None:
        names = {"source": str(source), "target": str(target)}
        return [
            find_column(table, [name], argument, report)
            for argument, name in names.items()
        ]
    if len(table.columns) == 2:
        return table.columns
    lower = [column.lower() for column in table.columns]
    for names in _NAMES:
        if all(name in lower for name in names):
            return [table.columns[lower.index(name)] for name in names]
    if not table.columns:
        return "source", "target"  # there are no rows
    raise CorpusError(
        f"The columns of source and target in the corpus {report.corpus} are "
        "unknown. Expected: two columns, or the arguments `source` and "
        "`target`. "
        f"Received: {table.columns!r:.200}"
    )


def _tab_rows(path, source, target, report):
    """The rows of `source TAB target` lines without a header."""
    for number, line in numbered_lines(path, report):
        sides = line.split("\t")
        if "\r" in line:
            report.add(number, "carriage return inside the line")
        elif len(sides) >= max(source, target):
            pair = sides[source - 1], sides[target - 1]
            yield number, dict(zip(("source", "target"), pair, strict=True))
        elif len(sides) > 1:
            report.add(number, f"only {len(sides)} columns")
        elif line.strip():
            report.add(number, "no tab between source and target")


def _two_files(paths, source, target):
    """The rows of two files that are parallel line by line."""
    paths = [existing_path(path) for path in paths]
    if len(paths) != 2 or paths[0] == paths[1]:
        raise CorpusError(
            "Source and target must be two files. "
            f"Received: {', '.join(map(str, paths))}"
        )
    if source is not None:
        ends = [format_end(path).removeprefix(".") for path in paths]
        names = list(map(str, (source, target)))
        if sorted(ends) != sorted(names):
            raise CorpusError(
                "`source` and `target` must be the ends of the names of the "
                f"two files, {ends[0]!r} and {ends[1]!r}. "
                f"Received: source={source!r}, target={target!r}"
            )
        paths = [paths[ends.index(name)] for name in names]
    report = Report(f"{paths[0]} and {paths[1]}")
    return _joined_rows(paths, report), report


def _is_of_pairs(lines):
    texts = [line for line in lines.values() if line.strip()]
    return bool(texts) and all("\t" in text for text in texts)


def _joined_rows(paths, report):
    sides = [Report(path) for path in paths]
    sources, targets = (
        dict(numbered_lines(path, side))
        for path, side in zip(paths, sides, strict=True)
    )
    for side, lines in zip(sides, (sources, targets), strict=True):
        if not (side.malformed or any(map(str.strip, lines.values()))):
            raise CorpusError(
                f"The corpus {side.corpus} is empty. Expected: a sentence in "
                f"each line. Received: {side.seen} lines, all blank"
            )
    if all(map(_is_of_pairs, (sources, targets))):
        raise CorpusError(
            f"The files {report.corpus} have a tab in every line. Expected: a "
            "file of sources and a file of targets; or one file of pairs, "
            "such as `cat A.tsv B.tsv > ALL.tsv` joins. Received: two files "
            "of pairs"
        )
    report.seen = sides[0].seen
    if sides[0].seen != sides[1].seen:
        raise CorpusError(
            f"The files {report.corpus} are not parallel line by line. "
            "Expected: as many lines in both. "
            f"Received: {sides[0].seen:,} and {sides[1].seen:,} lines"
        )
    broken = dict(itertools.chain(*(side.malformed for side in sides)))
    for number in range(1, report.seen + 1):
        pair = sources.get(number, ""), targets.get(number, "")
        if number in broken:
            report.add(number, broken[number])
        elif "\r" in "".join(pair):
            report.add(number, "carriage return inside the line")
        elif any(line.strip() for line in pair):
            yield number, dict(zip(("source", "target"), pair, strict=True))
