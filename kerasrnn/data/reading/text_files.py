"""Lines of text files: UTF-8, or an error that says how to convert them.

All readers of corpora use these functions, so a line means the same to all of
them: it is ended by LF or CRLF and by nothing else. It may begin with a byte
order mark, as the first line of each of several files that were joined. Files
with the extension `.gz` are decompressed while they are read.
"""

import codecs
import contextlib
import gzip
import pathlib
import re
import zlib

from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.report import decode
from kerasrnn.typing import PathLike

DAMAGE = (gzip.BadGzipFile, zlib.error, EOFError)
_SAMPLE = 2**16  # bytes from which the form of a file is told
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
# How files begin that are not text, or no lines of sentences or cells: what
# they are, and what can be read.
_OTHERS = {
    rb"\x1f\x8b": (
        "compressed with gzip",
        "text, compressed once, with the file extension .gz",
    ),
    rb"PK\x03\x04": ("compressed with zip, as spreadsheets are", "text"),
    rb"BZh[1-9]1AY&SY": ("compressed with bzip2", "text, perhaps in gzip"),
    rb"\xfd7zXZ\0": ("compressed with xz", "text, perhaps in gzip"),
    rb"\(\xb5/\xfd": ("compressed with zstd", "text, perhaps in gzip"),
    rb"PAR1": ("parquet", "text; or a table with the extension .parquet"),
    rb"<\?xml |<tmx|<xliff|<!DOCTYPE": (
        "XML",
        "lines of text; or a translation memory with the extension .tmx",
    ),
    rb"(?:[^\n]*\n){0,9}<(?:(?:seg|doc|srcset|refset)\s|url>[^\n]*</url>)": (
        "marked up, as test sets of WMT are",
        "sentences without markup, one in each line",
    ),
    rb"\s*+(?:\[\s*+)?\{\s*\"[^\"\n]*\"\s*:[^\t\n]*(?:\n|\Z)": (
        "JSON",
        "the file extension .jsonl or .json",
    ),
}
_JSON = re.compile(r".*\.(jsonl|ndjson|json)(\.gz)?", re.IGNORECASE)


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

    Lines keep their line feed, but no byte order mark.

    Args:
        path: String or path.
        report: The `Report` whose `seen` counts them.

    Raises:
        CorpusError: If the file is not UTF-8 or not text, as its beginning
            tells, or a damaged gzip file.
        FileNotFoundError: If it is missing.
        IsADirectoryError: If it is a folder.
    """
    with opened(path) as file:
        _check_form(file.peek(_SAMPLE), path)
        for report.seen, line in enumerate(file, start=1):
            yield report.seen, line.removeprefix(codecs.BOM_UTF8)


def numbered_lines(path, report):
    """Yields `(number, line)` without line ends; reports undecodable lines."""
    return (x for x in decoded_lines(path, report) if x[1] is not None)


def decoded_lines(path, report):
    """The same, with `None` in the place of an undecodable line."""
    for number, line in byte_lines(path, report):
        text = None
        try:
            text = decode(line).rstrip("\r\n")
        except ValueError as error:
            report.add(number, error)
        yield number, text


def all_lines(path):
    """Returns the lines of a file, without their line ends.

    Raises:
        CorpusError: If a line is not UTF-8; and as `byte_lines` does.
    """
    report = Report(path)
    lines = [line for _, line in numbered_lines(path, report)]
    if report.malformed:
        report.refuse()
    return lines


@contextlib.contextmanager
def opened(path):
    """Opens a file as bytes, and decompresses gzip. It may be a pipe."""
    path = existing_file(path)
    is_gzip = path.suffix.lower() == ".gz"
    with (
        parsing(path, "a whole gzip file", DAMAGE),
        gzip.open(path) if is_gzip else open(path, "rb", _SAMPLE) as file,
    ):
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


def _check_form(sample, place):
    """Raises an error that says what to do about a file that is not text."""
    received = f"Received: a file that begins with {sample[:40]!r}"
    text = sample.removeprefix(codecs.BOM_UTF8)
    is_json = _JSON.fullmatch(str(place))
    for beginning, (what, expected) in _OTHERS.items():
        found = re.match(beginning, text, re.IGNORECASE)
        if found and not (what == "JSON" and is_json):
            raise CorpusError(
                f"The corpus {place} is {what}. Expected: {expected}. "
                f"{received}"
            )
    if encoding := _wide_encoding(sample):
        raise CorpusError(
            f"The corpus {place} is {encoding}. Expected: UTF-8; convert it "
            f"with `iconv -f {encoding} -t UTF-8 FILE > NEW_FILE`. {received}"
        )
    if b"\n" not in sample and b"\r" in sample.rstrip(b"\r"):
        raise CorpusError(
            f"The corpus {place} has carriage returns as line ends. "
            "Expected: line feeds; convert it with "
            f"`tr '\\r' '\\n' < FILE > NEW_FILE`. {received}"
        )


def _wide_encoding(sample):
    """The name of an encoding of two or four bytes; `None` for others."""
    for mark, encoding in _MARKS.items():
        if sample.startswith(mark):
            return encoding
    # Without a mark: text in UTF-16 has spaces and line ends, whose upper
    # byte is 0, while the lower byte of a character rarely is.
    zeros = [sample[start::2].count(0) for start in (1, 0)]
    for many, few, name in (*zeros, "UTF-16LE"), (*zeros[::-1], "UTF-16BE"):
        if many >= max(2, len(sample) // 50) and few <= many // 10:
            return name
    return None
