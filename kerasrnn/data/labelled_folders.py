"""Labelled texts in files: folders of classes, or the archive of aclImdb."""

import re
from typing import NamedTuple

from kerasrnn.data.archives import read_archive
from kerasrnn.data.archives import untrusted
from kerasrnn.data.lines import decode

_ROOT = "aclImdb"
_SPLITS = ("train", "test")
_UNLABELLED = "unsup"
_LARGEST = 2**24  # bytes of a text; the longest in aclImdb has 14,000


class TextFile(NamedTuple):
    """A text in a file, `split/kind/name`, where kind is its class."""

    split: str
    kind: str
    name: str
    content: bytes


def folder_files(path):
    """Yields the `TextFile`s of a folder.

    Its sub-folders are classes, or `train` and `test`, whose sub-folders are
    classes. They may also be in a sub-folder `aclImdb`.

    Raises:
        CorpusError: If the folder of a class or a text is a link, or a text
            is not a file. Links may lead anywhere, so archives must not
            contain them either.
    """
    root = path / _ROOT if (path / _ROOT).is_dir() else path
    splits = [split for split in _SPLITS if (root / split).is_dir()]
    if "train" not in splits:
        yield from _class_files(root, root, "train")
        return
    for split in splits:
        yield from _class_files(root, root / split, split)


def _class_files(root, folder, split):
    _refuse_link(root, folder)
    for kind in sorted(folder.iterdir()):
        if kind.name.startswith(".") or not kind.is_dir():
            continue
        for file in kind.glob("*.txt"):
            if _is_text((split, kind.name, file.name)):
                _refuse_link(root, kind)
                _refuse_link(root, file)
                if not file.is_file():
                    name = file.relative_to(root).as_posix()
                    raise untrusted(root, name, "is a folder or a device")
                yield TextFile(split, kind.name, file.name, file.read_bytes())


def _refuse_link(root, path):
    if path != root and path.is_symlink():
        name = path.relative_to(root).as_posix()
        raise untrusted(root, name, "is a link")


def archive_files(path):
    """Yields the `TextFile`s of an archive such as `aclImdb_v1.tar.gz`."""

    def is_wanted(parts):
        return len(parts) == 4 and parts[0] == _ROOT and _is_text(parts[1:])

    for parts, content in read_archive(path, is_wanted, _LARGEST):
        yield TextFile(*parts[1:], content)


def _is_text(parts):
    """Whether the path of a file is that of a text."""
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
        report: The `Report` that empty and undecodable files are added to.

    Returns:
        A tuple `(train, test, unlabelled)`. The first two are dicts from the
        name of a class to its texts, the third is a list of texts. Texts are
        sorted by the number at the beginning of their file name.
    """
    found = {split: {} for split in _SPLITS}
    for split, kind, name, content in files:
        report.seen += 1
        try:
            text = decode(content).removeprefix("\ufeff").strip()
        except ValueError as error:
            report.add(f"{split}/{kind}/{name}", error)
            continue
        if text:
            found[split].setdefault(kind, {})[name] = text
        else:
            report.add(f"{split}/{kind}/{name}", "empty")
    report.malformed.sort()  # the files of a folder come in any order
    train, test = (
        {
            kind: [texts[name] for name in sorted(texts, key=_file_order)]
            for kind, texts in found[split].items()
        }
        for split in _SPLITS
    )
    return train, test, train.pop(_UNLABELLED, [])


def _file_order(name):
    """Sort key of a file such as `12_9.txt`: its first number, 12."""
    number = re.match(r"\d{1,18}", name, re.ASCII)
    return (int(number[0]), name) if number else (10**18, name)
