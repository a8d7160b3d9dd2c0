"""Shards of a text file, which are processed completely or not at all."""

import dataclasses
import gzip
import hashlib
import itertools
import json
import pathlib
import shutil
import sys
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
    """The shards of a text file and their answers, in a folder.

    A shard contains consecutive lines. Files in the folder get their names only
    when they are complete, so the process may be killed at any time.

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
        """Splits a text file, or continues with the shards of an earlier run.

        A line is bad if it is not UTF-8, contains a NUL character or is too
        long. It keeps its place, but gets an empty answer. If many lines are
        not UTF-8, the file has another encoding.

        Args:
            path: The text file. It may be gzipped (extension `.gz`).
            folder: Path of an existing folder.
            count: Positive integer, the number of shards. There is at most one
                per line.
            max_bytes: Positive integer, the maximum length of a line in
                bytes.
            **settings: Other settings that the answers depend on.

        Raises:
            CorpusError: when the file has another encoding or is damaged.
            FileNotFoundError: when the file does not exist.
            ValueError: when the folder has shards of another text file or other
                settings.
        """
        digest, lines = _measure(path)
        shards = cls(folder, lines, max(1, min(count, lines)))
        facts = {"input": digest, "shards": count, "max_bytes": max_bytes}
        facts |= settings
        known = folder / "settings.json"
        if known.exists():
            _check(facts, json.loads(known.read_text("utf-8")), folder)
            return shards
        # A run that was killed while deleting may have left answers.
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
        # Written last, because it marks that all others are complete.
        _write(known, [json.dumps(facts, indent=2)])
        return shards

    def size(self, shard: int) -> int:
        """Returns the number of lines of a shard."""
        begin, end = (self.lines * i // self.count for i in (shard, shard + 1))
        return end - begin

    def read(self, shard: int) -> list[str | None]:
        """Returns the lines of a shard, with `None` for bad lines."""
        with self._file("input", shard).open(encoding="utf-8") as file:
            return list(map(json.loads, file))

    def write(
        self,
        shard: int,
        answers: Iterable[str],
        refused: Mapping[int, str] | None = None,
    ) -> None:
        """Writes the answers to a shard, strings without line feeds.

        Then it says how many are finished.

        Args:
            shard: Its number.
            answers: The answers to its lines.
            refused: Dictionary of refused lines, from index to reason.
        """
        if refused:
            before = self.lines * shard // self.count
            _write(
                self._file("bad", shard),
                (f"{before + i + 1}\t{refused[i]}" for i in sorted(refused)),
            )
        # Written last, because it marks the shard as finished.
        _write(self._file("output", shard), answers)
        self.say()

    def say(self) -> None:
        """Prints to standard error how many shards are finished."""
        left = self.unfinished()
        lines = self.lines - sum(map(self.size, left))
        print(
            f"{self.count - len(left)} of {self.count} shards, "
            f"{lines:,} of {self.lines:,} lines",
            file=sys.stderr,
        )

    def unfinished(self) -> list[int]:
        """Returns the numbers of the shards without answers."""
        return [
            shard
            for shard in range(self.count)
            if not self._file("output", shard).exists()
        ]

    def join(self, path: PathLike) -> None:
        """Writes the answers to all lines in order into one file.

        If there are bad lines, a second file with `.bad.tsv` added to its name
        lists them: number, tab, reason.

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
            # Reasons may contain other characters that Python treats as line
            # ends.
            for row in file.read_bytes().decode("utf-8").split("\n")[:-1]
        ]
        if rows:
            rows.sort(key=lambda row: int(row.partition("\t")[0]))
            _write(bad, rows)

    def delete(self) -> None:
        """Deletes the folder."""
        # First the file that marks the others as complete.
        (self.folder / "settings.json").unlink()
        shutil.rmtree(self.folder)

    def _file(self, side, shard):
        return self.folder / f"{side}-{shard:05}-of-{self.count:05}"


def _measure(path):
    """Returns the checksum and the number of lines of a file."""
    digest, report = hashlib.sha256(), Report(path)
    for _, line in byte_lines(path, report):
        digest.update(line)
    return digest.hexdigest(), report.seen


def _texts(path, max_bytes, report):
    """Yields the lines of a file; reports bad lines and yields `None`."""
    for number, line in byte_lines(path, report):
        line = line.rstrip(b"\r\n")
        text = None
        try:
            if len(line) > max_bytes:
                raise ValueError(
                    f"too long: {len(line)} bytes, more than {max_bytes}"
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
    """Raises an error if a folder belongs to another run."""
    names = [name for name in facts if facts[name] != known.get(name)]
    if names:
        received, before = (
            ", ".join(f"{name}={x.get(name)!r}" for name in names)
            for x in (facts, known)
        )
        raise ValueError(
            f"'{folder}' has the shards of an interrupted run with another "
            "input, model or setting. Repeat that run to finish it, or delete "
            f"the folder to start again. Expected: {before}. Received: "
            f"{received}."
        )
