"""Reading sentences of tagged words: columns of CoNLL, or rows of a table."""

import re
from typing import Any

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.lines import Report
from kerasrnn.data.lines import all_lines
from kerasrnn.data.tables import find_column
from kerasrnn.data.tables import is_table
from kerasrnn.data.tables import open_table
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings

_TOKENS = ("tokens", "words")
_TAGS = ("ner_tags", "tags", "pos_tags")
_DOCUMENT = "-DOCSTART-"  # a line of CoNLL-2003 between documents
_CONLL_U = "id form lemma upos xpos feats head deprel deps misc".split()
_ID = re.compile(r"\d+([-.]\d+)?\t", re.ASCII)
_NO_WORD = re.compile(r"\d+[-.]\d+", re.ASCII)  # the id of a range, of a gap


def read_tagged_words(
    path: PathLike | Any,
    word: str | int | None = None,
    tag: str | int | None = None,
    tag_names: Strings | None = None,
) -> list[list[tuple[str, str]]]:
    r"""Reads sentences of tagged words, in a format that the path determines.

    | source                                | `word`, `tag`   | by default     |
    |---------------------------------------|-----------------|----------------|
    | CoNLL-U                               | numbers, names  | `FORM`, `UPOS` |
    | any other text, such as CoNLL-2003    | numbers from 1  | first, last    |
    | `.jsonl`, `.ndjson`, `.json`, parquet | names of lists  | see below      |
    | `datasets`, pandas                    | names of lists  | see below      |

    Text has a word in each line, in columns that are separated by tabs or, if
    there are none in its first line, by blanks. Negative numbers count from
    the last column, which is -1. Blank lines separate sentences, and so do
    lines of `-DOCSTART-`. Before a sentence, a line that begins with `#` and
    has another number of columns is a comment. CoNLL-U has ten columns and
    numbered words; its ranges, as `1-2`, and empty nodes, as `1.1`, are
    passed over. Files are UTF-8, with or without a byte order mark, with LF or
    CRLF line ends, gzipped or not.

    A table has a sentence in each row: a list of words in `tokens` or
    `words`, and one of tags in `ner_tags`, `tags` or `pos_tags`, the first of
    them that exists. A row whose lists are empty, are not of strings, or
    differ in length is left out and reported in a `CorpusWarning`.

    Args:
        path: String or path, the file or folder to read; or a data set of
            `datasets`, or a `pandas.DataFrame`.
        word: String or integer, the column of the words, as in the table.
        tag: String or integer, the column of the tags.
        tag_names: List of strings, the names of tags that are numbers from 0.
            Defaults to those of a data set of `datasets`.

    Returns:
        List of sentences, each a list of `(word, tag)` strings.

    Raises:
        CorpusError: If a line has another number of columns than the first,
            or no word or tag in them; if text is not UTF-8; if tags are
            numbers without names; if a column is missing, or there is no
            sentence. It is a `ValueError`.
        FileNotFoundError: If there is no such file.
        ImportError: If parquet or `datasets` need a library that is missing.
        IsADirectoryError: If a folder is not a data set.

    Example:

    >>> lines = ["who\tWP", "knows\tVBZ", "", "hello\tUH"]
    >>> pathlib.Path("tagged.tsv").write_text("\n".join(lines))
    >>> read_tagged_words("tagged.tsv")
    [[('who', 'WP'), ('knows', 'VBZ')], [('hello', 'UH')]]
    >>> lines = ["-DOCSTART- -X- O O", "", "Rome NNP I-NP I-LOC", ". . O O"]
    >>> pathlib.Path("eng.train").write_text("\n".join(lines))
    >>> read_tagged_words("eng.train", tag=2)
    [[('Rome', 'NNP'), ('.', '.')]]
    """
    if is_table(path):
        return _of_table(path, word, tag, tag_names)
    lines = list(enumerate(all_lines(path), start=1))
    text = [line for _, line in lines if line.strip()]
    if not text:
        raise CorpusError(
            f"The corpus {path} is empty. Expected: lines of `word TAB tag`. "
            "Received: only blank lines"
        )
    first = next((line for line in text if not _begins_apart(line)), text[0])
    pattern = re.compile("\t" if "\t" in first.strip() else "[ \t]+")
    width = len(pattern.split(first.strip()))
    conll_u = width == len(_CONLL_U) and bool(_ID.match(first))
    columns = _places(word, tag, width, conll_u, path)
    sentences: list[list[tuple[str, str]]] = [[]]
    for number, line in lines:
        cells = [cell.strip() for cell in pattern.split(line.rstrip())]
        if not line.strip() or cells[0] == _DOCUMENT:
            sentences.append([])
        elif conll_u and _NO_WORD.fullmatch(cells[0]):
            continue
        elif len(cells) == width and all(cells[n] for n in columns):
            sentences[-1].append((cells[columns[0]], cells[columns[1]]))
        elif sentences[-1] or not line.startswith("#"):
            between = "tabs" if pattern.pattern == "\t" else "blanks"
            raise CorpusError(
                f"Line {number} of the corpus {path} is malformed. Expected: "
                f"{width} columns separated by {between}, as in its first "
                "line, with a word and a tag, or a blank line between "
                f"sentences. Received: {line!r}"
            )
    return [sentence for sentence in sentences if sentence]


def _begins_apart(line):
    """Whether a line may stand before the first sentence."""
    return line.startswith(("#", _DOCUMENT))


def _places(word, tag, width, conll_u, path):
    """The places of the columns of words and tags, counted from 0."""
    if width < 2:
        raise CorpusError(
            f"The corpus {path} has no column of tags. Expected: a word and "
            "its tag in each line, separated by a tab or blanks. "
            "Received: lines of one column"
        )
    defaults = (2, 4) if conll_u else (1, -1)
    places = []
    for name, column, default in zip(
        ("word", "tag"), (word, tag), defaults, strict=True
    ):
        column = default if column is None else column
        if conll_u and str(column).lower() in _CONLL_U:
            column = _CONLL_U.index(str(column).lower()) + 1
        try:
            number = int(column) if not isinstance(column, bool) else 0
        except ValueError:
            number = 0
        if not 0 < abs(number) <= width:
            raise CorpusError(
                f"`{name}` must be the number of a column of {path}: from 1 "
                f"to {width}, or from -1, the last, to -{width}"
                + f", or one of {', '.join(_CONLL_U)}" * conll_u
                + f". Received: {name}={column!r}"
            )
        places.append(number - 1 if number > 0 else width + number)
    return places


def _of_table(source, word, tag, tag_names):
    """The sentences of a table that has one in each row."""
    report = Report(source)
    table = open_table(source, report)
    names = [_TOKENS if word is None else [str(word)]]
    names.append(_TAGS if tag is None else [str(tag)])
    columns = [
        find_column(table, list(names), argument, report)
        for names, argument in zip(names, ("word", "tag"), strict=True)
    ]
    sentences = []
    for number, row in table.rows:
        words, tags = (row.get(column) for column in columns)
        try:
            tags = _named(tags, tag_names, columns[1], report)
            sentences.append(_tagged(words, tags))
        except ValueError as error:
            if isinstance(error, CorpusError):
                raise
            report.add(number, error)
    if not sentences:
        raise CorpusError(
            f"The corpus {report.corpus} has no usable {report.unit}. "
            "Expected: a list of words and one of their tags in each. "
            f"Received: {report.seen} {report.unit}s"
            + f", {report.first(1)}"
            * bool(report.malformed)
        )
    report.warn()
    return sentences


def _named(tags, names, column, report):
    """The tags of a sentence as strings."""
    numbers = isinstance(tags, (list, tuple)) and any(
        isinstance(tag, int) for tag in tags
    )
    if not numbers:
        return tags
    if names is None:
        raise CorpusError(
            f"The tags in {column!r} of the corpus {report.corpus} are "
            "numbers. Expected: strings, or the names of the numbers 0, 1, ... "
            f"as `tag_names`. Received: {tags!r:.80}"
        )
    if any(type(tag) is not int or not 0 <= tag < len(names) for tag in tags):
        raise ValueError(f"tags other than 0 to {len(names) - 1}: {tags!r:.40}")
    return [names[tag] for tag in tags]


def _tagged(words, tags):
    """The pairs of words and tags of a sentence."""
    for name, cells in (("words", words), ("tags", tags)):
        if not isinstance(cells, (list, tuple)) or not cells:
            raise ValueError(f"no list of {name}: {cells!r:.40}")
        if not all(isinstance(cell, str) and cell.strip() for cell in cells):
            raise ValueError(f"{name} that are not strings: {cells!r:.40}")
    if len(words) != len(tags):
        raise ValueError(f"{len(words)} words but {len(tags)} tags")
    return list(zip(words, tags, strict=True))
