"""Reading texts with labels, of any number of classes."""

import os
from collections.abc import Sequence
from typing import Any

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.label_names import in_order
from kerasrnn.data.labelled.label_columns import checked_columns
from kerasrnn.data.labelled.label_columns import refuse_columns_of_files
from kerasrnn.data.labelled.label_numbers import one_number
from kerasrnn.data.labelled.label_numbers import several_numbers
from kerasrnn.data.labelled.labelled_texts import LabelledCorpus
from kerasrnn.data.labelled.labelled_texts import LabelledTexts
from kerasrnn.data.labelled.labelled_texts import first_of_each
from kerasrnn.data.labelled.labelled_texts import renumbered
from kerasrnn.data.report import Report
from kerasrnn.data.stratified_splits import has_several
from kerasrnn.data.tables.class_tables import in_turn
from kerasrnn.data.tables.class_tables import is_of_files
from kerasrnn.data.tables.class_tables import read_classes
from kerasrnn.data.tables.lines import existing_path
from kerasrnn.data.tables.rows import read_columns
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings


def read_labelled_corpus(
    path: PathLike | Any,
    text_column: str | int | None = None,
    label_column: str | int | Sequence[str | int] | None = None,
    limit: int | None = None,
    label_names: Strings | None = None,
    test_path: PathLike | Any | None = None,
    group_column: str | int | None = None,
    multi_label: bool = False,
    label_separator: str | None = None,
) -> LabelledCorpus:
    r"""Reads texts with labels, in a format that the path determines.

    * A folder has a sub-folder for each class, with a text in each of its
      `.txt` files, or files without an extension; or such folders in `train`
      and `test`. `train/unsup` has texts without a label. Whatever else is in
      the folder of a class is reported.
    * `.tgz` and `.tar.gz` are the Large Movie Review Dataset of Maas et al.,
      `aclImdb_v1.tar.gz`, which is read without extracting it; its folder
      `aclImdb` works too. Without `test/`, `test` is `None`. The groups are
      the films, from `train/urls_pos.txt` and so on; films that share a
      review, such as a series and its episodes, are one.
    * Any other source is a table, in the formats of `read_rows`: CSV, TSV,
      JSON, parquet, fastText, `datasets`, pandas; with a header, or with the
      numbers of its columns.

    The rows of a table are the training set, in their order. The texts of a
    folder or archive are ordered by the number at the beginning of their file
    name, one of each class in turn.

    The names of the classes are numbered: numbers by value, and then others
    in alphabetical order (`neg` is 0 and `pos` 1). Numbers of one value, such
    as `1` and `1.0`, are one class; a warning says so, and if only some labels
    are numbers, or some differ only in case. Texts are UTF-8, and white space
    around them is removed. A text that is empty or not UTF-8, and a row
    without a label (or `nan`) or with a wrong number of columns, is left out
    and reported in one `CorpusWarning`. So is one whose group is missing.

    With `multi_label`, a text of a table has any number of labels, or none.
    A cell has a list of them, in the format of the table or as JSON or Python
    write it; or `label_separator` is between them; or each label has a column
    of its own, with 1 for the texts that have it and 0 for the others. Lines of
    fastText begin with any number of labels. What was read is printed: the
    labels, how many a text has, and how many texts have none.

    Args:
        path: String or path, the file or folder to read; or a data set, a
            DataFrame or a list of dicts.
        text_column: String, the column of a table with the text, or its
            number from 1 if there is no header. Defaults to the first of
            `review`, `text` and `sentence` that exists.
        label_column: String or number, the column with the label. Defaults to
            `sentiment`, or to `label` if there is no such column; with
            `multi_label`, to `labels` or `label`. Or a list of several, the
            columns of 0 and 1, which are then the label names in their order.
        limit: Positive integer, how many texts to keep of each part: the
            first of each class, equally many of each class; the first classes
            get one more if the limit is not a multiple of their number. Of
            texts with several labels, simply the first. Defaults to `None`,
            which keeps all.
        label_names: List of strings, the allowed classes in the order of
            their numbers, such as those of a trained model. Defaults to the
            classes of the corpus.
        test_path: The same of a corpus in any of these formats, whose
            training set becomes the test set. Defaults to that at `path`.
        group_column: String or number, the column of a table with what a text
            belongs to, such as a film or an author: `split_labelled_corpus`
            does not separate the texts of a group. A text that occurs in
            several belongs to the first. Defaults to `None`, no groups.
        multi_label: Whether a text may have several labels, or none. The
            labels of a `LabelledTexts` are then tuples of numbers.
        label_separator: String between the labels of a cell, such as a comma.
            White space around labels is removed. Defaults to `None`: a cell
            has a list.

    Returns:
        A `LabelledCorpus`, a named tuple of `train`, `test`, `unlabelled`,
        `label_names` and `groups`.

    Raises:
        CorpusError: If there are fewer than two classes to train on, or,
            with `label_names`, another class or no text; if most texts would
            be left out, as in `read_rows`; if an archive is damaged, too large
            or contains a link instead of a text; if a table lacks a column; or
            if one is named and there is no table. It is a `ValueError`.
        FileNotFoundError: If there is nothing at `path` or `test_path`.
        ImportError: If parquet or `datasets` need a library that is missing.
        ValueError: If `limit` is not a positive integer, or several labels
            are described without `multi_label`.

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
    optional_positive_integer("limit", limit)
    if isinstance(path, str | os.PathLike):
        path = existing_path(path)
    if isinstance(test_path, str | os.PathLike):
        test_path = existing_path(test_path)
    label_column = checked_columns(label_column, multi_label, label_separator)
    refuse_columns_of_files(
        path,
        test_path,
        text_column,
        label_column,
        group_column,
        multi_label,
    )
    known = list(label_names or ())
    if not is_of_files(path):
        label = "labels" if multi_label else "label"
        columns = {"text": text_column, label: label_column}
        columns |= {"group": group_column} if group_column else {}
        corpus, report = _of_table(path, columns, known, label_separator)
    else:
        report = Report(path, "text")
        corpus = _of_files(path, report)
    report.check_encoding()
    least = 2 if label_names is None and not multi_label else 1
    if len(corpus.label_names) < least or not corpus.train.texts:
        raise CorpusError(
            f"The corpus {path} has too few classes. Expected: texts of at "
            f"least {('one class', 'two classes')[least - 1]}, in a table or "
            "in a sub-folder for each class. "
            f"Received: {len(corpus.train.texts)} texts of the classes "
            f"{corpus.label_names}"
            + f", {len(report.malformed)} malformed: {report.first()}"
            * bool(report.malformed)
        )
    if label_names is not None:
        corpus = _renumbered(corpus, known, path)
    report.warn()
    _say(corpus, report)
    if limit is not None:
        corpus = _limited(corpus, limit)
    if test_path is not None:
        if is_of_files(test_path):
            text_column = label_column = None
        test = read_labelled_corpus(
            test_path,
            text_column,
            label_column,
            limit,
            corpus.label_names,
            multi_label=multi_label,
            label_separator=label_separator,
        )
        corpus = corpus._replace(test=test.train)
    return corpus


def _of_table(path, columns, known, separator):
    """The texts of a table, and the `Report` on it."""
    arguments = {name: f"{name.rstrip('s')}_column" for name in columns}
    rows = read_columns(path, columns, arguments=arguments, separator=separator)
    several = "labels" in columns
    number = several_numbers if several else one_number
    label_names, labels = number(rows, known)
    train = LabelledTexts(rows["text"], labels)
    groups = None
    if "group" in columns:  # a text in several belongs to the first
        pairs = zip(rows["text"][::-1], rows["group"][::-1], strict=True)
        groups = dict(pairs)
    return LabelledCorpus(train, None, [], label_names, groups), rows.report


def _say(corpus, report):
    """Says what was read, and the first text with its labels."""
    texts, labels = corpus.train
    names = corpus.label_names
    if not has_several(labels):
        report.say({"text": texts[0], "label": names[labels[0]]}, len(texts))
        return
    counts = list(map(len, labels))
    report.say(
        {"text": texts[0], "labels": [names[n] for n in labels[0]]},
        len(texts),
        f"{len(names)} labels, {sum(counts) / len(counts):.2f} a text; "
        f"{counts.count(0):,} texts have none",
    )


def _of_files(path, report):
    train, test, unlabelled, films = read_classes(path, report)
    label_names = in_order(train)
    if unknown := sorted(set(test) - set(train)):
        raise CorpusError(
            f"The test set of the corpus {report.corpus} has classes that "
            f"the training set lacks. Expected: {label_names}. "
            f"Received: {unknown}"
        )
    labels = {name: label for label, name in enumerate(label_names)}
    train, test = (
        LabelledTexts(
            [text for text, _ in pairs], [labels[name] for _, name in pairs]
        )
        for pairs in map(in_turn, (train, test))
    )
    test = test if test.texts else None
    return LabelledCorpus(train, test, unlabelled, label_names, films)


def _renumbered(corpus, label_names, path):
    """The corpus, its classes numbered by their order in `label_names`."""
    if unknown := sorted(set(corpus.label_names) - set(label_names)):
        raise CorpusError(
            f"The corpus {path} has texts of other classes. "
            f"Expected: {label_names}. Received: {unknown}"
        )
    known = {name: number for number, name in enumerate(label_names)}
    numbers = [known[name] for name in corpus.label_names]
    train, test = (
        texts and renumbered(texts, numbers)
        for texts in (corpus.train, corpus.test)
    )
    return corpus._replace(train=train, test=test, label_names=label_names)


def _limited(corpus, limit):
    classes = len(corpus.label_names)
    shares = [(limit + classes - 1 - n) // classes for n in range(classes)]
    train, test = (
        texts and first_of_each(texts, limit, shares)
        for texts in (corpus.train, corpus.test)
    )
    unlabelled = corpus.unlabelled[:limit]
    return corpus._replace(train=train, test=test, unlabelled=unlabelled)
