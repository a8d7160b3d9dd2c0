"""Lines of text files, and where they are.

All readers of corpora use these functions, so a line means the same to all of
them: UTF-8, ended by LF or CRLF and by nothing else. It may begin with a byte
order mark, as the first line of each of several files that were joined. Files
with the extension `.gz` are decompressed while they are read.
"""

import codecs
import contextlib
import gzip
import pathlib
import zlib

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.tables.encodings import SAMPLE
from kerasrnn.data.tables.encodings import check_encoding
from kerasrnn.data.tables.encodings import decode
from kerasrnn.data.tables.foreign import refuse_foreign
from kerasrnn.typing import PathLike

DAMAGE = (gzip.BadGzipFile, zlib.error, EOFError)


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


def byte_lines(path, report, may_be=None):
    """Yields `(number, line)`, the lines of a file as bytes, counted from 1.

    Lines keep their line feed, but no byte order mark.

    Args:
        path: String or path.
        report: The `Report` whose `seen` counts them.
        may_be: String, a form that `refuse_foreign` is not to refuse.

    Raises:
        CorpusError: If the beginning of the file is not UTF-8, or it is a
            damaged gzip file.
        FileNotFoundError: If it is missing.
        IsADirectoryError: If it is a folder.
    """
    with opened(path, may_be=may_be) as file:
        for report.seen, line in enumerate(file, start=1):
            yield report.seen, line.removeprefix(codecs.BOM_UTF8)


def numbered_lines(path, report, may_be=None):
    """Yields `(number, line)` without line ends; reports undecodable lines."""
    for number, line in byte_lines(path, report, may_be):
        if (text := _decoded(line, report)) is not None:
            yield number, text.rstrip("\r\n")


def _decoded(line, report):
    """The text of a line; `None` if it is reported."""
    try:
        return decode(line)
    except ValueError as error:
        report.add(report.seen, error)
        return None


def all_lines(path):
    """Returns the lines of a file, without their line feeds.

    Raises:
        CorpusError: If the file is not UTF-8 text, or a damaged gzip file.
    """
    with opened(path) as file:
        return split_lines(file.read(), path)


def split_lines(content, place):
    """Returns the lines in bytes, without their line feeds.

    Args:
        content: Bytes, with or without a byte order mark.
        place: String or path, the name of their source in messages.
    """
    check_encoding(content[:SAMPLE], place)
    try:
        text = decode(content)
    except ValueError:
        report, parts = Report(place), content.removesuffix(b"\n").split(b"\n")
        for report.seen, line in enumerate(parts, start=1):
            _decoded(line, report)
        report.refuse()
    lines = text.removesuffix("\n").split("\n")
    return [line.removeprefix("\ufeff") for line in lines]


@contextlib.contextmanager
def opened(path, is_text=True, may_be=None):
    """Opens a file as bytes, and decompresses gzip. It may be a pipe.

    Args:
        path: String or path.
        is_text: Whether to check its encoding and form; XML says its own.
        may_be: String, a form that `refuse_foreign` is not to refuse.
    """
    path = existing_file(path)
    is_gzip = path.suffix.lower() == ".gz"
    with (
        parsing(path, "a whole gzip file", DAMAGE),
        gzip.open(path) if is_gzip else open(path, "rb", SAMPLE) as file,
    ):
        if is_text:
            check_encoding(file.peek(SAMPLE), path)
            refuse_foreign(file.peek(SAMPLE), path, may_be)
        yield file


@contextlib.contextmanager
def parsing(path, expected, errors=Exception):
    """Turns the errors of a parser that the block calls into `CorpusError`.

    Args:
        path: String or path, the name of what is parsed in the message.
        expected: String, what it should be.
        errors: Exception class, or a tuple of them. Defaults to all: damaged
            files make libraries raise errors of any class.
    """
    try:
        yield
    except CorpusError:
        raise
    except errors as error:
        shown = " ".join(str(error).split()) or type(error).__name__
        raise CorpusError(
            f"The corpus {path} cannot be read. Expected: {expected}. "
            f"Received: {shown}"
        ) from error
