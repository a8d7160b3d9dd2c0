"""Reading a corpus of one sentence per line."""

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.report import Report
from kerasrnn.data.tables.lines import all_lines
from kerasrnn.data.tables.lines import existing_path
from kerasrnn.data.tables.markup import sentences_in
from kerasrnn.data.text.penn_treebank import is_penn_treebank
from kerasrnn.data.text.penn_treebank import read_penn_treebank
from kerasrnn.data.text.text_corpus import TextCorpus
from kerasrnn.data.text.text_corpus import sentences_of
from kerasrnn.data.text.text_corpus import split_text_corpus
from kerasrnn.typing import PathLike
from kerasrnn.warning import warn

_FEW, _WORDS = 10, 100  # lines of a text that is cut, and words of the new


def read_text_corpus(
    path: PathLike,
    validation: PathLike | None = None,
    test: PathLike | None = None,
    limit: int | None = None,
) -> TextCorpus:
    r"""Reads a corpus of one sentence per line, and splits it.

    Any text file works, gzipped as `.gz` or not, with or without separate
    files for validation and test. Without a file for validation,
    `split_text_corpus` divides the lines. Without a file for test, `test` is
    `None`.

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
        path: String or path, the folder, archive or file to read.
        validation: String or path, the file of the validation set.
        test: String or path, the file of the test set.
        limit: Positive integer, how many lines of the training set to keep:
            the first. Validation and test keep a tenth as many, at least one.
            Defaults to `None`, which keeps all.

    Returns:
        A `TextCorpus`, a named tuple of `train`, `validation` and `test`.

    Raises:
        CorpusError: If a file is empty, is not UTF-8 or not an archive, has
            too few lines to divide, or is a `ptb.train.txt` without exactly
            10,000 types. It is a `ValueError`.
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
    path = existing_path(path)
    if validation is not None or test is not None:
        corpus = _read_files(path, validation, test)
    elif is_penn_treebank(path):
        corpus = read_penn_treebank(path)
    else:
        corpus = _read_files(path)
    if limit is None:
        return corpus
    few = max(1, limit // 10)
    return TextCorpus(
        corpus.train[:limit],
        corpus.validation[:few],
        corpus.test and corpus.test[:few],
    )


def _read_files(path, validation=None, test=None):
    """Reads a corpus from one to three files."""
    parts = [
        place and _cut(sentences_of(_text_lines(place), place), place)
        for place in (path, validation, test)
    ]
    if validation is not None:
        corpus = TextCorpus(*parts)
    else:
        try:
            corpus = split_text_corpus(parts[0])._replace(test=parts[2])
        except CorpusError as error:
            raise CorpusError(f"{error}, in {path}") from None
    for name, place in (("validation", validation), ("test", test)):
        if place is not None:
            _warn_of_copies(corpus.train, getattr(corpus, name), place)
    return corpus


def _text_lines(place):
    """The lines of a file, of which those of markup are blank, or segments."""
    report = Report(place)
    lines = sentences_in(all_lines(place), report)
    report.warn()
    return lines


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
