"""A text file in shards, each of which is answered completely or not at all."""

import dataclasses
import gzip
import hashlib
import itertools
import json
import pathlib
import shutil
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Self

from kerasrnn.data.reading.text_files import byte_lines
from kerasrnn.data.report import Report
from kerasrnn.data.report import decode
from kerasrnn.files import atomic_write
from kerasrnn.typing import PathLike


@dataclasses.dataclass(frozen=True)
class Shards:
    """The shards of a text file and the answers to them, in a folder.

    A shard contains consecutive lines. A file in the folder is complete once
    it has its name, so the process may be killed at any time.

    Args:
        folder: Path of the folder.
        lines: Integer, the number of lines of the text file.
        count: Positive integer, the number of shards.

    Example:

    >>> folder = pathlib.Path("work")
    >>> folder.mkdir()
    >>> _ = pathlib.Path("input.txt").write_text("red book\\nhouse\\ntea\\n")
    >>> shards = Shards.split("input.txt", folder, count=2)
    >>> shards.read(1)
    ['house', 'tea']
    >>> shards.write(1, ["HOUSE", "TEA"])
    >>> shards.unfinished()
    [0]
    >>> shards.write(0, ["RED BOOK"])
    >>> shards.join("output.txt")
    >>> pathlib.Path("output.txt").read_text()
    'RED BOOK\\nHOUSE\\nTEA\\n'
    """

    folder: pathlib.Path
    lines: int
    count: int

    @classmethod
    def split(
        cls,
        path: PathLike,
        folder: pathlib.Path,
        count: int = 10,
        max_bytes: int = 2**16,
        **settings: str,
    ) -> Self:
        """Splits a text file, or finds the shards of an interrupted run.

        A line is bad if it is not UTF-8, contains a NUL character or is too
        long. It keeps its place, but is not answered. If more lines are not
        UTF-8 than damage explains, the file has another encoding.

        Args:
            path: The text file, decompressed while it is read if its extension
                is `.gz`.
            folder: Path of an existing folder.
            count: Positive integer, the number of shards, at most one a line.
            max_bytes: Positive integer, the maximum length of a line in
                bytes.
            **settings: What else the answers depend on.

        Raises:
            CorpusError: when the file has another encoding or is damaged.
            FileNotFoundError: when there is no such file.
            ValueError: when the folder has shards of another text file or
                with other settings.
        """
        digest, lines = _measure(path)
        shards = cls(folder, lines, max(1, min(count, lines)))
        facts = {"input": digest, "shards": count, "max_bytes": max_bytes}
        facts |= settings
        known = folder / "settings.json"
        if known.exists():
            _check(facts, json.loads(known.read_text("utf-8")), folder)
            return shards
        # A run that was killed while it deleted them may have left answers.
        for left in folder.glob("*-of-*"):
            left.unlink()
        report = Report(path)
        texts = _texts(path, max_bytes, report)
        for shard in range(shards.count):
            part = itertools.islice(texts, shards.size(shard))
            _write(shards._file("input", shard), map(json.dumps, part))
        report.check_encoding()
        bad = (f"{number}\t{reason}" for number, reason in report.malformed)
        _write(folder / "bad.tsv", bad)
        # Last, since it shows that all others are there.
        _write(known, [json.dumps(facts, indent=2)])
        return shards

    def size(self, shard: int) -> int:
        """Returns the number of lines of a shard."""
        begin, end = (self.lines * i // self.count for i in (shard, shard + 1))
        return end - begin

    def read(self, shard: int) -> list[str | None]:
        """Returns the lines of a shard, `None` for a bad one."""
        with self._file("input", shard).open(encoding="utf-8") as file:
            return list(map(json.loads, file))

    def write(
        self,
        shard: int,
        answers: Iterable[str],
        refused: Mapping[int, str] | None = None,
    ) -> None:
        """Writes the answers to a shard, each a string without a line feed.

        Args:
            shard: Its number.
            answers: The answers to its lines.
            refused: Dictionary from the indices of lines that the model
                refuses to the reasons.
        """
        if refused:
            before = self.lines * shard // self.count
            _write(
                self._file("bad", shard),
                (f"{before + i + 1}\t{refused[i]}" for i in sorted(refused)),
            )
        # Last, since it shows that the shard is finished.
        _write(self._file("output", shard), answers)

    def unfinished(self) -> list[int]:
        """Returns the numbers of the shards that have no answers yet."""
        return [
            shard
            for shard in range(self.count)
            if not self._file("output", shard).exists()
        ]

    def join(self, path: PathLike) -> None:
        """Writes the answers to all lines, in their order, into one file.

        A file beside it, with `.bad.tsv` added to the name, lists the bad
        lines: number, tab, reason. Without bad lines, there is no such file.

        Args:
            path: The file to write, compressed with gzip if its extension is
                `.gz`.
        """
        path = pathlib.Path(path)
        opened = gzip.open if path.suffix.lower() == ".gz" else open
        with atomic_write(path) as partial, opened(partial, "wb") as joined:
            for shard in range(self.count):
                with self._file("output", shard).open("rb") as answers:
                    shutil.copyfileobj(answers, joined)
        bad = path.with_name(f"{path.name}.bad.tsv")
        bad.unlink(missing_ok=True)
        rows = [
            row
            for file in [
                self.folder / "bad.tsv",
                *self.folder.glob("bad-*-of-*"),
            ]
            # Reasons may have other marks than "\n" at which Python ends lines.
            for row in file.read_bytes().decode("utf-8").split("\n")[:-1]
        ]
        if rows:
            rows.sort(key=lambda row: int(row.partition("\t")[0]))
            _write(bad, rows)

    def delete(self) -> None:
        """Deletes the folder."""
        # First what shows that the others are there.
        (self.folder / "settings.json").unlink()
        shutil.rmtree(self.folder)

    def _file(self, side, shard):
        return self.folder / f"{side}-{shard:05}-of-{self.count:05}"


def _measure(path):
    """The checksum and the number of the lines of a file."""
    digest, report = hashlib.sha256(), Report(path)
    for _, line in byte_lines(path, report):
        digest.update(line)
    return digest.hexdigest(), report.seen


def _texts(path, max_bytes, report):
    """Yields the lines of a file, `None` for a bad one, which is reported."""
    for number, line in byte_lines(path, report):
        line = line.rstrip(b"\r\n")
        text = None
        try:
            if len(line) > max_bytes:
                raise ValueError(
                    f"too long: {len(line)} bytes of at most {max_bytes}"
                )
            text = decode(line)
        except ValueError as error:
            report.add(number, error)
        yield text


def _write(path, lines):
    """Writes lines to a file, completely or not at all."""
    with (
        atomic_write(path) as partial,
        partial.open("w", encoding="utf-8") as file,
    ):
        file.writelines(f"{line}\n" for line in lines)


def _check(facts, known, folder):
    """Raises an error if a folder belongs to other facts."""
    names = [name for name in facts if facts[name] != known.get(name)]
    if names:
        received, before = (
            ", ".join(f"{name}={x.get(name)!r}" for name in names)
            for x in (facts, known)
        )
        raise ValueError(
            f"'{folder}' holds the shards of an interrupted run with another "
            f"input, model or setting. Expected: {before}; repeat that run to "
            "finish it, or delete the folder to start anew. "
            f"Received: {received}."
        )
