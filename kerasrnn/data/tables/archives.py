"""Reading files from an untrusted tar archive."""

import gzip
import re
import tarfile

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tables.lines import parsing

ARCHIVE_SUFFIXES = (".tgz", ".tar.gz")
# The name of a member must not lead out of the folder, on any system.
_OUTSIDE = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)")
_LARGEST = 2**31  # bytes of an archive, decompressed
_HEADER = 2**20  # bytes that are read at once, but for a wanted file


def read_archive(path, is_wanted, largest):
    """Yields files of a gzipped tar archive without extracting it to disk.

    The archive is always read to its end, where its checksum is, but never
    beyond 2 GiB.

    Args:
        path: A `pathlib.Path`.
        is_wanted: Function from the parts of a member's name, a tuple of
            strings, to whether to read it.
        largest: Positive integer, the maximum size in bytes of a file to
            read. Other files may be larger.

    Yields:
        `(parts, content)`: a tuple of strings, and bytes.

    Raises:
        CorpusError: If the archive, or the header of a member, is damaged or
            too large; if the name of a member leads out of it; if a wanted
            file is a link, a folder, a device or too large.
    """
    with (
        parsing(path, "a whole tar archive, compressed with gzip"),
        _BoundedFile(path) as stream,
        tarfile.open(fileobj=stream, mode="r:") as archive,
    ):
        for member in archive:
            if _OUTSIDE.search(member.name):
                raise untrusted(path, member.name, "leads out of it")
            parts = tuple(
                part for part in member.name.split("/") if part not in ("", ".")
            )
            if is_wanted(parts):
                _check(path, member, largest)
                stream.most = largest
                yield parts, archive.extractfile(member).read()
                stream.most = _HEADER
        # `tarfile` stops silently at a damaged header. Behind the last member
        # are zeros alone, up to the checksum.
        while stream.last:
            if stream.last.strip(b"\0"):
                raise tarfile.ReadError("a damaged header")
            stream.read(2**20)


class _BoundedFile(gzip.GzipFile):
    """A gzip file of which at most `_LARGEST` bytes are decompressed.

    `tarfile` reads a header at once, however long it says that it is: a few
    kilobytes of zeros, compressed, would fill the memory.

    Attributes:
        most: Integer, how many bytes may be read at once.
        last: Bytes, what was read last.
    """

    def __init__(self, path):
        super().__init__(path, "rb")
        self.most, self.last = _HEADER, b""

    def read(self, size=-1):
        if size > max(self.most, _HEADER):
            raise CorpusError(
                f"The corpus {self.name} has a member with a header that is "
                f"too long. Expected: at most {_HEADER:,} bytes. "
                f"Received: {size:,} bytes"
            )
        self._check(self.tell() + max(size, 0))
        self.last = super().read(size)
        return self.last

    def seek(self, offset, whence=0):
        self._check(offset)
        return super().seek(offset, whence)

    def _check(self, end):
        if end > _LARGEST:
            raise CorpusError(
                f"The corpus {self.name} is too large. Expected: an archive "
                f"of at most {_LARGEST:,} bytes, decompressed. "
                f"Received: {end:,} bytes or more"
            )


def _check(path, member, largest):
    if not member.isfile():
        raise untrusted(path, member.name, "is a link, a folder or a device")
    if member.size > largest:
        size = f"has {member.size:,} bytes, more than {largest:,}"
        raise untrusted(path, member.name, size)


def untrusted(path, name, problem):
    """The error for a file that is not plain, in an archive or folder."""
    return CorpusError(
        f"The corpus {path} has an unsafe file. Expected: plain files in "
        f"folders. Received: {name!r}, which {problem}"
    )
