"""Reading a corpus of one sentence per line."""

import itertools
from typing import Any

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.report import Report
from kerasrnn.data.tables.lines import all_lines
from kerasrnn.data.tables.lines import existing_path
from kerasrnn.data.tables.markup import sentences_in
from kerasrnn.data.tables.rows import finish
from kerasrnn.data.tables.rows import name_of
from kerasrnn.data.tables.rows import read_columns
from kerasrnn.data.tables.tables import ROW_SUFFIXES
from kerasrnn.data.tables.tables import is_table
from kerasrnn.data.text.penn_treebank import is_penn_treebank
from kerasrnn.data.text.penn_treebank import read_penn_treebank
from kerasrnn.data.text.text_corpus import TextCorpus
from kerasrnn.data.text.text_corpus import sentences_of
from kerasrnn.data.text.text_corpus import split_text_corpus
from kerasrnn.typing import PathLike
from kerasrnn.warning import warn

_FEW, _WORDS = 10, 100  # lines of a text that is cut, and words of the new


def read_text_corpus(
    path: PathLike | Any,
    validation: PathLike | Any | None = None,
    test: PathLike | Any | None = None,
    limit: int | None = None,
    text_column: str | int | None = None,
) -> TextCorpus:
    r"""Reads a corpus of one sentence per line, and splits it.

    Any text file works, gzipped as `.gz` or not, with or without separate
    files for validation and test. Without a file for validation,
    `split_text_corpus` divides the lines. Without a file for test, `test` is
    `None`.

    Of a table, the texts in one column are read, and each of their lines is
    one. By its extension, a file is a table in a format of `read_rows`: `.csv`,
    `.tsv`, `.jsonl`, `.ndjson`, `.json`, `.parquet` and `.tmx`; with
    `text_column`, any file is. So are data sets, DataFrames and lists of dicts.

    The Penn Treebank as Mikolov prepared it comes in three parts. It is read
    from a folder with `ptb.train.txt`, `ptb.valid.txt` and `ptb.test.txt`,
    from the path of one of these files, or from `simple-examples.tgz` without
    extracting it. Without `ptb.test.txt`, `test` is `None`. `ptb.train.txt`
    must have exactly the 10,000 types of published results: 9,999 words and
    the end of a sentence.

    Files are UTF-8, with or without a byte order mark, with LF or CRLF line
    ends. Only a line feed ends a line. White space around a line and blank
    lines are removed. A text of fewer than 10 lines and at least 1,000 words,
    such as text8, is cut into lines of 100 words, with a `CorpusWarning`.
    Lines of tags that corpora have, as `<doc id="1">`, are left out with
    another; of a file with `<seg>` elements, as of WMT, these are the lines.
    Another warns of a file for validation or test if most of its lines are in
    the training set.

    Args:
        path: String or path, the folder, archive or file to read; or a table
            in memory.
        validation: The same of the validation set, a file or a table.
        test: The same of the test set.
        limit: Positive integer, how many lines of the training set to keep:
            the first. Validation and test keep a tenth as many, at least one.
            Defaults to `None`, which keeps all.
        text_column: String, the column of tables with the texts, or its number
            from 1 if there is no header. Defaults to the first of `review`,
            `text` and `sentence` that exists.

    Returns:
        A `TextCorpus`, a named tuple of `train`, `validation` and `test`.

    Raises:
        CorpusError: If a file is empty, is not UTF-8 or not an archive, has
            too few lines to divide, or is a `ptb.train.txt` without exactly
            10,000 types; or if a table lacks the column. It is a `ValueError`.
        FileNotFoundError: If there is nothing at `path`, or no
            `ptb.train.txt` or `ptb.valid.txt` in it.
        ValueError: If `limit` is not a positive integer.

    Example:

    >>> lines = ["the red book", "", "the reader reads", "a blue book"]
    >>> pathlib.Path("corpus.txt").write_text("\n".join(lines))
    >>> corpus = read_text_corpus("corpus.txt")
    >>> corpus.train
    ['the red book', 'the reader reads']
    >>> corpus.validation, corpus.test
    (['a blue book'], None)
    """
    optional_positive_integer("limit", limit)
    place = None if _is_table(path, text_column) else existing_path(path)
    alone = validation is None and test is None
    if place and alone and is_penn_treebank(place):
        corpus = read_penn_treebank(place)
    else:
        corpus = _read_files((path, validation, test), text_column)
    if limit is None:
        return corpus
    few = max(1, limit // 10)
    return TextCorpus(
        corpus.train[:limit],
        corpus.validation[:few],
        corpus.test and corpus.test[:few],
    )


def _read_files(sources, column):
    """Reads a corpus from one to three files or tables."""
    names = [name_of(source) for source in sources]
    train, validation, test = (
        None
        if source is None
        else _cut(sentences_of(text_lines(source, column), name), name)
        for source, name in zip(sources, names, strict=True)
    )
    if validation is not None:
        corpus = TextCorpus(train, validation, test)
    else:
        try:
            corpus = split_text_corpus(train)._replace(test=test)
        except CorpusError as error:
            raise CorpusError(f"{error}, in {names[0]}") from None
    for source, name, lines in zip(sources, names, corpus, strict=True):
        if source is not None and lines is not corpus.train:
            _warn_of_copies(corpus.train, lines, name)
    return corpus


def text_lines(source, column=None, argument="text_column"):
    """Returns the lines of a file of text, or of the texts of a table.

    Lines of markup are blank; where segments are marked up, they are the lines.

    Args:
        source: String or path; or a table in memory.
        column: String or integer, the column of the texts; `None` for a usual
            one.
        argument: String, the argument for another column, for messages;
            `None` if there is none.
    """
    if not _is_table(source, column):
        report = Report(source)
        lines = sentences_in(all_lines(source), report)
        report.warn()
        return lines
    rows = read_columns(
        source, {"lines": column}, arguments={"lines": argument}
    )
    if not len(rows):
        rows.report.refuse_all("text", "a text in each row")
    return list(itertools.chain.from_iterable(finish(rows)["lines"]))


def _is_table(source, column):
    return column is not None or is_table(source, ROW_SUFFIXES)


def _warn_of_copies(train, lines, place):
    """Warns if most lines of a file to score on are trained on."""
    learnt = set(train)
    copies = sum(line in learnt for line in lines)
    if copies > len(lines) / 2:
        warn(
            f"{copies:,} of {len(lines):,} lines of {place} are also in the "
            "training set: scores on them will be too high",
            CorpusWarning,
        )


def _cut(lines, place):
    """Cuts a text that has hardly any line, as text8, into many.

    Otherwise a tenth of its lines could not be held out.
    """
    words = sum(len(line.split()) for line in lines[:_FEW])
    if len(lines) >= _FEW or words < _FEW * _WORDS:
        return lines
    cut = []
    for line in lines:
        words = line.split()
        starts = range(0, len(words), _WORDS)
        cut += [" ".join(words[start : start + _WORDS]) for start in starts]
    warn(
        f"The text {place} has {len(lines)} lines with text. They were cut "
        f"into {len(cut):,} lines of {_WORDS} words; a model learns that a "
        "line ends there",
        CorpusWarning,
    )
    return cut
