"""Corpora of one sentence per line, in three parts."""

import array
import gzip
import tarfile
from typing import Any
from typing import NamedTuple

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.reading.files import shards_in
from kerasrnn.data.reading.formats import is_table
from kerasrnn.data.reading.rows import name_of
from kerasrnn.data.reading.rows import read_values
from kerasrnn.data.reading.text_files import existing_path
from kerasrnn.data.reading.text_files import parsing
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.stored_rows import store_rows
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings
from kerasrnn.warning import warn

_FEW, _WORDS = 10, 100  # lines of a text that is cut, and words of the new
# The Penn Treebank as Mikolov prepared it.
_TREEBANK = tuple(f"ptb.{part}.txt" for part in ("train", "valid", "test"))
_ARCHIVE_FOLDER = "simple-examples/data"
_NUM_WORDS = 9_999  # without the end of a sentence, not in the files


class TextCorpus(NamedTuple):
    """The sentences of a corpus.

    Args:
        train: List of strings, the training set. Many are `StoredRows`, which
            are read like a list.
        validation: List of strings, the validation set.
        test: List of strings, the test set; `None` if there is none.
    """

    train: Strings
    validation: Strings
    test: Strings | None


def split_text_corpus(lines: Strings) -> TextCorpus:
    """Holds out the last tenth of the lines, at least one, for validation.

    Args:
        lines: List of at least two strings.

    Returns:
        A `TextCorpus` without a test set.

    Raises:
        CorpusError: If there are fewer than two lines.

    Example:

    >>> split_text_corpus(["one", "two", "three"])
    TextCorpus(train=['one', 'two'], validation=['three'], test=None)
    """
    if len(lines) < 2:
        raise CorpusError(
            "The text is too short to hold out a line for validation. "
            f"Expected: at least 2 lines with text. Received: {len(lines)} "
            f"line of {len(' '.join(lines).split())} words"
        )
    held_out = max(1, len(lines) // 10)
    return TextCorpus(lines[:-held_out], lines[-held_out:], None)


def read_text_corpus(
    path: PathLike | Any,
    validation: PathLike | Any | None = None,
    test: PathLike | Any | None = None,
    limit: int | None = None,
    text_column: str | int | None = None,
) -> TextCorpus:
    r"""Reads a corpus of one sentence per line, and splits it.

    Any text file works, gzipped as `.gz` or not, or a folder of files of one
    format, which are read one after another. There may be separate files for
    validation and test. Without a file for validation, `split_text_corpus`
    divides the lines. Without a file for test, `test` is `None`.

    From a table, the texts in one column are read, and each line of a text is a
    line of the corpus. Tables are files with the extensions `.csv`, `.tsv`,
    `.jsonl`, `.ndjson`, `.json`, `.parquet` and `.tmx`, all files if
    `text_column` is given, and data sets, DataFrames and lists of dicts.

    The Penn Treebank as Mikolov prepared it comes in three parts. It is read
    from a folder with `ptb.train.txt`, `ptb.valid.txt` and `ptb.test.txt`,
    from the path of one of these files, or from `simple-examples.tgz` without
    extracting it. Without `ptb.test.txt`, `test` is `None`. `ptb.train.txt`
    must have exactly the 10,000 types of published results: 9,999 words and
    the end of a sentence.

    Files are UTF-8, with or without a byte order mark, with LF or CRLF line
    ends. Only a line feed ends a line. White space around a line and blank
    lines are removed. A text of fewer than 10 lines and at least 1,000 words,
    such as text8, is cut into lines of 100 words, with a `CorpusWarning`.
    Another counts lines that are not UTF-8, which are left out, and another
    warns of a file for validation or test if most of its lines are in the
    training set.

    Args:
        path: String or path, the folder, archive or file to read; or a table
            in memory.
        validation: The same of the validation set, a file or a table.
        test: The same of the test set.
        limit: Positive integer, how many lines of the training set to keep:
            the first. Validation and test keep a tenth as many, at least one.
            Defaults to `None`, which keeps all.
        text_column: String, the column of tables with the texts, or its number
            from 1 if there is no header. Defaults to the first of `review`,
            `text` and `sentence` that exists.

    Returns:
        A `TextCorpus`, a named tuple of `train`, `validation` and `test`.

    Raises:
        CorpusError: If a file is empty, is not UTF-8 or not an archive, has
            too few lines to divide, or is a `ptb.train.txt` without exactly
            10,000 types; or if a table lacks the column. It is a `ValueError`.
        FileNotFoundError: If there is nothing at `path`, or no
            `ptb.train.txt` or `ptb.valid.txt` in it.
        ValueError: If `limit` is not a positive integer.

    Example:

    >>> lines = ["the red book", "", "the reader reads", "a blue book"]
    >>> pathlib.Path("corpus.txt").write_text("\n".join(lines))
    >>> corpus = read_text_corpus("corpus.txt")
    >>> corpus.train
    ['the red book', 'the reader reads']
    >>> corpus.validation, corpus.test
    (['a blue book'], None)
    """
    optional_positive_integer("limit", limit)
    parts = path, validation, test
    is_alone = validation is None and test is None and text_column is None
    if is_alone and not is_table(path) and _is_treebank(existing_path(path)):
        corpus = _read_treebank(existing_path(path))
    else:
        corpus = _read_files(parts, text_column)
    if limit is None:
        return corpus
    few = max(1, limit // 10)
    return TextCorpus(
        corpus.train[:limit],
        corpus.validation[:few],
        corpus.test and corpus.test[:few],
    )


def text_lines(source, column=None, argument="text_column"):
    """Returns the lines of a file of text, or of the texts of a table.

    They have no white space around them, and are not blank.

    Args:
        source: String or path; or a table in memory.
        column: String or integer, the column of the texts; `None` for a usual
            one.
        argument: String, the argument for another column, for messages;
            `None` if there is none.

    Raises:
        CorpusError: If there is no text.
    """
    rows, report = read_values(
        source, {"lines": column}, arguments={"lines": argument}
    )
    lines = store_rows(line for row in rows for line in row["lines"])
    if not lines:
        report.refuse_all("text", "lines of text, or a text in each row")
    report.warn()
    if is_table(source) or column:
        report.say(report.first_row, len(report.kept))
    return lines


def _read_files(sources, column):
    """Reads a corpus from one to three files or tables."""
    names = [name_of(source) for source in sources]
    train, validation, test = (
        None if source is None else _cut(text_lines(source, column), name)
        for source, name in zip(sources, names, strict=True)
    )
    if validation is not None:
        corpus = TextCorpus(train, validation, test)
    else:
        try:
            corpus = split_text_corpus(train)._replace(test=test)
        except CorpusError as error:
            raise CorpusError(f"{error}, in {names[0]}") from None
    for source, name, lines in zip(sources, names, corpus, strict=True):
        if source is not None and lines is not corpus.train:
            learnt = set(lines).intersection(corpus.train)
            copies = sum(line in learnt for line in lines)
            if copies > len(lines) / 2:
                warn(
                    f"{copies:,} of {len(lines):,} lines of {name} are also in "
                    "the training set: scores on them will be too high",
                    CorpusWarning,
                )
    return corpus


def _cut(lines, place):
    """Cuts a text that has hardly any line, as text8, into many.

    Otherwise a tenth of its lines could not be held out.
    """
    words = sum(len(line.split()) for line in lines[:_FEW])
    if len(lines) >= _FEW or words < _FEW * _WORDS:
        return lines
    cut = []
    for line in lines:
        words = line.split()
        starts = range(0, len(words), _WORDS)
        cut += [" ".join(words[start : start + _WORDS]) for start in starts]
    warn(
        f"The text {place} has {len(lines)} lines with text. They were cut "
        f"into {len(cut):,} lines of {_WORDS} words; a model learns that a "
        "line ends there",
        CorpusWarning,
    )
    return cut


# The Penn Treebank.


def _is_treebank(path):
    """Whether a path is a folder, an archive or one of Mikolov's files."""
    if path.is_dir():
        return not shards_in(path) or any(
            (path / x).exists() for x in _TREEBANK
        )
    return path.name in _TREEBANK or path.name.lower().endswith(
        (".tgz", ".tar.gz")
    )


def _read_treebank(path):
    """Reads the three parts of a folder, an archive, or beside a file."""
    if path.is_dir() or path.name in _TREEBANK:
        place = path if path.is_dir() else path.parent
        found = [place / name for name in _TREEBANK]
        files = {x.name: x.read_bytes() for x in found if x.is_file()}
    else:
        place, files = path / _ARCHIVE_FOLDER, _archive_files(path)
    if not {*_TREEBANK[:2]} <= {*files}:
        raise FileNotFoundError(
            "A file of the corpus is missing. "
            f"Looked for: {place / _TREEBANK[0]}. Expected: {_TREEBANK[0]!r} "
            f"and {_TREEBANK[1]!r}, and preferably {_TREEBANK[2]!r}. Received: "
            + (", ".join(map(repr, files)) or "none of them")
        )
    parts = []
    for name in _TREEBANK:
        lines = None
        if name in files:
            with parsing(place / name, "text in UTF-8", UnicodeDecodeError):
                text = files[name].decode("utf-8-sig")
            lines = list(filter(None, map(str.strip, text.split("\n"))))
            if not lines:
                raise CorpusError(
                    f"The corpus {place / name} is empty. Expected: lines of "
                    "text. Received: no line with text"
                )
        parts.append(lines)
    corpus = TextCorpus(*parts)
    words = {word for line in corpus.train for word in line.split()}
    if len(words) != _NUM_WORDS:
        raise CorpusError(
            f"{place / _TREEBANK[0]} is not the Penn Treebank as Mikolov "
            "prepared it; rename it if it is your own corpus. Expected: "
            f"exactly {_NUM_WORDS + 1:,} types, {_NUM_WORDS:,} words and the "
            f"end of a sentence. Received: {len(words) + 1:,} types, "
            f"{len(words):,} words and the end of a sentence"
        )
    return corpus


def _archive_files(path):
    """Returns the content of each of Mikolov's files that an archive has."""
    files = {}
    with (
        parsing(path, "a whole tar archive, compressed with gzip"),
        gzip.open(path) as stream,
        tarfile.open(fileobj=stream, mode="r:") as archive,
    ):
        for member in archive:
            folder, _, name = member.name.rpartition("/")
            is_wanted = folder.removeprefix("./") == _ARCHIVE_FOLDER
            if is_wanted and name in _TREEBANK and member.isfile():
                # ptb.train.txt has 5,101,618 bytes.
                files[name] = archive.extractfile(member).read(2**26)
        while stream.read(2**20):  # to the end, where the checksum is
            pass
    return files


def length_table(corpus: TextCorpus) -> dict[str, dict[str, float]]:
    """Counts the lines of a corpus and the words in them.

    Args:
        corpus: A `TextCorpus`.

    Returns:
        A dict from the name of each part of the corpus to a dict of numbers:
        `lines`; `tokens`, separated by white space; and `average`, `minimum`
        and `maximum`, the number of tokens in a line. A part without lines is
        left out.

    Example:

    >>> corpus = TextCorpus(["the red book", "hello"], ["a book"], None)
    >>> length_table(corpus)["train"]
    {'lines': 2, 'tokens': 4, 'average': 2.0, 'minimum': 1, 'maximum': 3}
    """
    table = {}
    for name, lines in corpus._asdict().items():
        if not lines:
            continue
        lengths = array.array("i", (len(line.split()) for line in lines))
        table[name] = {
            "lines": len(lengths),
            "tokens": sum(lengths),
            "average": sum(lengths) / len(lengths),
            "minimum": min(lengths),
            "maximum": max(lengths),
        }
    return table
