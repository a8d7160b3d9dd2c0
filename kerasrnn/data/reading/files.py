"""Tables of several files: two that are parallel, or a folder of classes."""

import itertools
import re

from kerasrnn.data.reading.cells import in_order
from kerasrnn.data.reading.table import Table
from kerasrnn.data.reading.text_files import existing_path
from kerasrnn.data.reading.text_files import numbered_lines
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.report import decode


def file_format(path):
    """The extension that determines a format, such as `.csv`, without `.gz`."""
    name = str(path).lower().removesuffix(".gz").replace("\\", "/")
    name = name.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else ""


# Two files, line by line.


def line_table(paths, report):
    """Opens two files, parallel line by line, as a table of two columns.

    The file extensions are the names of the columns if both files have one,
    such as `a.en` and `a.de`, and these differ; otherwise they are numbers.

    Args:
        paths: Sequence of two strings or paths.
        report: The `Report` that bad lines are added to.

    Raises:
        CorpusError: If these are not two files, equally long, of which not
            both have a tab in every line.
    """
    paths = [existing_path(path) for path in paths]
    if len(paths) != 2 or paths[0] == paths[1]:
        raise CorpusError(
            "Source and target must be two files. "
            f"Received: {', '.join(map(str, paths))}"
        )
    report.corpus = f"{paths[0]} and {paths[1]}"
    columns = column_names(paths)
    return Table(columns, _joined_rows(paths, columns, report))


def column_names(paths):
    """Returns the file extensions of two files; "1" and "2" without."""
    names = [file_format(path).removeprefix(".") for path in paths]
    return names if all(names) and names[0] != names[1] else ["1", "2"]


def _joined_rows(paths, columns, report):
    sides = [Report(path) for path in paths]
    texts = []
    for side in sides:
        lines = dict(numbered_lines(side.corpus, side))
        texts.append([lines.get(n, "") for n in range(1, side.seen + 1)])
        side.check_encoding()
        if not (side.malformed or any(map(str.strip, texts[-1]))):
            side.refuse_all("sentence", "one in each line")
    if all(all("\t" in x for x in lines if x.strip()) for lines in texts):
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
    for number, pair in enumerate(zip(*texts, strict=True), start=1):
        if "\r" in "".join(pair):
            broken[number] = "carriage return inside the line"
        if number in broken:
            report.add(number, broken[number])
        elif any(line.strip() for line in pair):
            yield number, dict(zip(columns, pair, strict=True))


# A folder with a folder of texts for each class.


def class_table(path, report):
    """Opens a folder with a folder of texts for each class.

    The texts of a class are its `.txt` files; if it has none, those without an
    extension, as in 20 Newsgroups. All else in it is reported, and links, which
    may lead anywhere. Texts are in the order of the number at the beginning of
    the file name, one of each class in turn.

    Args:
        path: A `pathlib.Path`, of a folder.
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
    """The files of texts in the folder of a class, in order."""
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
    """Yields the texts of files, with the names of their folders."""
    for number, file in enumerate(files, start=1):
        report.seen += 1
        try:
            text = decode(file.read_bytes()).removeprefix("\ufeff")
        except ValueError as error:
            report.add(f"{file.parent.name}/{file.name}", error)
        else:
            yield number, {"text": text, "label": file.parent.name}


def _file_order(path):
    """Sort key of a file such as `12_9.txt`: its first number, 12."""
    number = re.match(r"\d{1,18}", path.name, re.ASCII)
    return (int(number[0]) if number else 10**18), path.name
