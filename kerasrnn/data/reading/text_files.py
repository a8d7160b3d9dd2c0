"""Lines of UTF-8 text files, or errors with advice on conversion.

All readers of corpora use these functions, so lines are the same for all of
them: only LF and CRLF end a line. A line may begin with a byte order mark, as
the first lines of concatenated files do. Files with the extension `.gz` are
decompressed.
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

_SAMPLE = 2**16  # bytes from which the format of a file is detected
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
# Beginnings of files that are not text, or not lines of sentences or cells:
# what they are, and what is expected instead.
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


def existing_path(path: PathLike) -> pathlib.Path:
    """Returns a path with `~` expanded; raises an error if missing."""
    path = pathlib.Path(path).expanduser()
    if not path.exists():
        raise FileNotFoundError(
            f"The file {path.name!r} is missing. Looked for: {path.absolute()}"
        )
    return path


def byte_lines(path, report):
    """Yields `(number, line)` of a file, lines as bytes, counted from 1.

    Lines include the line feed, but no byte order mark.

    Args:
        path: String or path.
        report: The `Report` that counts them in `seen`.

    Raises:
        CorpusError: If the beginning of the file is not UTF-8 text, or the file
            is damaged gzip.
        FileNotFoundError: If it is missing.
        IsADirectoryError: If it is a folder.
    """
    with opened(path) as file:
        _check_form(file.peek(_SAMPLE), path)
        for report.seen, line in enumerate(file, start=1):
            yield report.seen, line.removeprefix(codecs.BOM_UTF8)


def decoded_lines(lines, report):
    """Yields `(number, text)` without line ends; reports undecodable lines.

    Args:
        lines: Tuples `(number, line)` with lines as bytes, from `byte_lines`.
        report: The `Report` on the file.

    Yields:
        Tuples whose text is `None` for an undecodable line.
    """
    for report.seen, line in lines:
        text = None
        try:
            text = decode(line).rstrip("\r\n")
        except ValueError as error:
            report.add(report.seen, error)
        yield report.seen, text


def numbered_lines(lines, report):
    """The same without undecodable lines."""
    return (x for x in decoded_lines(lines, report) if x[1] is not None)


def all_lines(path):
    """Returns the lines of a file, without their line ends.

    Raises:
        CorpusError: If a line is not UTF-8, and as in `byte_lines`.
    """
    report = Report(path)
    lines = [
        text for _, text in numbered_lines(byte_lines(path, report), report)
    ]
    if report.malformed:
        report.refuse()
    return lines


@contextlib.contextmanager
def opened(path):
    """Opens a file or pipe as bytes, and decompresses gzip."""
    path = existing_path(path)
    if path.is_dir():
        raise IsADirectoryError(
            f"Expected a file. Received: the folder {path.absolute()}"
        )
    is_gzip = path.suffix.lower() == ".gz"
    damage = gzip.BadGzipFile, zlib.error, EOFError
    with (
        parsing(path, "a whole gzip file", damage),
        gzip.open(path) if is_gzip else open(path, "rb", _SAMPLE) as file,
    ):
        yield file


@contextlib.contextmanager
def parsing(path, expected, errors=Exception):
    """Converts the errors of a parser in a `with` block to `CorpusError`.

    Args:
        path: String or path, the name for the message.
        expected: String, the expected content.
        errors: Exception class, or a tuple of them. Defaults to all, because
            damaged files make libraries raise errors of any class.
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
    """Raises an error with advice if a file is not text."""
    received = f"Received: a file that begins with {sample[:40]!r}"
    text = sample.removeprefix(codecs.BOM_UTF8)
    is_json = re.search(r"(?i)\.(jsonl|ndjson|json)(\.gz)?$", str(place))
    for beginning, (what, expected) in _OTHERS.items():
        found = re.match(beginning, text, re.IGNORECASE)
        if found and not (what == "JSON" and is_json):
            raise CorpusError(
                f"The corpus {place} is {what}. Expected: {expected}. "
                f"{received}"
            )
    if encoding := _wide_encoding(sample):
        raise CorpusError(
            f"The corpus {place} is encoded in {encoding}. Expected: UTF-8; "
            f"convert it with `iconv -f {encoding} -t UTF-8 FILE > NEW_FILE`. "
            f"{received}"
        )
    if b"\n" not in sample and b"\r" in sample.rstrip(b"\r"):
        raise CorpusError(
            f"The corpus {place} has carriage returns as line ends. "
            "Expected: line feeds; convert it with "
            f"`tr '\\r' '\\n' < FILE > NEW_FILE`. {received}"
        )


def _wide_encoding(sample):
    """Detects UTF-16 and UTF-32; returns the name or `None`."""
    for mark, encoding in _MARKS.items():
        if sample.startswith(mark):
            return encoding
    # Without a byte order mark: in UTF-16, the upper byte of spaces and line
    # ends is 0, while lower bytes rarely are.
    zeros = [sample[start::2].count(0) for start in (1, 0)]
    for many, few, name in (*zeros, "UTF-16LE"), (*zeros[::-1], "UTF-16BE"):
        if many >= max(2, len(sample) // 50) and few <= many // 10:
            return name
    return None
