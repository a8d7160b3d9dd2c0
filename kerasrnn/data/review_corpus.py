"""Reading reviews that are labelled positive or negative."""

import gzip
import itertools
import pathlib
import re
import tarfile
import warnings
import zlib
from typing import NamedTuple

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.labelled_texts import LabelledTexts
from kerasrnn.data.labelled_texts import read_labelled_table
from kerasrnn.data.labelled_texts import select

_ROOT = "aclImdb"
_PARTS = [
    ("train", "pos"),
    ("train", "neg"),
    ("train", "unsup"),
    ("test", "pos"),
    ("test", "neg"),
]
_ARCHIVE_ENDS = (".tgz", ".tar.gz")
# No name of a member may lead out of the folder, on any system.
_OUTSIDE = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)")
_LARGEST = 2**24  # bytes of a review; the longest of the corpus has 14,000


class ReviewCorpus(NamedTuple):
    """The reviews of a corpus.

    Args:
        train: `LabelledTexts` to train on.
        test: `LabelledTexts` to report on; `None` where the corpus has none.
        unlabelled: List of strings, reviews without a label.
    """

    train: LabelledTexts
    test: LabelledTexts | None
    unlabelled: list[str]


def read_review_corpus(path, limit=None):
    r"""Reads a corpus of positive and negative reviews.

    The Large Movie Review Dataset of Maas et al. is read from the archive
    `aclImdb_v1.tar.gz`, which is not unpacked, or from the folder `aclImdb`.
    Its reviews are ordered by the number of their file, a positive and a
    negative one in turn. Without `test/` there is no test part: say so to the
    user.

    Any other file is read as a table with a header, `\t` or `,` between the
    columns, and cells in `"` where they need it. The column `review`, `text`
    or `sentence` has the text; `sentiment` or `label` says `positive`, `pos`
    or `1`, or `negative`, `neg` or `0`. All of it is the training part, in
    the order of the file.

    Texts are UTF-8. White space around a text is dropped. A review that is
    empty or not UTF-8, and a row that is no review with a label, is left out,
    and reported in one `CorpusWarning`.

    Args:
        path: String or path, the archive, folder or table to read.
        limit: Positive integer, how many reviews to keep: the first of each
            class, half and half, an odd one positive. So many are kept of
            each part. Defaults to `None`, which keeps all.

    Returns:
        A `ReviewCorpus`, a named tuple of `train`, `test` and `unlabelled`.

    Raises:
        CorpusError: If the training part lacks a class, an archive is damaged
            or has a member that is a link or a device or whose name leads out
            of the folder, or a table lacks a column. It is a `ValueError`.
        FileNotFoundError: If there is nothing at `path`.
        ValueError: If `limit` is not a positive integer.

    Example:

    ```python
    with open("reviews.tsv", "w", encoding="utf-8") as file:
        file.write("label\ttext\npos\tI loved it.\nneg\tI slept.\n")
    corpus = read_review_corpus("reviews.tsv")
    corpus.train.texts  # ["I loved it.", "I slept."]
    corpus.train.labels  # [1, 0]
    ```

    Reference:
        [Maas et al., 2011](https://aclanthology.org/P11-1015).
    """
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise ValueError(
            "`limit` must be a positive integer or `None`. "
            f"Received: limit={limit!r}"
        )
    path = pathlib.Path(path).expanduser()
    if not path.exists():
        raise FileNotFoundError(
            f"The corpus {path.name!r} is missing. "
            f"Looked for: {path.absolute()}"
        )
    if path.is_dir():
        corpus, malformed = _collect(_folder_files(path))
    elif path.name.endswith(_ARCHIVE_ENDS):
        corpus, malformed = _collect(_archive_files(path))
    else:
        train, malformed = read_labelled_table(path)
        corpus = ReviewCorpus(train, None, [])
    problems = ", ".join(f"{place} ({why})" for place, why in malformed[:3])
    problems += ", ..." * (len(malformed) > 3)
    counts = [corpus.train.labels.count(label) for label in (1, 0)]
    if not all(counts):
        raise CorpusError(
            f"The corpus {path} cannot be learned from. Expected: positive "
            f"and negative reviews, from aclImdb/train/pos and "
            "aclImdb/train/neg or from a table. Received: "
            f"{counts[0]} positive, {counts[1]} negative"
            + (f", {len(malformed)} malformed: {problems}" * bool(malformed))
        )
    if malformed:
        warnings.warn(
            f"{len(malformed)} malformed reviews of the corpus {path} were "
            f"left out: {problems}",
            CorpusWarning,
            stacklevel=2,
        )
    if limit is None:
        return corpus
    return ReviewCorpus(
        _first(corpus.train, limit),
        corpus.test and _first(corpus.test, limit),
        corpus.unlabelled[:limit],
    )


def _first(texts, limit):
    """The first texts of each class, half and half, in their order."""
    left = {1: (limit + 1) // 2, 0: limit // 2}
    places = []
    for place, label in enumerate(texts.labels):
        if left[label]:
            left[label] -= 1
            places.append(place)
    return select(texts, places)


def _folder_files(path):
    """Yields `(split, kind, name, content)` of the reviews in a folder."""
    root = path / _ROOT if (path / _ROOT).is_dir() else path
    for split, kind in _PARTS:
        for file in (root / split / kind).glob("*.txt"):
            yield split, kind, file.name, file.read_bytes()


def _archive_files(path):
    """Yields `(split, kind, name, content)` of the reviews in an archive."""
    try:
        with (
            gzip.open(path) as stream,
            tarfile.open(fileobj=stream, mode="r:") as archive,
        ):
            for member in archive:
                parts = _safe_parts(member, path)
                if len(parts) == 4 and parts[0] == _ROOT and member.isfile():
                    _, split, kind, name = parts
                    if (split, kind) in _PARTS and name.endswith(".txt"):
                        content = archive.extractfile(member).read()
                        yield split, kind, name, content
            # A damaged header ends an archive silently. The checksum at the
            # end of the stream tells.
            while stream.read(2**20):
                pass
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise CorpusError(
            f"The corpus {path} cannot be read. Expected: the whole tar "
            f"archive aclImdb_v1.tar.gz. Received: {error}"
        ) from error


def _safe_parts(member, path):
    """The parts of the name of a member, if nothing is wrong with it."""
    problem = None
    if _OUTSIDE.search(member.name):
        problem = "leads out of the folder"
    elif not (member.isfile() or member.isdir()):
        problem = "is a link or a device"
    elif member.size > _LARGEST:
        problem = f"has {member.size:,} bytes"
    if problem:
        raise CorpusError(
            f"The corpus {path} is not to be trusted. Expected: folders, and "
            f"files in them of at most {_LARGEST:,} bytes. "
            f"Received: {member.name!r}, which {problem}"
        )
    return [part for part in member.name.split("/") if part not in ("", ".")]


def _collect(files):
    """Makes a corpus of files, and a list of those that are no good."""
    found, malformed = {part: {} for part in _PARTS}, []
    for split, kind, name, content in files:
        if name.startswith("."):  # what a Mac leaves behind
            continue
        try:
            text = content.decode("utf-8").removeprefix("\ufeff").strip()
            problem = None if text else "empty"
        except UnicodeDecodeError as error:
            problem = f"invalid UTF-8 at offset {error.start}"
        if problem:
            malformed.append((f"{split}/{kind}/{name}", problem))
        else:
            found[split, kind][name] = text
    parts = {
        part: [texts[name] for name in sorted(texts, key=_file_order)]
        for part, texts in found.items()
    }
    train, test = (
        _in_turn(parts[split, "pos"], parts[split, "neg"])
        for split in ("train", "test")
    )
    malformed.sort()  # a folder has no order
    corpus = ReviewCorpus(
        train, test if test.texts else None, parts["train", "unsup"]
    )
    return corpus, malformed


def _file_order(name):
    """Key of a file such as `12_9.txt`, which 12 orders."""
    number = re.match(r"\d{1,18}", name, re.ASCII)
    return (int(number[0]), name) if number else (10**18, name)


def _in_turn(positive, negative):
    pairs = itertools.chain.from_iterable(
        itertools.zip_longest(
            [(text, 1) for text in positive], [(text, 0) for text in negative]
        )
    )
    rows = [pair for pair in pairs if pair]
    return LabelledTexts([text for text, _ in rows], [n for _, n in rows])
