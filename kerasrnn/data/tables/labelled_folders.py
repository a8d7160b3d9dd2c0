"""Labelled texts in files: folders of classes, or the archive of aclImdb."""

import pathlib
import re
from typing import NamedTuple

from kerasrnn.data.tables.archives import read_archive
from kerasrnn.data.tables.archives import untrusted
from kerasrnn.data.tables.encodings import decode
from kerasrnn.data.tables.lines import split_lines
from kerasrnn.tokenizers.invisible import is_blank

_ROOT = "aclImdb"
_SPLITS = ("train", "test")
_UNLABELLED = "unsup"
_LARGEST = 2**24  # bytes of a file; the longest text in aclImdb has 14,000
_ADDRESSES = re.compile(r"urls_.+\.txt")  # of the films of a class
_FILM = re.compile(r"\btt\d+", re.ASCII)  # in such an address


class TextFile(NamedTuple):
    """A text in a file, `split/kind/name`, where kind is its class.

    The kind of `train/urls_pos.txt`, the addresses of the films of the texts
    in `train/pos`, is empty.
    """

    split: str
    kind: str
    name: str
    content: bytes


def folder_files(path, report):
    """Yields the `TextFile`s of a folder.

    Its sub-folders are classes, or `train` and `test`, whose sub-folders are
    classes. They may also be in a sub-folder `aclImdb`. The texts of a class
    are its `.txt` files; if it has none, those without an extension, as in 20
    Newsgroups. All else in a class is reported, and so is a class without a
    text. Links are not followed, since they may lead anywhere.

    Raises:
        CorpusError: If the folder of a class, or a file of addresses, is a
            link.
    """
    root = path / _ROOT if (path / _ROOT).is_dir() else path
    splits = [split for split in _SPLITS if (root / split).is_dir()]
    if "train" not in splits:
        yield from _class_files(root, root, "train", report)
        return
    others = [x.name for x in _visible(root) if x.is_dir()]
    if others := sorted(set(others) - set(_SPLITS)):
        report.notes.append(
            "of its folders, only train and test are read. Received also: "
            + ", ".join(map(repr, others))
        )
    for split in splits:
        yield from _class_files(root, root / split, split, report)


def _visible(folder):
    """The files and folders in a folder, sorted, but for hidden ones."""
    return sorted(x for x in folder.iterdir() if not x.name.startswith("."))


def _class_files(root, folder, split, report):
    _refuse_link(root, folder)
    for file in _visible(folder):
        if _is_addresses((split, file.name)):
            _refuse_link(root, file)
            yield TextFile(split, "", file.name, file.read_bytes())
    for kind in filter(pathlib.Path.is_dir, _visible(folder)):
        if split == "test" and kind.name == _UNLABELLED:
            continue
        _refuse_link(root, kind)
        files = _visible(kind)
        suffixes = {file.suffix.lower() for file in files}
        suffix = ".txt" if ".txt" in suffixes else ""
        if suffix not in suffixes:
            report.notes.append(f"its class {kind.name!r} has no .txt file")
        for file in files:
            try:
                if file.suffix.lower() != suffix or file.is_dir():
                    raise ValueError(f"not a {suffix or '.txt'} file")
                if file.is_symlink() or not file.is_file():
                    raise ValueError("a link or a device")
                content = file.read_bytes()
            except (ValueError, OSError) as error:
                report.seen += 1
                report.add(f"{split}/{kind.name}/{file.name}", error)
            else:
                yield TextFile(split, kind.name, file.name, content)


def _refuse_link(root, path):
    if path != root and path.is_symlink():
        name = path.relative_to(root).as_posix()
        raise untrusted(root, name, "is a link")


def archive_files(path, report):
    """Yields the `TextFile`s of an archive such as `aclImdb_v1.tar.gz`."""

    def is_wanted(parts):
        root, *parts = parts or ("",)
        return root == _ROOT and (_is_text(parts) or _is_addresses(parts))

    for parts, content in read_archive(path, is_wanted, _LARGEST):
        _, split, *kind, name = parts
        yield TextFile(split, "".join(kind), name, content)


def _is_addresses(parts):
    """Whether the path of a file is that of the addresses of films."""
    return (
        len(parts) == 2
        and parts[0] == "train"
        and _ADDRESSES.fullmatch(parts[1]) is not None
    )


def _is_text(parts):
    """Whether the path of a file is that of a text."""
    if len(parts) != 3:
        return False
    split, kind, name = parts
    return (
        split in _SPLITS
        and (kind != _UNLABELLED or split == "train")
        and name.endswith(".txt")
        and not name.startswith(".")  # such as the files that macOS adds
    )


def collect(files, report):
    """Groups texts by part and class, and sorts them.

    Args:
        files: Iterable of `TextFile`.
        report: The `Report` that empty and undecodable files are added to,
            and those without a film if there are addresses of films.

    Returns:
        A tuple `(train, test, unlabelled, films)`. The first two are dicts
        from the name of a class to its texts, the third is a list of texts.
        Texts are sorted by the number at the beginning of their file name.
        The last is a dict from the texts of `train` and `unlabelled` to their
        films, `None` without addresses of films.

    Raises:
        CorpusError: If a file of addresses is not UTF-8.
    """
    found = {split: {} for split in _SPLITS}
    addresses = {}
    for split, kind, name, content in files:
        if not kind:
            place = f"{report.corpus}/{split}/{name}"
            addresses[name] = split_lines(content, place)
            continue
        report.seen += 1
        try:
            text = decode(content).removeprefix("\ufeff").strip()
            if is_blank(text):
                raise ValueError("empty")
        except ValueError as error:
            report.add(f"{split}/{kind}/{name}", error)
        else:
            found[split].setdefault(kind, {})[name] = text
    films = _films(found["train"], addresses, report) if addresses else None
    report.malformed.sort()  # the files of a folder come in any order
    train, test = (
        {
            kind: [texts[name] for name in sorted(texts, key=_file_order)]
            for kind, texts in found[split].items()
            if texts
        }
        for split in _SPLITS
    )
    return train, test, train.pop(_UNLABELLED, []), films


def _films(found, addresses, report):
    """The film of each text; texts without one are taken out of `found`.

    Line N of the addresses, counted from 0, is that of the text whose file
    name begins with N.
    """
    pairs = []
    for kind, texts in sorted(found.items()):
        lines = addresses.get(f"urls_{kind}.txt", [])
        for name in sorted(texts, key=_file_order):
            number, _ = _file_order(name)
            film = number < len(lines) and _FILM.search(lines[number])
            if film:
                pairs.append((texts[name], film[0]))
            else:
                del texts[name]
                problem = f"its film is not in urls_{kind}.txt"
                report.add(f"train/{kind}/{name}", problem)
    return _joined(pairs)


def _joined(pairs):
    """A dict from texts to films, where films that share a text are one.

    Series and their episodes have numbers of their own, but the same reviews.
    """
    firsts = {}

    def first(film):
        while firsts.setdefault(film, film) != film:
            film = firsts[film]
        return film

    films = {}
    for text, film in pairs:
        firsts[first(film)] = first(films.setdefault(text, film))
    return {text: first(film) for text, film in films.items()}


def _file_order(name):
    """Sort key of a file such as `12_9.txt`: its first number, 12."""
    number = re.match(r"\d{1,18}", name, re.ASCII)
    return (int(number[0]), name) if number else (10**18, name)
