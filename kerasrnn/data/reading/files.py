"""Tables of several files: parallel files, or a folder of classes."""

import itertools
import re

from kerasrnn.data.reading.cells import in_order
from kerasrnn.data.reading.table import Table
from kerasrnn.data.reading.text_files import byte_lines
from kerasrnn.data.reading.text_files import decoded_lines
from kerasrnn.data.reading.text_files import existing_path
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.report import decode


def file_format(path):
    """Returns the extension of the format, such as `.csv`, without `.gz`."""
    name = str(path).lower().removesuffix(".gz").replace("\\", "/")
    name = name.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else ""


# Two files, line by line.


def line_table(paths, report):
    """Opens two line-parallel files as a table with two columns.

    The columns are named by the file extensions if both files have different
    ones, such as `a.en` and `a.de`. Otherwise they are numbered.

    Args:
        paths: Sequence of two strings or paths.
        report: The `Report` that bad lines are added to.

    Raises:
        CorpusError: If these are not two files with the same number of lines,
            or both have a tab in every line.
    """
    paths = [existing_path(path) for path in paths]
    if len(paths) != 2 or paths[0] == paths[1]:
        raise CorpusError(
            "Source and target must be two files. "
            f"Received: {', '.join(map(str, paths))}"
        )
    report.corpus = f"{paths[0]} and {paths[1]}"
    columns = column_names(paths)
    rows = _joined_rows(paths, columns, report)
    return Table(columns, rows, is_checked_at_end=True)


def column_names(paths):
    """Returns the file extensions of two files; "1" and "2" without."""
    names = [file_format(path).removeprefix(".") for path in paths]
    return names if all(names) and names[0] != names[1] else ["1", "2"]


def _joined_rows(paths, columns, report):
    sides = [Report(path) for path in paths]
    have_text, have_tabs = [False, False], [True, True]
    both = (decoded_lines(byte_lines(x.corpus, x), x) for x in sides)
    rows = itertools.zip_longest(*both, fillvalue=(0, ""))
    for report.seen, pair in enumerate(rows, start=1):
        texts = [text or "" for _, text in pair]
        for i, text in enumerate(texts):
            have_text[i] |= bool(text.strip())
            have_tabs[i] &= "\t" in text or not text.strip()
        broken = [
            side.malformed[-1][1]
            for side, (_, text) in zip(sides, pair, strict=True)
            if text is None
        ]
        if "\r" in "".join(texts):
            report.add(report.seen, "carriage return inside the line")
        elif broken:
            report.add(report.seen, broken[-1])
        elif any(map(str.strip, texts)):
            yield report.seen, dict(zip(columns, texts, strict=True))
    for side, has_text in zip(sides, have_text, strict=True):
        side.check_encoding()
        if not (side.malformed or has_text):
            side.refuse_all("sentence", "one in each line")
    if all(have_tabs):
        raise CorpusError(
            f"The files {report.corpus} have a tab in every line. Expected: a "
            "file of sources and a file of targets, or one file of pairs, such "
            "as from `cat A.tsv B.tsv > ALL.tsv`. Received: two files of pairs"
        )
    if sides[0].seen != sides[1].seen:
        raise CorpusError(
            f"The files {report.corpus} are not parallel. Expected: the same "
            f"number of lines in both. Received: {sides[0].seen:,} and "
            f"{sides[1].seen:,} lines"
        )


# A folder of shards.


class _ShardReport(Report):
    """The report on one of several files, which the one on all has, too."""

    def __init__(self, path, whole):
        super().__init__(path)
        self._whole = whole

    def add(self, place, reason):
        super().add(place, reason)
        self._whole.add(f"{self.corpus.name}, {self.unit} {place}", reason)


def shards_in(path):
    """The files of a folder in order, if they have one format."""
    hidden = (".", "_")
    files = [x for x in path.iterdir() if not x.name.startswith(hidden)]
    alike = len({file_format(x) for x in files}) == 1
    return sorted(files) if alike and all(x.is_file() for x in files) else []


def shard_table(files, report, open_file):
    """Opens files, one after another, as a table with the columns of the first.

    Args:
        files: List of paths.
        report: The `Report` that bad rows are added to.
        open_file: Function from a path and a report to a `Table`.
    """
    first = open_file(files[0], Report(files[0]))

    def rows():
        for file in files:
            own, before = _ShardReport(file, report), report.seen
            for number, row in open_file(file, own).rows:
                report.seen = before + own.seen
                yield before + number, row
            report.unit, report.seen = own.unit, before + own.seen
            report.notes += own.notes

    return first._replace(rows=rows())


# A folder with a folder of texts for each class.


def class_table(path, report):
    """Opens a folder with a sub-folder of texts for each class.

    The texts of a class are its `.txt` files, or, if there are none, files
    without an extension, as in 20 Newsgroups. Other files, and links, which may
    lead anywhere, are reported. Texts are ordered by the number at the start of
    the file name, alternating between classes.

    Args:
        path: A `pathlib.Path`, the folder.
        report: The `Report` that bad files are added to.
    """
    report.unit = "text"
    files = {
        kind.name: _texts_in(kind, report)
        for kind in path.iterdir()
        if kind.is_dir() and not kind.name.startswith(".")
    }
    in_turn = itertools.zip_longest(*(files[name] for name in in_order(files)))
    return Table(
        ["text", "label"],
        _texts(filter(None, itertools.chain(*in_turn)), report),
    )


def _texts_in(folder, report):
    """Returns the text files in the folder of a class, in order."""
    found = [x for x in folder.iterdir() if not x.name.startswith(".")]
    suffix = ".txt" * any(x.suffix.lower() == ".txt" for x in found)
    files = []
    for file in sorted(found, key=_file_order):
        is_text = file.suffix.lower() == suffix and file.is_file()
        if is_text and not (file.is_symlink() or folder.is_symlink()):
            files.append(file)
        else:
            report.seen += 1
            place = f"{folder.name}/{file.name}"
            report.add(place, f"a link, or not a {suffix or '.txt'} file")
    if not files:
        report.notes.append(f"its class {folder.name!r} has no .txt file")
    return files


def _texts(files, report):
    """Yields the texts of files with the names of their folders."""
    for number, file in enumerate(files, start=1):
        report.seen += 1
        try:
            text = decode(file.read_bytes()).removeprefix("\ufeff")
        except ValueError as error:
            report.add(f"{file.parent.name}/{file.name}", error)
        else:
            yield number, {"text": text, "label": file.parent.name}


def _file_order(path):
    """Returns the sort key of a file such as `12_9.txt`: the number 12."""
    number = re.match(r"\d{1,18}", path.name, re.ASCII)
    return (int(number[0]) if number else 10**18), path.name
