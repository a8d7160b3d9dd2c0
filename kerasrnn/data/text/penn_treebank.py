"""The Penn Treebank as Mikolov prepared it: a folder or an archive."""

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tables.archives import ARCHIVE_SUFFIXES
from kerasrnn.data.tables.archives import read_archive
from kerasrnn.data.tables.lines import split_lines
from kerasrnn.data.text.text_corpus import TextCorpus
from kerasrnn.data.text.text_corpus import sentences_of

_TRAIN, _VALIDATION, _TEST = _NAMES = tuple(
    f"ptb.{split}.txt" for split in ("train", "valid", "test")
)
_NUM_WORDS = 9_999  # without the end of a sentence, not in the files
_ARCHIVE_FOLDER = ("simple-examples", "data")
_LARGEST = 2**26  # bytes of a file in the archive; ptb.train.txt has 5,101,618


def is_penn_treebank(path):
    """Whether a path is a folder, an archive or one of Mikolov's files."""
    return (
        path.is_dir()
        or path.name in _NAMES
        or path.name.lower().endswith(ARCHIVE_SUFFIXES)
    )


def read_penn_treebank(path):
    """Reads the Penn Treebank as Mikolov prepared it.

    Args:
        path: A `pathlib.Path`, for which `is_penn_treebank` is true.

    Returns:
        A `TextCorpus`.

    Raises:
        CorpusError: If a file is empty or not UTF-8, the archive is damaged,
            or the training set does not have exactly 10,000 types.
        FileNotFoundError: If there is no training or validation set.
    """
    if path.is_dir():
        place, files = path, _folder_files(path)
    elif path.name in _NAMES:
        place, files = path.parent, _folder_files(path.parent)
    else:
        place = path.joinpath(*_ARCHIVE_FOLDER)
        files = _archive_files(path)
    for name in (_TRAIN, _VALIDATION):
        if name not in files:
            raise FileNotFoundError(
                f"The file {name!r} of the corpus is missing. "
                f"Looked for: {place / name}. Expected: {_TRAIN!r} and "
                f"{_VALIDATION!r}, and preferably {_TEST!r}. Received: "
                + (", ".join(map(repr, files)) or "none of them")
            )
    parts = [
        sentences_of(split_lines(files[name], place / name), place / name)
        if name in files
        else None
        for name in _NAMES
    ]
    words = {word for line in parts[0] for word in line.split()}
    if len(words) != _NUM_WORDS:
        raise CorpusError(
            f"{place / _TRAIN} is not the Penn Treebank as Mikolov prepared "
            "it; rename it if it is your own corpus. Expected: exactly "
            f"{_NUM_WORDS + 1:,} types, {_NUM_WORDS:,} words and the "
            f"end of a sentence. Received: {len(words) + 1:,} types, "
            f"{len(words):,} words and the end of a sentence"
        )
    return TextCorpus(*parts)


def _folder_files(folder):
    """Returns the content of each of Mikolov's files that a folder has."""
    paths = [folder / name for name in _NAMES]
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def _archive_files(path):
    """Returns the content of each of Mikolov's files that an archive has."""

    def is_wanted(parts):
        return parts[:-1] == _ARCHIVE_FOLDER and parts[-1] in _NAMES

    files = read_archive(path, is_wanted, _LARGEST)
    return {parts[-1]: content for parts, content in files}
