"""Reading texts with labels of any number and name."""

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

_TEXT_COLUMNS = ("review", "text", "sentence")
_LABEL_COLUMNS = ("sentiment", "label")


class LabelledCorpus(NamedTuple):
    """The texts of a labelled corpus.

    Args:
        train: `LabelledTexts` to train on.
        test: `LabelledTexts` to report on; `None` where the corpus has none.
        unlabelled: List of strings, texts without a label.
        label_names: List of strings, what the labels 0, 1, ... are called.
    """

    train: LabelledTexts
    test: LabelledTexts | None
    unlabelled: list[str]
    label_names: list[str]


def read_labelled_corpus(
    path,
    text_column=None,
    label_column=None,
    limit=None,
    label_names=None,
    test_path=None,
):
    r"""Reads texts with labels, in the format that the path tells.

    * A folder has a sub-folder for each class, with a text in each of its
      `.txt` files; or such folders in `train` and `test`. `train/unsup` has
      texts without a label. A folder that `save_to_disk` of Hugging Face
      `datasets` wrote is a table.
    * `.tgz` and `.tar.gz` are the Large Movie Review Dataset of Maas et al.,
      `aclImdb_v1.tar.gz`, which is not unpacked; the folder `aclImdb` will
      do. Without `test/` there is no test part: say so to the user.
    * `.jsonl`, `.ndjson` and `.json` are JSON lines, an object each;
      `.parquet` is a parquet file.
    * Any other file is a table with a header: a tab, comma or semicolon
      between the columns, and cells in `"` where they need it.

    JSON lines and tables of text may be packed, as `.csv.gz`. The rows of a
    table are the training part, in their order. The texts of a folder or
    archive are in the order of the number their name begins with, those of
    the classes in turn.

    Labels are the names of the classes, as they are spelt, in the order of
    the alphabet or, if all are integers, of their value: `neg` is 0 and
    `pos` 1. Texts are UTF-8, and white space around them is dropped. A text
    that is empty or not UTF-8, and a row without a label or with a wrong
    number of columns, is left out, and reported in one `CorpusWarning`.

    Args:
        path: String or path, the file or folder to read.
        text_column: String, the column of a table with the text. Defaults to
            the first there is of `review`, `text` and `sentence`.
        label_column: String, the column with the label. Defaults to
            `sentiment`, else `label`.
        limit: Positive integer, how many texts to keep: the first of each
            class, as many of each, the rest of the division to the first
            classes. So many are kept of each part. Defaults to `None`, which
            keeps all.
        label_names: List of strings, the classes there may be, in the order
            of their numbers: those that a model knows. Defaults to those of
            the corpus.
        test_path: String or path of texts to report on, in any of these
            formats, all of which are the test part. Defaults to that of the
            corpus.

    Returns:
        A `LabelledCorpus`, a named tuple of `train`, `test`, `unlabelled` and
        `label_names`.

    Raises:
        CorpusError: If there are fewer than two classes to train on, or,
            with `label_names`, another class or no text; if an archive is
            damaged, too large or has a link for a text, or a table lacks a
            column. It is a `ValueError`.
        FileNotFoundError: If there is nothing at `path`.
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
    report = Report(path, "text")
    if path.is_dir() and not is_dataset(path):
        corpus = _of_files(folder_files(path), report)
    elif path.name.lower().endswith(ARCHIVE_ENDS):
        corpus = _of_files(archive_files(path), report)
    else:
        corpus = _of_table(path, text_column, label_column, report)
    least = "two classes" if label_names is None else "one class"
    if len(corpus.label_names) < 1 + (label_names is None):
        raise CorpusError(
            f"The corpus {path} cannot be learned from. Expected: texts of at "
            f"least {least}, in a table, or in a sub-folder for each. "
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
        test = read_labelled_corpus(
            test_path, text_column, label_column, None, corpus.label_names
        )
        corpus = corpus._replace(test=test.train)
    return corpus


def _of_table(path, text_column, label_column, report):
    report.unit = "line"
    table = open_table(path, report)
    text_names = [text_column] if text_column else _TEXT_COLUMNS
    label_names = [label_column] if label_column else _LABEL_COLUMNS
    text_column = find_column(table, text_names, "text_column", report)
    label_column = find_column(table, label_names, "label_column", report)
    texts, names = [], []
    for number, row in table.rows:
        try:
            text = cell_text(row, text_column)
            name = _label_name(row, label_column)
        except ValueError as error:
            report.add(number, error)
        else:
            texts.append(text)
            names.append(name)
    label_names = _in_order(set(names))
    labels = {name: label for label, name in enumerate(label_names)}
    train = LabelledTexts(texts, [labels[name] for name in names])
    return LabelledCorpus(train, None, [], label_names)


def _label_name(row, column):
    """The name of a row's class; a number is called as it is written."""
    value = row.get(column)
    if value is None or value != value:  # NaN, where a number is missing
        value = ""
    return cell_text({column: str(value)}, column)


def _of_files(files, report):
    train, test, unlabelled = collect(files, report)
    label_names = _in_order(train)
    if strange := sorted(set(test) - set(train)):
        raise CorpusError(
            f"The corpus {report.corpus} has texts to test on of classes that "
            f"it has none to train on of. Expected: {label_names}. "
            f"Received: {strange}"
        )
    train, test = (_in_turn(texts, label_names) for texts in (train, test))
    test = test if test.texts else None
    return LabelledCorpus(train, test, unlabelled, label_names)


def _in_order(names):
    """The names of classes by value if they are integers, else by letters."""
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
    """The corpus with other numbers for the same classes."""
    if strange := sorted(set(corpus.label_names) - set(label_names)):
        raise CorpusError(
            f"The corpus {path} has texts of other classes. "
            f"Expected: {label_names}. Received: {strange}"
        )
    numbers = [label_names.index(name) for name in corpus.label_names]
    train, test = (
        texts and texts._replace(labels=[numbers[n] for n in texts.labels])
        for texts in (corpus.train, corpus.test)
    )
    return LabelledCorpus(train, test, corpus.unlabelled, label_names)


def _limited(corpus, limit):
    classes = len(corpus.label_names)
    shares = [(limit + classes - 1 - n) // classes for n in range(classes)]
    train, test = (
        texts and _first(texts, shares) for texts in (corpus.train, corpus.test)
    )
    return LabelledCorpus(
        train, test, corpus.unlabelled[:limit], corpus.label_names
    )


def _first(texts, shares):
    """The first texts of each class, so many, in their order."""
    left = list(shares)
    places = []
    for place, label in enumerate(texts.labels):
        if left[label]:
            left[label] -= 1
            places.append(place)
    return select(texts, places)
