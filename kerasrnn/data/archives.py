"""Reading files out of a tar archive that nobody has vouched for."""

import gzip
import re
import tarfile

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.lines import DAMAGE

ARCHIVE_ENDS = (".tgz", ".tar.gz")
# No name of a member may lead out of the folder, on any system.
_OUTSIDE = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)")
_LARGEST = 2**31  # bytes of an archive, unpacked


def read_archive(path, is_wanted, largest):
    """Yields files of a packed tar archive, which is not unpacked.

    The archive is read to its end, where its checksum stands, even if no
    other file is wanted; but never beyond 2 GiB.

    Args:
        path: A `pathlib.Path`.
        is_wanted: Function from the parts of a member's name, a tuple of
            strings, to whether to read it.
        largest: Positive integer, the most bytes of a file that is read. What
            is not read may be as large as it likes.

    Yields:
        `(parts, content)`: a tuple of strings, and bytes.

    Raises:
        CorpusError: If the archive is damaged or too large; if the name of a
            member leads out of it; if a file that is wanted is a link, a
            device or too large.
    """
    try:
        with (
            _BoundedFile(path) as stream,
            tarfile.open(fileobj=stream, mode="r:") as archive,
        ):
            for member in archive:
                if _OUTSIDE.search(member.name):
                    raise untrusted(path, member.name, "leads out of it")
                parts = tuple(
                    part
                    for part in member.name.split("/")
                    if part not in ("", ".")
                )
                if is_wanted(parts):
                    _check(path, member, largest)
                    yield parts, archive.extractfile(member).read()
            # A damaged header ends an archive silently. The checksum at the
            # end of the stream tells.
            while stream.read(2**20):
                pass
    except (tarfile.TarError, *DAMAGE) as error:
        raise CorpusError(
            f"The corpus {path} cannot be read. Expected: a whole tar archive, "
            f"packed with gzip. Received: {error}"
        ) from error


class _BoundedFile(gzip.GzipFile):
    """A packed file that is never read beyond a bound."""

    def __init__(self, path):
        super().__init__(path, "rb")

    def read(self, size=-1):
        self._check(self.tell() + max(size, 0))
        return super().read(size)

    def seek(self, offset, whence=0):
        self._check(offset)
        return super().seek(offset, whence)

    def _check(self, end):
        if end > _LARGEST:
            raise CorpusError(
                f"The corpus {self.name} is too large. Expected: an archive "
                f"of at most {_LARGEST:,} bytes, unpacked. "
                f"Received: {end:,} bytes or more"
            )


def _check(path, member, largest):
    if not member.isfile():
        raise untrusted(path, member.name, "is a link, a folder or a device")
    if member.size > largest:
        size = f"has {member.size:,} bytes, more than {largest:,}"
        raise untrusted(path, member.name, size)


def untrusted(path, name, problem):
    """The error of an archive or folder with a file that is no plain one."""
    return CorpusError(
        f"The corpus {path} is not to be trusted. Expected: plain files in "
        f"folders. Received: {name!r}, which {problem}"
    )
