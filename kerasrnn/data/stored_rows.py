"""Rows of texts and ids of any number: many of them are kept on disk.

A corpus that is larger than memory goes to temporary files while it is read.
They are deleted when nothing uses them, also after a crash. What is read of
them is mapped for the moment only, and so takes no memory afterwards.
"""

import array
import itertools
import mmap
import tempfile
import weakref
import zlib
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import Self

import numpy as np

IN_MEMORY = 2**17  # rows that are a list
_AT_ONCE = 1000  # rows that are read together
_BETWEEN, _AFTER = b"\xff", b"\xfe"  # texts of a row; no bytes of UTF-8


class _File:
    """A temporary file, which is closed when nothing uses it any more."""

    def __init__(self):
        self._file = tempfile.TemporaryFile(prefix="kerasrnn-")
        self.write, self.tell = self._file.write, self._file.tell
        # At exit, threads of `tf.data` may still read.
        weakref.finalize(self, self._file.close).atexit = False

    def mapped(self):
        """Returns its content as a context manager, which frees the memory."""
        self._file.flush()
        return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)


class StoredRows(Sequence[Any]):
    """Rows in a temporary file: each a string, or a tuple of strings.

    They are indexed like a list. A slice or a shuffled copy uses the same file.
    Only the positions of the rows in the file are in memory.

    Args:
        file: The file of the texts.
        bounds: Tuple of two int64 arrays, where each row begins and ends.
        are_tuples: Whether rows are tuples.

    Attributes:
        derived: Dictionary of results computed from all rows, such as ids.
    """

    def __init__(
        self, file: Any, bounds: tuple[np.ndarray, ...], are_tuples: bool
    ) -> None:
        self._file, self._bounds, self._are_tuples = file, bounds, are_tuples
        self.derived: dict[Any, Any] = {}

    @classmethod
    def write(cls, rows: Iterable[Any]) -> Self:
        """Writes rows, at least one, to a new file."""
        file, ends = _File(), array.array("q", [0])
        for row in rows:
            texts = [row] if isinstance(row, str) else row
            text = _BETWEEN.join(x.encode() for x in texts)
            ends.append(ends[-1] + file.write(text))
        bounds = np.asarray(ends)
        return cls(file, (bounds[:-1], bounds[1:]), not isinstance(row, str))

    def __len__(self) -> int:
        return len(self._bounds[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return select_rows(self, index)
        return self.at([index])[0]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self.at(slice(start, start + _AT_ONCE))

    def __add__(self, other: Iterable[Any]) -> Sequence[Any]:
        return store_rows(itertools.chain(self, other))

    def __radd__(self, other: Iterable[Any]) -> Sequence[Any]:
        return store_rows(itertools.chain(other, self))

    def at(self, indices: Any) -> list[Any]:
        """Returns the rows at some indices as a list."""
        texts = self._bytes(indices)
        if not self._are_tuples:
            return [text.decode() for text in texts]
        return [
            tuple(x.decode() for x in text.split(_BETWEEN)) for text in texts
        ]

    def _bytes(self, indices):
        bounds = zip(*(x[indices].tolist() for x in self._bounds), strict=True)
        with self._file.mapped() as content:
            return [content[start:end] for start, end in bounds]

    def part(self, indices: Any) -> Self:
        """Returns the rows at some indices, in the same file."""
        bounds = tuple(x[indices] for x in self._bounds)
        return type(self)(self._file, bounds, self._are_tuples)

    def fingerprint(self) -> list[int]:
        """Returns their number and a checksum of them in their order."""
        found = 0
        for start in range(0, len(self), _AT_ONCE):
            texts = self._bytes(slice(start, start + _AT_ONCE))
            found = zlib.crc32(_AFTER.join([*texts, b""]), found)
        return [len(self), found]


def store_rows(rows: Iterable[Any]) -> Sequence[Any]:
    """Keeps rows: a few as a list, many on disk.

    Args:
        rows: Iterable of strings, or of tuples of strings.

    Returns:
        A list, or `StoredRows`.
    """
    rows = iter(rows)
    first = list(itertools.islice(rows, IN_MEMORY))
    if len(first) < IN_MEMORY:
        return first
    return StoredRows.write(itertools.chain(first, rows))


def select_rows(rows: Sequence[Any], indices: Any) -> Sequence[Any]:
    """Returns rows at some indices: a few as a list, many where they are.

    Args:
        rows: List of rows, or `StoredRows`.
        indices: Sequence of integers; for `StoredRows` also a slice.
    """
    if not isinstance(rows, StoredRows):
        return [rows[index] for index in indices]
    if not isinstance(indices, slice):
        indices = np.asarray(indices, "int64")
    found = rows.part(indices)
    return found if len(found) >= IN_MEMORY else list(found)


def sample_rows(rows: Sequence[Any], most: int = 500_000) -> Sequence[Any]:
    """Returns evenly spaced rows, or all if there are few.

    Args:
        rows: Sequence of rows.
        most: Positive integer, maximum number of rows.

    Example:

    >>> sample_rows("abcdef", 3), sample_rows("abc", 3)
    ('ace', 'abc')
    """
    every = -(-len(rows) // most)
    return rows[::every] if every > 1 else rows


class StoredIds:
    """A vector of int32 ids in a temporary file, which is read by slices.

    Args:
        parts: Iterable of int32 arrays.
    """

    dtype = np.dtype("int32")

    def __init__(self, parts: Iterable[np.ndarray]) -> None:
        self._file = _File()
        for part in parts:
            self._file.write(np.ascontiguousarray(part, self.dtype))
        self.shape = (self._file.tell() // 4,)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, span: slice) -> np.ndarray:
        start, stop, _ = span.indices(len(self))
        with self._file.mapped() as content:
            return np.frombuffer(content[4 * start : 4 * stop], self.dtype)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yields the vector in parts."""
        size = 2**20
        return (self[i : i + size] for i in range(0, len(self), size))
