"""Reading texts with labels, of any number of classes."""

import itertools
from typing import NamedTuple

from kerasrnn.data.archives import ARCHIVE_ENDS
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.labelled_folders import archive_files
from kerasrnn.data.labelled_folders import collect
from kerasrnn.data.labelled_folders import folder_files
from kerasrnn.data.labelled_texts import LabelledTexts
from kerasrnn.data.labelled_texts import select
from kerasrnn.data.lines import Report
from kerasrnn.data.lines import check_limit
from kerasrnn.data.lines import existing_path
from kerasrnn.data.tables import cell_text
from kerasrnn.data.tables import find_column
from kerasrnn.data.tables import is_dataset
from kerasrnn.data.tables import open_table
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings

_TEXT_COLUMNS = ("review", "text", "sentence")
_LABEL_COLUMNS = ("sentiment", "label")


class LabelledCorpus(NamedTuple):
    """The texts of a labelled corpus.

    Args:
        train: `LabelledTexts` of the training part.
        test: `LabelledTexts` of the test part; `None` if there is none.
        unlabelled: List of strings, texts without a label.
        label_names: List of strings, the names of the labels 0, 1, ...
        groups: Dict from texts, with or without a label, to what they belong
            to, such as the film that a review is about, or its author. `None`
            if that is unknown.
    """

    train: LabelledTexts
    test: LabelledTexts | None
    unlabelled: list[str]
    label_names: list[str]
    groups: dict[str, str] | None = None

    def groups_of(self, texts: Strings) -> list[str]:
        """The group of each text; one without a group is its own."""
        groups = self.groups or {}
        return [groups.get(text, text) for text in texts]


def read_labelled_corpus(
    path: PathLike,
    text_column: str | None = None,
    label_column: str | None = None,
    limit: int | None = None,
    label_names: Strings | None = None,
    test_path: PathLike | None = None,
    group_column: str | None = None,
) -> LabelledCorpus:
    r"""Reads texts with labels, in a format that the path determines.

    * A folder has a sub-folder for each class, with a text in each of its
      `.txt` files; or such folders in `train` and `test`. `train/unsup` has
      texts without a label. A folder written by `save_to_disk` of Hugging
      Face `datasets` is a table.
    * `.tgz` and `.tar.gz` are the Large Movie Review Dataset of Maas et al.,
      `aclImdb_v1.tar.gz`, which is read without unpacking it; its folder
      `aclImdb` works too. Without `test/`, `test` is `None`. The groups are
      the films, from `train/urls_pos.txt` and so on; films that share a
      review, such as a series and its episodes, are one.
    * `.jsonl`, `.ndjson` and `.json` are JSON lines, one object each;
      `.parquet` is a parquet file.
    * Any other file is a table with a header. Columns are separated by tabs,
      commas or semicolons, and cells may be quoted with `"`.

    JSON lines and tables of text may be gzipped, as `.csv.gz`. The rows of a
    table are the training part, in their order. The texts of a folder or
    archive are ordered by the number at the beginning of their file name, one
    of each class in turn.

    The names of the classes are numbered in alphabetical order (`neg` is 0
    and `pos` 1), or by value if all are integers. Texts are UTF-8, and white
    space around them is removed. A text that is empty or not UTF-8, and a row
    without a label or with a wrong number of columns, is left out and
    reported in one `CorpusWarning`. So is one whose group is missing where
    others have one.

    Args:
        path: String or path, the file or folder to read.
        text_column: String, the column of a table with the text. Defaults to
            the first of `review`, `text` and `sentence` that exists.
        label_column: String, the column with the label. Defaults to
            `sentiment`, or to `label` if there is no such column.
        limit: Positive integer, how many texts to keep of each part: the
            first of each class, equally many of each class; the first classes
            get one more if the limit is not a multiple of their number.
            Defaults to `None`, which keeps all.
        label_names: List of strings, the allowed classes in the order of
            their numbers, such as those of a trained model. Defaults to the
            classes of the corpus.
        test_path: String or path of a corpus in any of these formats, whose
            training part becomes the test part. Defaults to the test part of
            the corpus at `path`.
        group_column: String, the column of a table with what a text belongs
            to, such as a film or an author: `split_labelled_corpus` does not
            separate the texts of a group. A text that occurs in several
            groups belongs to the first. Defaults to `None`, no groups.

    Returns:
        A `LabelledCorpus`, a named tuple of `train`, `test`, `unlabelled`,
        `label_names` and `groups`.

    Raises:
        CorpusError: If there are fewer than two classes to train on, or,
            with `label_names`, another class or no text; if an archive is
            damaged, too large or contains a link instead of a text; if a
            table lacks a column; or if one is named and there is no table. It
            is a `ValueError`.
        FileNotFoundError: If there is nothing at `path` or `test_path`.
        ImportError: If parquet or `datasets` need a library that is missing.
        ValueError: If `limit` is not a positive integer.

    Example:

    >>> rows = ["label\ttext", "who\tWho is it?", "when\tWhen?", "who\tWho?"]
    >>> pathlib.Path("questions.tsv").write_text("\n".join(rows))
    >>> corpus = read_labelled_corpus("questions.tsv")
    >>> corpus.train.texts
    ['Who is it?', 'When?', 'Who?']
    >>> corpus.train.labels, corpus.label_names
    ([1, 0, 1], ['when', 'who'])

    Reference:
        [Maas et al., 2011](https://aclanthology.org/P11-1015).
    """
    check_limit(limit)
    path = existing_path(path)
    test_path = test_path and existing_path(test_path)
    _check_columns(path, test_path, text_column, label_column, group_column)
    report = Report(path, "text")
    if _is_table(path):
        columns = text_column, label_column, group_column
        corpus = _of_table(path, *columns, report)
    else:
        files = folder_files if path.is_dir() else archive_files
        corpus = _of_files(files(path), report)
    least = "two classes" if label_names is None else "one class"
    if len(corpus.label_names) < 1 + (label_names is None):
        raise CorpusError(
            f"The corpus {path} has too few classes. Expected: texts of at "
            f"least {least}, in a table or in a sub-folder for each class. "
            f"Received: {len(corpus.train.texts)} texts of the classes "
            f"{corpus.label_names}"
            + f", {len(report.malformed)} malformed: {report.first()}"
            * bool(report.malformed)
        )
    if label_names is not None:
        corpus = _renumbered(corpus, list(label_names), path)
    report.warn()
    if limit is not None:
        corpus = _limited(corpus, limit)
    if test_path is not None:
        if not _is_table(test_path):
            text_column = label_column = None
        test = read_labelled_corpus(
            test_path, text_column, label_column, limit, corpus.label_names
        )
        corpus = corpus._replace(test=test.train)
    return corpus


def _is_table(path):
    if path.is_dir():
        return is_dataset(path)
    return not path.name.lower().endswith(ARCHIVE_ENDS)


def _check_columns(path, test_path, text_column, label_column, group_column):
    """Raises an error if a column is named, and no table may have it."""
    named = {"group_column": group_column}
    if test_path is None or not _is_table(test_path):
        named |= {"text_column": text_column, "label_column": label_column}
    named = [f"{name}={value!r}" for name, value in named.items() if value]
    if named and not _is_table(path):
        raise CorpusError(
            f"The corpus {path} is a folder or an archive of texts, which has "
            "no columns. Expected: a table, or no names of columns. "
            f"Received: {', '.join(named)}"
        )


def _of_table(path, text_column, label_column, group_column, report):
    report.unit = "line"
    table = open_table(path, report)
    text_names = [text_column] if text_column else _TEXT_COLUMNS
    label_names = [label_column] if label_column else _LABEL_COLUMNS
    text_column = find_column(table, text_names, "text_column", report)
    label_column = find_column(table, label_names, "label_column", report)
    if group_column:
        group_column = find_column(
            table, [group_column], "group_column", report
        )
    texts, names, groups = [], [], {}
    for number, row in table.rows:
        try:
            text = cell_text(row, text_column)
            name = _cell_name(row, label_column)
            group = _cell_name(row, group_column) if group_column else None
        except ValueError as error:
            report.add(number, error)
        else:
            texts.append(text)
            names.append(name)
            groups.setdefault(text, group)
    label_names = _in_order(set(names))
    labels = {name: label for label, name in enumerate(label_names)}
    train = LabelledTexts(texts, [labels[name] for name in names])
    groups = groups if group_column else None
    return LabelledCorpus(train, None, [], label_names, groups)


def _cell_name(row, column):
    """The name in a cell, a string even if the value is a number."""
    value = row.get(column)
    if value is None or value != value:  # NaN, where a number is missing
        value = ""
    return cell_text({column: str(value)}, column)


def _of_files(files, report):
    train, test, unlabelled, films = collect(files, report)
    label_names = _in_order(train)
    if unknown := sorted(set(test) - set(train)):
        raise CorpusError(
            f"The test part of the corpus {report.corpus} has classes that "
            f"the training part lacks. Expected: {label_names}. "
            f"Received: {unknown}"
        )
    train, test = (_in_turn(texts, label_names) for texts in (train, test))
    test = test if test.texts else None
    return LabelledCorpus(train, test, unlabelled, label_names, films)


def _in_order(names):
    """The names of classes by value if all are integers, else by letters."""
    try:
        return sorted(names, key=lambda name: (int(name), name))
    except ValueError:
        return sorted(names)


def _in_turn(texts, label_names):
    """The texts of the classes, one of each in turn."""
    rows = itertools.zip_longest(
        *(
            [(text, label) for text in texts.get(name, [])]
            for label, name in enumerate(label_names)
        )
    )
    rows = [row for row in itertools.chain.from_iterable(rows) if row]
    return LabelledTexts([text for text, _ in rows], [n for _, n in rows])


def _renumbered(corpus, label_names, path):
    """The corpus with its classes numbered by their place in `label_names`."""
    if unknown := sorted(set(corpus.label_names) - set(label_names)):
        raise CorpusError(
            f"The corpus {path} has texts of other classes. "
            f"Expected: {label_names}. Received: {unknown}"
        )
    numbers = [label_names.index(name) for name in corpus.label_names]
    train, test = (
        texts and texts._replace(labels=[numbers[n] for n in texts.labels])
        for texts in (corpus.train, corpus.test)
    )
    return corpus._replace(train=train, test=test, label_names=label_names)


def _limited(corpus, limit):
    classes = len(corpus.label_names)
    shares = [(limit + classes - 1 - n) // classes for n in range(classes)]
    train, test = (
        texts and _first(texts, shares) for texts in (corpus.train, corpus.test)
    )
    unlabelled = corpus.unlabelled[:limit]
    return corpus._replace(train=train, test=test, unlabelled=unlabelled)


def _first(texts, shares):
    """The first texts of each class, as many as its share, in their order."""
    left = list(shares)
    places = []
    for place, label in enumerate(texts.labels):
        if left[label]:
            left[label] -= 1
            places.append(place)
    return select(texts, places)
