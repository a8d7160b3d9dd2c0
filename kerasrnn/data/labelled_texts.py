"""Texts with a label: splitting them, reading them from a table."""

import collections
import contextlib
import csv
import itertools
import random
from typing import NamedTuple

from kerasrnn.data.errors import CorpusError

_TEXT_COLUMNS = ("review", "text", "sentence")
_LABEL_COLUMNS = ("sentiment", "label")
_LARGEST = 2**24  # characters of a cell
_LABELS = {"positive": 1, "negative": 0, "pos": 1, "neg": 0, "1": 1, "0": 0}


class LabelledTexts(NamedTuple):
    """Texts and what each of them is.

    Args:
        texts: List of strings.
        labels: List of integers, as many: 1 positive, 0 negative.
    """

    texts: list[str]
    labels: list[int]


def hold_out(texts, size, seed):
    """Splits labelled texts at random, with the same classes on both sides.

    Each class gives the share of `size` that it has of the texts, rounded so
    that the numbers add up. Both sides keep the order of the texts.

    Args:
        texts: `LabelledTexts` to split.
        size: Non-negative integer, the number of texts to hold out.
        seed: Integer. The same texts and seed give the same split.

    Returns:
        A tuple `(train, validation)` of `LabelledTexts`, with `size` texts
        in the second.

    Raises:
        ValueError: If `size` is not such an integer, or leaves a class
            without a text to train on.

    Example:

    ```python
    texts = LabelledTexts(["good", "bad", "great", "dull"], [1, 0, 1, 0])
    train, validation = hold_out(texts, size=2, seed=0)
    sorted(validation.labels)  # [0, 1]
    ```
    """
    places = collections.defaultdict(list)
    for place, label in enumerate(texts.labels):
        places[label].append(place)
    total = len(texts.labels)
    most = total - len(places)
    if not (isinstance(size, int) and 0 <= size <= max(most, 0)):
        raise ValueError(
            "`size` must be an integer that leaves each class a text to train "
            f"on, from 0 to at most {max(most, 0)} of {total} texts. "
            f"Received: size={size!r}"
        )
    # Rounded down, and the rest to those who lost most.
    sizes = {label: size * len(own) // total for label, own in places.items()}
    lost = sorted(
        places, key=lambda label: -(size * len(places[label]) % total)
    )
    for label in lost[: size - sum(sizes.values())]:
        sizes[label] += 1
    for label, own in places.items():
        if sizes[label] >= len(own):
            raise ValueError(
                "`size` must leave each class a text to train on, and takes "
                f"all {len(own)} of class {label!r}. Received: size={size}"
            )
    rng = random.Random(seed)
    held_out = set()
    for label, own in places.items():
        held_out.update(rng.sample(own, sizes[label]))
    rest = [place for place in range(total) if place not in held_out]
    return select(texts, rest), select(texts, sorted(held_out))


def select(texts, places):
    """Returns the texts at the given places, with their labels."""
    return LabelledTexts(
        [texts.texts[place] for place in places],
        [texts.labels[place] for place in places],
    )


def read_labelled_table(path):
    """Reads labelled texts from a table with a header.

    Args:
        path: A `pathlib.Path`.

    Returns:
        `LabelledTexts`, and a list of `(place, reason)` of the rows that are
        no good.

    Raises:
        CorpusError: If the header does not tell the columns.
    """
    found, malformed = LabelledTexts([], []), []
    with (
        _large_cells(),
        path.open(
            encoding="utf-8-sig", errors="surrogateescape", newline=""
        ) as file,
    ):
        header = file.readline()
        delimiter = "\t" if "\t" in header else ","
        lines = itertools.chain([header], file)
        rows = _rows(lines, delimiter)
        columns = _columns(rows, path)
        for number, row in rows:
            if not any(cell.strip() for cell in row):
                continue
            try:
                text, label = _parse(row, *columns)
            except ValueError as error:
                malformed.append((f"line {number}", str(error)))
            else:
                found.texts.append(text)
                found.labels.append(label)
        return found, malformed


@contextlib.contextmanager
def _large_cells():
    """Lets a cell be longer than the 131,072 characters of the module."""
    limit = csv.field_size_limit(_LARGEST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _rows(lines, delimiter):
    """The rows of a table, each with the number of its first line.

    Where quotes do not pair up, each line is a row, and the quotes of those
    in which they do not are characters like any other.
    """
    read = []

    def noted():
        for line in lines:
            read.append(line)
            yield line

    number = 1
    rows = csv.reader(noted(), delimiter=delimiter, strict=True)
    while True:
        try:
            yield number, next(rows)
        except StopIteration:
            return
        except csv.Error:
            for place, line in enumerate(read, number):
                yield place, _row(line, delimiter)
        number += len(read)
        read.clear()


def _row(line, delimiter):
    """The columns of one line."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        return line.rstrip("\r\n").split(delimiter)


def _columns(rows, path):
    """Reads the header: where text and label are, and how many columns."""
    _, header = next(rows, (1, []))
    header = [cell.strip().lower() for cell in header]
    places = []
    for names in (_TEXT_COLUMNS, _LABEL_COLUMNS):
        here = [header.index(name) for name in names if name in header]
        if not here:
            raise CorpusError(
                f"The corpus {path} has no header that tells its columns. "
                "Expected: a column of " + " or ".join(map(repr, names)) + ", "
                "with tabs or commas between the columns. "
                f"Received: {header!r:.200}"
            )
        places.append(here[0])
    return *places, len(header)


def _parse(row, text_column, label_column, width):
    if len(row) != width:
        raise ValueError(f"{len(row)} columns instead of {width}")
    text, label = row[text_column].strip(), row[label_column].strip()
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("invalid UTF-8") from None
    if not text:
        raise ValueError("empty text")
    if label.lower() not in _LABELS:
        raise ValueError(f"no label: {label!r:.40}")
    return text, _LABELS[label.lower()]
