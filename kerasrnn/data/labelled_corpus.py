"""Texts with labels, of any number of classes."""

import collections
import itertools
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.reading.cells import in_order
from kerasrnn.data.reading.cells import number_in
from kerasrnn.data.reading.formats import is_class_folder
from kerasrnn.data.reading.rows import read_columns
from kerasrnn.data.reading.text_files import existing_path
from kerasrnn.data.report import CorpusError
from kerasrnn.data.splits import has_several
from kerasrnn.tokenizers.invisible import appearance
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings

_UNLABELLED = "unsup"  # the folder of texts without a label


class LabelledTexts(NamedTuple):
    """Texts and their labels.

    Args:
        texts: List of strings.
        labels: List with one label for each text: non-negative integers, the
            classes; or, for two classes, the probabilities of class 1. For
            texts with several labels, or none, tuples of integers.
    """

    texts: list[str]
    labels: list[Any]


class LabelledCorpus(NamedTuple):
    """The texts of a labelled corpus.

    Args:
        train: `LabelledTexts` of the training set.
        test: `LabelledTexts` of the test set; `None` if there is none.
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


def select(texts, indices):
    """Returns the texts at the given indices, with their labels."""
    return LabelledTexts(
        [texts.texts[index] for index in indices],
        [texts.labels[index] for index in indices],
    )


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
      and `test`. Texts in a sub-folder `unsup` have no label. Whatever else is
      in the folder of a class is reported.
    * Any other source is a table, in the formats of `read_rows`: CSV, TSV,
      JSON, parquet, fastText, `datasets`, pandas; with a header, or with the
      numbers of its columns.

    The rows of a table are the training set, in their order. The texts of a
    folder are ordered by the number at the beginning of their file
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
            be left out, as in `read_rows`; or if a column is missing. It is a
            `ValueError`.
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
    """
    optional_positive_integer("limit", limit)
    label_column = _label_columns(label_column, multi_label, label_separator)
    columns: dict[str, Any] = {"text": text_column}
    columns["labels" if multi_label else "label"] = label_column
    columns |= {"group": group_column} if group_column else {}
    if is_class_folder(path):
        folder = existing_path(path)
        if (folder / "test").is_dir() and test_path is None:
            test_path = folder / "test"
        path = folder / "train" if (folder / "train").is_dir() else folder
    corpus, report = _read(path, columns, label_names, label_separator)
    least = 2 if label_names is None and not multi_label else 1
    if len(corpus.label_names) < least or not corpus.train.texts:
        report.check_encoding()
        is_empty = not corpus.train.texts and report.unit != "text"
        lacks = "no rows with text" if is_empty else "too few classes"
        raise CorpusError(
            f"The corpus {path} has {lacks}. Expected: texts of at "
            f"least {('one class', 'two classes')[least - 1]}, in a table or "
            "in a sub-folder for each class. "
            f"Received: {len(corpus.train.texts)} texts of the classes "
            f"{corpus.label_names}"
            + f", {len(report.malformed)} malformed: {report.first()}"
            * bool(report.malformed)
        )
    report.warn()
    _say(corpus, report)
    if limit is not None:
        corpus = _limited(corpus, limit)
    if test_path is not None:
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


def _label_columns(column, multi_label, separator):
    """The column of the labels, or a list of columns of 0 and 1.

    Raises:
        ValueError: If the arguments contradict.
    """
    if isinstance(column, list | tuple) and len(column) < 2:
        column = next(iter(column), None)
    several = isinstance(column, list | tuple)
    visible = separator is None or bool(separator.strip(" "))
    for is_wrong, expected in (
        (
            (several or separator is not None) and not multi_label,
            "multi_label=True, since several columns of labels, or a "
            "separator, mean several labels a text",
        ),
        (
            several and separator is not None,
            "several columns of 0 and 1, or a separator of the labels in the "
            "cells of one",
        ),
        (not visible, "a separator that is visible: names may have spaces"),
    ):
        if is_wrong:
            raise ValueError(
                f"The arguments on labels do not fit. Expected: {expected}. "
                f"Received: label_column={column!r}, "
                f"multi_label={multi_label}, label_separator={separator!r}"
            )
    return list(column) if several else column


def _read(path, columns, label_names, separator):
    """The corpus of a source, without a test set, and the `Report` on it."""
    arguments = {name: f"{name.rstrip('s')}_column" for name in columns}
    rows = read_columns(path, columns, arguments=arguments, separator=separator)
    report, unlabelled, several = rows.report, [], "labels" in columns
    if is_class_folder(path) and not several:
        pairs = list(zip(rows["text"], rows["label"], strict=True))
        unlabelled = [text for text, x in pairs if x == _UNLABELLED]
        kept = [n for n, (_, x) in enumerate(pairs) if x != _UNLABELLED]
        rows = rows.select(kept)
    texts = rows["text"]
    found = rows["labels"] if several else [[x] for x in rows["label"]]
    counts = collections.Counter(itertools.chain(*found))
    spelled = one_spelling(counts, label_names or (), report)
    names = in_order(set(spelled.values()))
    if several and isinstance(columns["labels"], list):
        names = report.columns["labels"]
        if len(set(names)) < len(names):
            raise CorpusError(
                "Each label has a column of its own. Expected: different ones "
                f"as `label_column`. Received: {names}"
            )
        spelled = {name: name for name in names}
        report.notes += [
            f"no text has the label {name!r}"
            for name in names
            if name not in counts
        ]
    if label_names is not None and names:
        if unknown := [x for x in names if x not in label_names]:
            raise CorpusError(
                f"The corpus {path} has texts of other classes. "
                f"Expected: {list(label_names)}. Received: {unknown}"
            )
        names = list(label_names)
    numbers = {name: number for number, name in enumerate(names)}
    numbered = [
        tuple(sorted({numbers[spelled[name]] for name in row})) for row in found
    ]
    labels = numbered if several else [number for (number,) in numbered]
    groups = None
    if "group" in columns:  # a text in several belongs to the first
        groups = dict(zip(texts[::-1], rows["group"][::-1], strict=True))
    train = LabelledTexts(texts, labels)
    return LabelledCorpus(train, None, unlabelled, names, groups), report


def one_spelling(counts, known, report):
    """The spelling of each name, so that each number has one.

    Args:
        counts: Dict from the labels of all texts to how many have it.
        known: Sequence of strings, the classes of a trained model, which keep
            their spelling; may be empty.
        report: The `Report` to note in: numbers in several spellings, numbers
            among other names, and names that look alike.

    Returns:
        Dict from each name to itself; of numbers of one value, such as `1` and
        `1.0`, to the one in `known`, or the shortest.
    """
    by_value, chosen = {}, {}
    every = {*known, *counts}
    for name in sorted(every, key=lambda x: (x not in known, len(x), x)):
        is_name, value = number_in(name)
        chosen[name] = by_value.setdefault(name if is_name else value, name)
    if merged := [name for name in counts if name != chosen[name]]:
        report.notes.append(
            "labels of one value are one class: "
            + ", ".join(f"{x!r} is read as {chosen[x]!r}" for x in merged[:3])
            + ", ..." * (len(merged) > 3)
        )
    others = [name for name in counts if number_in(name)[0]]
    numbers = [name for name in counts if not number_in(name)[0]]
    if numbers and others:
        fewer = min(numbers, others, key=len)
        report.notes.append(
            "some of its labels are numbers and some are not: "
            + ", ".join(f"{x!r} ({counts[x]} times)" for x in fewer[:3])
            + f" among {in_order(counts)!r:.100}"
        )
    folded = {name: appearance(name.casefold()) for name in others}
    seen = collections.Counter(folded.values())
    if twins := [x for x in others if seen[folded[x]] > 1]:
        report.notes.append(
            "labels that differ only in case, white space or invisible "
            f"characters are different classes: {twins[:4]}"
        )
    return {name: chosen[name] for name in counts}


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


def _limited(corpus, limit):
    """The first texts of each part, equally many of each class."""
    classes = len(corpus.label_names)

    def first(texts):
        if has_several(texts.labels):
            return select(texts, range(min(limit, len(texts.texts))))
        left = [(limit + classes - 1 - n) // classes for n in range(classes)]
        indices = []
        for index, label in enumerate(texts.labels):
            if left[label]:
                left[label] -= 1
                indices.append(index)
        return select(texts, indices)

    unlabelled = corpus.unlabelled[:limit]
    return corpus._replace(train=first(corpus.train), unlabelled=unlabelled)
