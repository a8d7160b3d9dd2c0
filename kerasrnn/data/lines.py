"""Lines of text files: paths, encoding and malformed lines.

All readers of corpora use these functions, so a line means the same to all of
them: UTF-8, with or without a byte order mark, ended by LF or CRLF and by
nothing else. Files whose names end in `.gz` are unpacked while they are read.
"""

import codecs
import contextlib
import gzip
import numbers
import pathlib
import warnings
import zlib

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.typing import PathLike

DAMAGE = (gzip.BadGzipFile, zlib.error, EOFError)
_SAMPLE = 2**16  # bytes from which the encoding of a file is guessed
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class Report:
    """Counts the lines of a corpus, and collects the malformed ones.

    Args:
        corpus: String or path, the name of the corpus in messages.
        unit: String, the name of its items: line, row or text.

    Attributes:
        seen: Integer, how many items were read.
        malformed: List of `(place, reason)`. A place is the number of a line,
            counted from 1, or the name of a file.
    """

    def __init__(self, corpus, unit="line"):
        self.corpus = corpus
        self.unit = unit
        self.seen = 0
        self.malformed = []

    def add(self, place, reason):
        self.malformed.append((place, str(reason)))

    def first(self, most=3):
        """The first malformed places as a string, with their reasons."""
        return ", ".join(
            f"{place if isinstance(place, str) else f'{self.unit} {place}'} "
            f"({reason})"
            for place, reason in self.malformed[:most]
        ) + ", ..." * (len(self.malformed) > most)

    def warn(self):
        """Gives one warning if there are malformed items.

        It refers to the line that called the caller of this method.
        """
        if self.malformed:
            warnings.warn(
                f"{len(self.malformed)} malformed of {self.seen} {self.unit}s "
                f"in the corpus {self.corpus} were left out: {self.first()}",
                CorpusWarning,
                stacklevel=3,
            )


def check_limit(limit):
    """Raises `ValueError` if a limit is not `None` or a positive integer."""
    if limit is not None and not (
        isinstance(limit, numbers.Integral) and limit > 0
    ):
        raise ValueError(
            "`limit` must be a positive integer or `None`. "
            f"Received: limit={limit!r}"
        )


def existing_path(path: PathLike) -> pathlib.Path:
    """Returns a path with `~` expanded; raises an error if it is missing."""
    path = pathlib.Path(path).expanduser()
    if not path.exists():
        raise FileNotFoundError(
            f"The file {path.name!r} is missing. Looked for: {path.absolute()}"
        )
    return path


def existing_file(path: PathLike) -> pathlib.Path:
    """Returns the path of a file with `~` expanded; it must be a file."""
    path = existing_path(path)
    if path.is_dir():
        raise IsADirectoryError(
            f"Expected a file. Received: the folder {path.absolute()}"
        )
    return path


def byte_lines(path, report):
    """Yields `(number, line)`, the lines of a file as bytes, counted from 1.

    Lines keep their line feed. A byte order mark is removed from the first.

    Raises:
        CorpusError: If the beginning of the file is not UTF-8, or it is a
            damaged gzip file.
        FileNotFoundError: If it is missing.
        IsADirectoryError: If it is a folder.
    """
    with _opened(path) as file:
        for report.seen, line in enumerate(file, start=1):
            if report.seen == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            yield report.seen, line


def numbered_lines(path, report):
    """Yields `(number, line)` without line ends; reports undecodable lines."""
    for number, line in byte_lines(path, report):
        try:
            yield number, decode(line).rstrip("\r\n")
        except ValueError as error:
            report.add(number, error)


def all_lines(path):
    """Returns the lines of a file, without their line feeds.

    Raises:
        CorpusError: If the file is not UTF-8 text, or a damaged gzip file.
    """
    with _opened(path) as file:
        return split_lines(file.read(), path)


def split_lines(content, place):
    """Returns the lines in bytes, without their line feeds.

    Args:
        content: Bytes, with or without a byte order mark.
        place: String or path, the name of their source in messages.
    """
    _check_encoding(content[:_SAMPLE], place)
    try:
        text = decode(content)
    except ValueError as error:
        raise CorpusError(
            f"The corpus {place} is not UTF-8 text. Received: {error}"
        ) from error
    return text.removeprefix("\ufeff").removesuffix("\n").split("\n")


@contextlib.contextmanager
def _opened(path):
    """Opens a file as bytes, unpacking gzip. It may be a pipe."""
    path = existing_file(path)
    packed = path.suffix.lower() == ".gz"
    try:
        with gzip.open(path) if packed else open(path, "rb", _SAMPLE) as file:
            _check_encoding(file.peek(_SAMPLE), path)
            yield file
    except DAMAGE as error:
        raise CorpusError(
            f"The corpus {path} cannot be read. Expected: a whole gzip file. "
            f"Received: {error}"
        ) from error


def decode(content):
    """Decodes UTF-8; raises a `ValueError` that says what is wrong."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"invalid UTF-8: byte 0x{content[error.start]:02x} "
            f"at offset {error.start}"
        ) from error
    if "\0" in text:
        raise ValueError(f"not text: a NUL byte at offset {content.index(0)}")
    return text


def _check_encoding(sample, place):
    """Raises an error that says how to convert a file to UTF-8 and LF."""
    if encoding := _other_encoding(sample):
        raise CorpusError(
            f"The corpus {place} is {encoding}. Expected: UTF-8; convert it "
            f"with `iconv -f {encoding} -t UTF-8 FILE > NEW_FILE`. "
            f"Received: a file that begins with {sample[:8]!r}"
        )
    if b"\n" not in sample and b"\r" in sample.rstrip(b"\r"):
        raise CorpusError(
            f"The corpus {place} has carriage returns as line ends. "
            "Expected: line feeds; convert it with "
            "`tr '\\r' '\\n' < FILE > NEW_FILE`. "
            f"Received: a file that begins with {sample[:40]!r}"
        )


def _other_encoding(sample):
    for mark, encoding in _MARKS.items():
        if sample.startswith(mark):
            return encoding
    # Without a mark: text in UTF-16 has spaces and line ends, whose upper
    # byte is 0, while the lower byte of a character rarely is.
    upper = (sample[1::2].count(0), sample[::2].count(0))
    for zeros, others, name in zip(
        upper, reversed(upper), ("UTF-16LE", "UTF-16BE"), strict=True
    ):
        if zeros >= max(2, len(sample) // 50) and others <= zeros // 10:
            return name
    return None
