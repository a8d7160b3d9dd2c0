"""Folders and archives of texts by class, as tables of texts and labels."""

import itertools
import os

from kerasrnn.data.label_names import in_order
from kerasrnn.data.tables.archives import ARCHIVE_SUFFIXES
from kerasrnn.data.tables.labelled_folders import archive_files
from kerasrnn.data.tables.labelled_folders import collect
from kerasrnn.data.tables.labelled_folders import folder_files
from kerasrnn.data.tables.lines import existing_path
from kerasrnn.data.tables.records import is_dataset
from kerasrnn.data.tables.tables import Table


def is_of_files(source):
    """Whether a source is a folder or an archive of texts in classes."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = existing_path(source)
    if path.is_dir():
        return not is_dataset(path)
    return path.name.lower().endswith(ARCHIVE_SUFFIXES)


def read_classes(source, report):
    """Reads the texts of a folder or archive; returns what `collect` does."""
    path = existing_path(source)
    files = folder_files if path.is_dir() else archive_files
    return collect(files(path, report), report)


def class_table(source, report):
    """Opens the training set of a folder or archive as a `Table`."""
    report.unit = "text"
    train, _, _, films = read_classes(source, report)
    rows = (
        (
            number,
            {"text": text, "label": name, "group": (films or {}).get(text)},
        )
        for number, (text, name) in enumerate(in_turn(train), start=1)
    )
    return Table(["text", "label", *["group"] * bool(films)], rows)


def in_turn(texts):
    """Pairs of a text and its class, one of each class in turn.

    Args:
        texts: Dict from the names of classes to their texts.
    """
    pairs = itertools.zip_longest(
        *([(text, name) for text in texts[name]] for name in in_order(texts))
    )
    return [pair for pair in itertools.chain.from_iterable(pairs) if pair]
