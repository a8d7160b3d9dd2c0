"""The Large Movie Review Dataset, of Maas et al. (2011).

It is read from its archive, `aclImdb_v1.tar.gz`, which is not extracted.

Reference: https://aclanthology.org/P11-1015
"""

import collections
import gzip
import re
import tarfile
import zlib

from kerasrnn import data

_TEXT = re.compile(r"(?:\./)?aclImdb/(train|test)/(\w+)/((\d+)_\d+\.txt)")
_FILMS = re.compile(r"(?:\./)?aclImdb/train/urls_(\w+)\.txt")
_FILM = re.compile(r"\btt\d+")  # in an address
_LARGEST = 2**24  # bytes of a file; the longest review has 14,000


def read_movie_reviews(path, limit=None, label_names=None):
    """Returns a `LabelledCorpus`, grouped by film.

    The reviews are in the order of their numbers, one of each class in turn.
    Films that share a review, such as a series and its episodes, are one.

    Args:
        path: Path of the archive.
        limit: As in `data.read_labelled_corpus`.
        label_names: As in `data.read_labelled_corpus`.
    """
    reviews, films = _read(path)
    of_texts = _joined(reviews["train"], films)
    train = _in_turn(reviews["train"], ("neg", "pos"))
    test = _in_turn(reviews["test"], ("neg", "pos"))
    corpus = data.read_labelled_corpus(
        train, limit=limit, label_names=label_names, test_path=test or None
    )
    texts = [row["text"] for row in _in_turn(reviews["train"], ("unsup",))]
    return corpus._replace(unlabelled=texts[:limit], groups=of_texts or None)


def _read(path):
    """The reviews of both parts by class and number, and films of classes."""
    reviews, films = {"train": {}, "test": {}}, {}
    try:
        with (
            gzip.open(path) as stream,
            tarfile.open(fileobj=stream, mode="r:") as archive,
        ):
            for member in archive:
                review = _TEXT.fullmatch(member.name)
                found = review or _FILMS.fullmatch(member.name)
                if not (found and member.isfile()):
                    continue
                content = archive.extractfile(member).read(_LARGEST)
                if review:
                    part, kind, name, number = review.groups()
                    texts = reviews[part].setdefault(kind, {})
                    texts[int(number), name] = content
                else:
                    lines = content.decode("ascii", "replace").split("\n")
                    films[found[1]] = list(map(_FILM.search, lines))
            while stream.read(2**20):  # to the end, where the checksum is
                pass
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise data.CorpusError(
            f"The corpus {path} cannot be read. Expected: the archive "
            f"aclImdb_v1.tar.gz. Received: {error}"
        ) from error
    return reviews, films


def _in_turn(reviews, kinds):
    """Rows of reviews, one of each class in turn."""
    rows = collections.defaultdict(list)
    for kind in kinds:
        for place, key in enumerate(sorted(reviews.get(kind, ()))):
            text = _text(reviews[kind][key])
            rows[place].append({"text": text, "label": kind})
    return [row for place in sorted(rows) for row in rows[place]]


def _text(content):
    return content.decode("utf-8-sig", "surrogateescape").strip()


def _joined(reviews, films):
    """A dict from reviews to films, where films that share a review are one."""
    firsts, found = {}, {}

    def first(film):
        while firsts.setdefault(film, film) != film:
            film = firsts[film]
        return film

    for kind in sorted(films):
        lines = dict(enumerate(films[kind]))
        for number, name in sorted(reviews.get(kind, ())):
            text = (
                reviews[kind][number, name]
                .decode("utf-8-sig", "replace")
                .strip()
            )
            if film := lines.get(number):
                firsts[first(film[0])] = first(found.setdefault(text, film[0]))
    return {text: first(film) for text, film in found.items()}
