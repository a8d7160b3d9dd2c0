"""Reading a corpus of sentences, one a line, and one of tagged words."""

import gzip
import pathlib
import tarfile
import zlib
from typing import NamedTuple

from kerasrnn.data.errors import CorpusError

# The Penn Treebank as Mikolov prepared it: training, validation, test.
_TRAIN, _VALIDATION, _TEST = _MIKOLOV = tuple(
    f"ptb.{split}.txt" for split in ("train", "valid", "test")
)
_MIKOLOV_WORDS = 9_999  # and the end of a sentence, which the files leave out
_ARCHIVE_FOLDER = pathlib.PurePosixPath("simple-examples/data")
_ARCHIVE_ENDS = (".tgz", ".tar.gz")


class TextCorpus(NamedTuple):
    """The sentences of a corpus.

    Args:
        train: List of strings, the sentences to train on.
        validation: List of strings, the sentences to choose models by.
        test: List of strings, the sentences to report on; `None` where the
            corpus has none.
    """

    train: list[str]
    validation: list[str]
    test: list[str] | None


def read_text_corpus(path, limit=None):
    r"""Reads a corpus of one sentence a line, and divides it.

    The Penn Treebank in Mikolov's form is divided already. It is read from a
    folder with `ptb.train.txt`, `ptb.valid.txt` and `ptb.test.txt`, from the
    path of one of these files, or in place from `simple-examples.tgz`.
    Without `ptb.test.txt` there is no test part: say so to the user.
    `ptb.train.txt` must have the 10,000 types that published figures are
    about: 9,999 words, and the end of a sentence.

    Of any other file the last tenth of the lines, at least one, is for
    validation, and there is no test part.

    Files are UTF-8, with or without a byte order mark, with LF or CRLF line
    ends. Only a line feed ends a line. White space around a line is dropped,
    and so are blank lines.

    Args:
        path: String or path, the folder, archive or file to read.
        limit: Positive integer, how many lines of the training part to keep:
            the first. Of validation and test a tenth as many are kept, at
            least one. Defaults to `None`, which keeps all.

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

    ```python
    with open("corpus.txt", "w", encoding="utf-8") as file:
        file.write("the red book\n\nthe reader reads\r\na blue book\n")
    corpus = read_text_corpus("corpus.txt")
    corpus.train  # ["the red book", "the reader reads"]
    corpus.validation  # ["a blue book"]
    corpus.test  # None
    ```
    """
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise ValueError(
            "`limit` must be a positive integer or `None`. "
            f"Received: limit={limit!r}"
        )
    path = _existing_path(path)
    if path.is_dir():
        corpus = _read_mikolov(_folder_files(path), path)
    elif path.name in _MIKOLOV:
        corpus = _read_mikolov(_folder_files(path.parent), path.parent)
    elif path.name.endswith(_ARCHIVE_ENDS):
        corpus = _read_mikolov(_archive_files(path), path / _ARCHIVE_FOLDER)
    else:
        corpus = _read_one_file(path)
    if limit is None:
        return corpus
    few = max(1, limit // 10)
    test = corpus.test and corpus.test[:few]
    return TextCorpus(corpus.train[:limit], corpus.validation[:few], test)


def read_tagged_words(path):
    r"""Reads sentences of `word TAB tag` lines.

    Blank lines stand between sentences. The file is UTF-8, with or without a
    byte order mark, with LF or CRLF line ends.

    Args:
        path: String or path, the file to read.

    Returns:
        List of sentences, each a list of `(word, tag)` strings.

    Raises:
        CorpusError: If a line is neither blank nor a word and its tag, the
            file is not UTF-8, or no line has a word. It is a `ValueError`.
        FileNotFoundError: If there is no such file.
        IsADirectoryError: If `path` is a folder.

    Example:

    ```python
    with open("tagged.tsv", "w", encoding="utf-8") as file:
        file.write("who\tWP\nknows\tVBZ\n\nhello\tUH\n")
    read_tagged_words("tagged.tsv")
    # [[("who", "WP"), ("knows", "VBZ")], [("hello", "UH")]]
    ```
    """
    path = _existing_path(path)
    if path.is_dir():
        raise IsADirectoryError(
            "Expected a file of `word TAB tag` lines. "
            f"Received: the folder {path.absolute()}"
        )
    sentences = [[]]
    for number, line in enumerate(_split(path.read_bytes(), path), start=1):
        if not line.strip():
            sentences.append([])
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != 2 or not all(columns):
            raise CorpusError(
                f"Line {number} of the corpus {path} is malformed. "
                "Expected: `word TAB tag`, or a blank line between "
                f"sentences. Received: {line!r}"
            )
        sentences[-1].append(tuple(columns))
    sentences = [sentence for sentence in sentences if sentence]
    if not sentences:
        raise _empty(path)
    return sentences


def _existing_path(path):
    path = pathlib.Path(path).expanduser()
    if not path.exists():
        raise FileNotFoundError(
            f"The corpus {path.name!r} is missing. "
            f"Looked for: {path.absolute()}"
        )
    return path


def _folder_files(folder):
    """Returns the content of each of Mikolov's files that a folder has."""
    paths = [folder / name for name in _MIKOLOV]
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def _archive_files(path):
    """Returns the content of each of Mikolov's files that an archive has."""
    files = {}
    try:
        with (
            gzip.open(path) as stream,
            tarfile.open(fileobj=stream, mode="r:") as archive,
        ):
            for member in archive:
                # As a path, `./simple-examples` is `simple-examples`.
                place = pathlib.PurePosixPath(member.name)
                wanted = place.name in _MIKOLOV and member.isfile()
                if wanted and place.parent == _ARCHIVE_FOLDER:
                    files[place.name] = archive.extractfile(member).read()
            # A damaged header ends an archive silently. The checksum at the
            # end of the stream tells.
            while stream.read(2**20):
                pass
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise CorpusError(
            f"The corpus {path} cannot be read. Expected: the whole tar "
            f"archive simple-examples.tgz. Received: {error}"
        ) from error
    return files


def _read_mikolov(files, place):
    """Makes a corpus of a dict from the names of files to their bytes."""
    for name in (_TRAIN, _VALIDATION):
        if name not in files:
            raise FileNotFoundError(
                f"The file {name!r} of the corpus is missing. "
                f"Looked for: {place / name}. Expected: {_TRAIN!r} and "
                f"{_VALIDATION!r}, and best {_TEST!r}. Received: "
                + (", ".join(map(repr, files)) or "none of them")
            )
    parts = [
        _lines(files[name], place / name) if name in files else None
        for name in _MIKOLOV
    ]
    words = {word for line in parts[0] for word in line.split()}
    if len(words) != _MIKOLOV_WORDS:
        raise CorpusError(
            f"{place / _TRAIN} is not the Penn Treebank as Mikolov prepared "
            "it; give a corpus of your own another name. Expected: exactly "
            f"{_MIKOLOV_WORDS + 1:,} types, {_MIKOLOV_WORDS:,} words and the "
            f"end of a sentence. Received: {len(words) + 1:,} types, "
            f"{len(words):,} words and the end of a sentence"
        )
    return TextCorpus(*parts)


def _read_one_file(path):
    lines = _lines(path.read_bytes(), path)
    if len(lines) < 2:
        raise CorpusError(
            f"The corpus {path} is too short to hold out a line for "
            "validation. Expected: at least 2 lines that are not blank. "
            f"Received: 1 line of {len(lines[0].split())} words"
        )
    held_out = max(1, len(lines) // 10)
    return TextCorpus(lines[:-held_out], lines[-held_out:], None)


def _lines(content, place):
    """Returns the lines of a file that are not blank, at least one."""
    lines = [line.strip() for line in _split(content, place)]
    lines = [line for line in lines if line]
    if not lines:
        raise _empty(place)
    return lines


def _split(content, place):
    """Returns the lines of a file as they stand."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"The corpus {place} is not UTF-8. "
            f"Received: byte 0x{content[error.start]:02x} "
            f"at offset {error.start}"
        ) from error
    # Nothing but a line feed splits.
    return text.removeprefix("\ufeff").split("\n")


def _empty(place):
    return CorpusError(
        f"The corpus {place} is empty. Expected: lines of text. "
        "Received: no line that is not blank"
    )
