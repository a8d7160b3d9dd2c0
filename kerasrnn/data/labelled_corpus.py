"""Corpora of labelled texts."""

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
from kerasrnn.data.report import first_of
from kerasrnn.data.splits import has_several
from kerasrnn.tokenizers.invisible import appearance
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings

_UNLABELLED = "unsup"  # the folder of unlabelled texts


class LabelledTexts(NamedTuple):
    """Texts and their labels.

    Args:
        texts: List of strings.
        labels: List with one label for each text: non-negative integers
            (classes), or, for two classes, probabilities of class 1. For
            multi-label texts, tuples of integers.
    """

    texts: list[str]
    labels: list[Any]


class LabelledCorpus(NamedTuple):
    """A labelled corpus.

    Args:
        train: `LabelledTexts` of the training set.
        test: `LabelledTexts` of the test set, or `None`.
        unlabelled: List of strings, unlabelled texts.
        label_names: List of strings, the names of the labels 0, 1, ...
        groups: Dictionary from labelled and unlabelled texts to their groups,
            such as the film or author of a review. `None` if unknown.
    """

    train: LabelledTexts
    test: LabelledTexts | None
    unlabelled: list[str]
    label_names: list[str]
    groups: dict[str, str] | None = None

    def groups_of(self, texts: Strings) -> list[str]:
        """Returns the group of each text; by default, the text itself."""
        groups = self.groups or {}
        return [groups.get(text, text) for text in texts]


def select(texts, indices):
    """Returns the texts and labels at the given indices."""
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

    * A folder has a sub-folder for each class, with one text per `.txt` file
      (or file without an extension); or it has such folders in `train` and
      `test`. Texts in a sub-folder `unsup` are unlabelled. Other files in the
      folder of a class are reported.
    * Any other source is a table in a format of `read_rows`: CSV, TSV, JSON,
      Parquet, fastText, `datasets` or pandas, with a header or with numbered
      columns.

    The rows of a table are the training set, in order. The texts of a folder
    are ordered by the number at the start of the file name, alternating between
    classes.

    Classes are numbered: numeric names by value, followed by others in
    alphabetical order (`neg` is 0 and `pos` is 1). Names with the same value,
    such as `1` and `1.0`, are one class. There is a warning in this case, and
    also if only some labels are numbers, or labels differ only in case. Texts
    are UTF-8 and are stripped of white space. Rows are left out, and reported
    in one `CorpusWarning`, if the text is empty or not UTF-8, if the label (or
    group) is missing or `nan`, or if the number of columns is wrong.

    With `multi_label`, a text of a table has any number of labels. A cell has a
    list of them (in the format of the table, or as in JSON or Python), or a
    string with `label_separator` between labels; or each label has its own
    column of 0 and 1. Lines of fastText begin with any number of labels. A
    summary is printed: the labels, the mean number per text, and the number of
    texts without labels.

    Args:
        path: String or path of the file or folder; or a data set, a DataFrame
            or a list of dicts.
        text_column: String, the column of the texts, or its number from 1 if
            there is no header. Defaults to the first of `review`, `text` and
            `sentence` that exists.
        label_column: String or number, the column of the labels. Defaults to
            `sentiment` or `label`; with `multi_label`, to `labels` or `label`.
            Or a list of columns of 0 and 1, whose names are the label names in
            this order.
        limit: Positive integer, maximum number of texts in each part: the first
            texts of each class, with equal numbers of texts. (The first classes
            have one more if necessary.) For multi-label texts, simply the first
            ones. Defaults to `None`, no limit.
        label_names: List of strings, the allowed classes in the order of their
            numbers, such as those of a trained model. Defaults to the classes
            of the corpus.
        test_path: Like `path`, a corpus whose training set is used as the test
            set. Defaults to the test set of `path`.
        group_column: String or number, the column of the groups of texts, such
            as film or author: `split_labelled_corpus` does not separate the
            texts of a group. A text that occurs in several groups belongs to
            the first one. Defaults to `None`, no groups.
        multi_label: Whether texts have any number of labels. The labels in
            `LabelledTexts` are then tuples of numbers.
        label_separator: String between the labels in a cell, such as a comma.
            White space around labels is removed. Defaults to `None`: cells have
            lists.

    Returns:
        A `LabelledCorpus`, a named tuple of `train`, `test`, `unlabelled`,
        `label_names` and `groups`.

    Raises:
        CorpusError: If there are fewer than two classes, or, with
            `label_names`, unknown classes or no texts; if most texts would be
            left out, as in `read_rows`; or if a column is missing. It is a
            `ValueError`.
        FileNotFoundError: If `path` or `test_path` does not exist.
        ImportError: If the library for Parquet or `datasets` is missing.
        ValueError: If `limit` is not a positive integer, or arguments for
            several labels are given without `multi_label`.

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
        classes = "one class" if least == 1 else "two classes"
        count, names = len(corpus.train.texts), corpus.label_names
        received = f"{count} texts of the classes {names}"
        if report.malformed:
            received += f", {len(report.malformed)} malformed: {report.first()}"
        raise CorpusError(
            f"The corpus {report.corpus} has {lacks}. Expected: texts of at "
            f"least {classes}, in a table or in a sub-folder for each class. "
            f"Received: {received}"
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
    """Returns the label column, or a list of columns of 0 and 1.

    Raises:
        ValueError: If the arguments contradict each other.
    """
    if isinstance(column, list | tuple) and len(column) < 2:
        column = next(iter(column), None)
    several = isinstance(column, list | tuple)
    visible = separator is None or bool(separator.strip(" "))
    for is_wrong, expected in (
        (
            (several or separator is not None) and not multi_label,
            "multi_label=True, because several label columns, or a "
            "separator, mean several labels per text",
        ),
        (
            several and separator is not None,
            "several columns of 0 and 1, or a label separator in the "
            "cells of one",
        ),
        (not visible, "a visible separator, because names may contain spaces"),
    ):
        if is_wrong:
            raise ValueError(
                "The arguments for labels contradict each other. Expected: "
                f"{expected}. Received: label_column={column!r}, "
                f"multi_label={multi_label}, label_separator={separator!r}"
            )
    return list(column) if several else column


def _read(path, columns, label_names, separator):
    """Reads a corpus without test set; returns it with its `Report`."""
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
                "Each label needs its own column. Expected: distinct columns "
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
                f"The corpus {path} has unknown classes. Expected: "
                f"{list(label_names)}. Received: {unknown}"
            )
        names = list(label_names)
    numbers = {name: number for number, name in enumerate(names)}
    numbered = [
        tuple(sorted({numbers[spelled[name]] for name in row})) for row in found
    ]
    labels = numbered if several else [number for (number,) in numbered]
    groups = None
    if "group" in columns:  # a text in several groups belongs to the first
        groups = dict(zip(texts[::-1], rows["group"][::-1], strict=True))
    train = LabelledTexts(texts, labels)
    return LabelledCorpus(train, None, unlabelled, names, groups), report


def one_spelling(counts, known, report):
    """Chooses one spelling for numeric names with the same value.

    Args:
        counts: Dictionary of the number of texts by label.
        known: Sequence of strings, the classes of a trained model, whose
            spelling is kept; may be empty.
        report: The `Report` for notes on several spellings of a number, numbers
            among other names, and similar names.

    Returns:
        Dictionary from each name to its spelling. For equal numbers, such as
        `1` and `1.0`, it is the one in `known`, or the shortest.
    """
    by_value, chosen = {}, {}
    every = {*known, *counts}
    for name in sorted(every, key=lambda x: (x not in known, len(x), x)):
        is_name, value = number_in(name)
        chosen[name] = by_value.setdefault(name if is_name else value, name)
    if merged := [name for name in counts if name != chosen[name]]:
        report.notes.append(
            "labels with the same value are one class: "
            + first_of([f"{x!r} is read as {chosen[x]!r}" for x in merged])
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
    """Prints a summary, and the first text with its labels."""
    texts, labels = corpus.train
    names = corpus.label_names
    if has_several(labels):
        counts = list(map(len, labels))
        report.say(
            {"text": texts[0], "labels": [names[n] for n in labels[0]]},
            len(texts),
            f"{len(names)} labels, {sum(counts) / len(counts):.2f} per text; "
            f"{counts.count(0):,} texts have none",
        )
    else:
        report.say({"text": texts[0], "label": names[labels[0]]}, len(texts))


def _limited(corpus, limit):
    """Limits a corpus to the first texts, with equal classes."""
    classes, labels = len(corpus.label_names), corpus.train.labels
    indices = list(range(len(labels)))[:limit]
    if not has_several(labels):
        left = [(limit + classes - 1 - n) // classes for n in range(classes)]
        indices = []
        for index, label in enumerate(labels):
            if left[label]:
                left[label] -= 1
                indices.append(index)
    return corpus._replace(
        train=select(corpus.train, indices),
        unlabelled=corpus.unlabelled[:limit],
    )
