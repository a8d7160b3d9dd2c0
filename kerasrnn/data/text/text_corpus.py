"""Reading a corpus of one sentence per line, in three parts."""

from typing import NamedTuple

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.tables.archives import ARCHIVE_SUFFIXES
from kerasrnn.data.tables.archives import read_archive
from kerasrnn.data.tables.lines import all_lines
from kerasrnn.data.tables.lines import existing_path
from kerasrnn.data.tables.lines import split_lines
from kerasrnn.typing import PathLike
from kerasrnn.warning import warn

# The Penn Treebank as Mikolov prepared it: training, validation, test.
_TRAIN, _VALIDATION, _TEST = _MIKOLOV = tuple(
    f"ptb.{split}.txt" for split in ("train", "valid", "test")
)
_MIKOLOV_WORDS = 9_999  # without the end of a sentence, not in the files
_ARCHIVE_FOLDER = ("simple-examples", "data")
_FEW, _WORDS = 10, 100  # lines of a text that is cut, and words of the new
_LARGEST = 2**26  # bytes of a file in the archive; ptb.train.txt has 5,101,618


class TextCorpus(NamedTuple):
    """The sentences of a corpus.

    Args:
        train: List of strings, the training set.
        validation: List of strings, the validation set.
        test: List of strings, the test set; `None` if there is none.
    """

    train: list[str]
    validation: list[str]
    test: list[str] | None


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
    unpacking it. Without `ptb.test.txt`, `test` is `None`. `ptb.train.txt`
    must have exactly the 10,000 types of published results: 9,999 words and
    the end of a sentence.

    Files are UTF-8, with or without a byte order mark, with LF or CRLF line
    ends. Only a line feed ends a line. White space around a line and blank
    lines are removed. A text of fewer than 10 lines and at least 1,000 words,
    such as text8, is cut into lines of 100 words, with a `CorpusWarning`. So is
    warned of files for validation or test whose lines are mostly those of the
    training set.

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
    elif path.is_dir():
        corpus = _read_mikolov(_folder_files(path), path)
    elif path.name in _MIKOLOV:
        corpus = _read_mikolov(_folder_files(path.parent), path.parent)
    elif path.name.lower().endswith(ARCHIVE_SUFFIXES):
        place = path.joinpath(*_ARCHIVE_FOLDER)
        corpus = _read_mikolov(_archive_files(path), place)
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


def split_text_corpus(lines: list[str]) -> TextCorpus:
    """Holds out the last tenth of the lines, at least one, for validation.

    Args:
        lines: List of at least two strings.

    Returns:
        A `TextCorpus` without a test set.

    Raises:
        CorpusError: If there are fewer than two lines.

    Example:

    >>> split_text_corpus(["one", "two", "three"])
    TextCorpus(train=['one', 'two'], validation=['three'], test=None)
    """
    if len(lines) < 2:
        found = "no line"
        if lines:
            found = f"1 line of {len(lines[0].split())} words"
        raise CorpusError(
            "The text is too short to hold out a line for validation. "
            f"Expected: at least 2 lines with text. Received: {found}"
        )
    held_out = max(1, len(lines) // 10)
    return TextCorpus(lines[:-held_out], lines[-held_out:], None)


def _read_files(path, validation=None, test=None):
    """Reads a corpus from one to three files."""
    parts = [
        place and _cut(_sentences(all_lines(place), place), place)
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


def _warn_of_copies(train, lines, place):
    """Warns if most lines of a file to score on are trained on."""
    learnt = set(train)
    copies = sum(line in learnt for line in lines)
    if copies > len(lines) / 2:
        warn(
            f"{copies:,} of {len(lines):,} lines of {place} are also in the "
            "training set: scores on them flatter",
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


def _folder_files(folder):
    """Returns the content of each of Mikolov's files that a folder has."""
    paths = [folder / name for name in _MIKOLOV]
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def _archive_files(path):
    """Returns the content of each of Mikolov's files that an archive has."""

    def is_wanted(parts):
        return parts[:-1] == _ARCHIVE_FOLDER and parts[-1] in _MIKOLOV

    files = read_archive(path, is_wanted, _LARGEST)
    return {parts[-1]: content for parts, content in files}


def _read_mikolov(files, place):
    """Reads Mikolov's corpus from a dict of file names to their bytes."""
    for name in (_TRAIN, _VALIDATION):
        if name not in files:
            raise FileNotFoundError(
                f"The file {name!r} of the corpus is missing. "
                f"Looked for: {place / name}. Expected: {_TRAIN!r} and "
                f"{_VALIDATION!r}, and preferably {_TEST!r}. Received: "
                + (", ".join(map(repr, files)) or "none of them")
            )
    parts = [
        _sentences(split_lines(files[name], place / name), place / name)
        if name in files
        else None
        for name in _MIKOLOV
    ]
    words = {word for line in parts[0] for word in line.split()}
    if len(words) != _MIKOLOV_WORDS:
        raise CorpusError(
            f"{place / _TRAIN} is not the Penn Treebank as Mikolov prepared "
            "it; rename it if it is your own corpus. Expected: exactly "
            f"{_MIKOLOV_WORDS + 1:,} types, {_MIKOLOV_WORDS:,} words and the "
            f"end of a sentence. Received: {len(words) + 1:,} types, "
            f"{len(words):,} words and the end of a sentence"
        )
    return TextCorpus(*parts)


def _sentences(lines, place):
    """Returns the lines that are not blank, at least one."""
    sentences = [line.strip() for line in lines]
    sentences = [sentence for sentence in sentences if sentence]
    if not sentences:
        raise CorpusError(
            f"The corpus {place} is empty. Expected: lines of text. "
            "Received: no line with text"
        )
    return sentences
