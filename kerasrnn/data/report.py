"""Reports on reading corpora: what was left out or refused, and why."""

import array
import contextlib
import sys
import textwrap

from kerasrnn.warning import warn

# Number and fraction of damaged lines that are allowed in a UTF-8 file.
_FEW, _SHARE = 3, 0.03
_LONGEST = 1000  # maximum characters of an error message
_WIDTH = 60  # maximum characters shown of a cell
# Encodings of old corpora, with the most likely of similar ones first.
_USUAL = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1256 koi8_r shift_jis euc_jp "
    "gb18030 big5 euc_kr"
).split()


class CorpusWarning(UserWarning):
    """Warning: parts of a corpus are missing or unsuitable."""


class CorpusError(ValueError):
    """Error: a corpus cannot be used.

    Its message is a single line, which is truncated if it is very long, because
    it may quote a damaged file.
    """

    def __init__(self, message: str) -> None:
        message = "".join(x if x.isprintable() else " " for x in message)
        if len(message) > _LONGEST:
            message = f"{message[:_LONGEST]}..."
        super().__init__(message)


def decode(content):
    """Decodes UTF-8; raises a `ValueError` with the reason if it fails."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"invalid UTF-8: byte 0x{content[error.start]:02x} "
            f"at offset {error.start}"
        ) from error
    if "\0" in text:
        raise ValueError(f"not text: a NUL byte at offset {content.index(0)}")
    return text


def remedy(content):
    """Returns advice to convert text from its probable encoding.

    `charset-normalizer` detects it. Without that package, it is assumed to be
    Western European.
    """
    alike = set()  # encodings that are equally plausible
    with contextlib.suppress(ImportError):
        import charset_normalizer

        found = charset_normalizer.from_bytes(content, cp_isolation=_USUAL)
        scores = [(match.chaos, -match.coherence) for match in found]
        for match, score in zip(found, scores, strict=True):
            if score == min(scores):
                alike |= {*match.could_be_from_charset} & {*_USUAL}
    name = min(alike, key=_USUAL.index, default=_USUAL[0])
    if name == "cp1252" and not any(0x80 <= byte < 0xA0 for byte in content):
        name = "iso-8859-1"  # Latin-1, which only differs in these bytes
    name = name.upper().replace("_", "-")
    return (
        f"UTF-8. It is probably {name}; convert it with "
        f"`iconv -f {name} -t UTF-8 FILE > NEW_FILE`"
    )


class Report:
    """Counts the items of a corpus, and records those that are left out.

    Args:
        corpus: String or path, the name of the corpus in messages.
        unit: String, the name of its items: line, row or text.

    Attributes:
        seen: Integer, how many items were read.
        malformed: List of `(place, reason)`, what was left out. A place is
            the number of a line, counted from 1, or the name of a file.
        kept: Array of the numbers of the rows that were not left out.
        first_row: Dict, the values of the first of them.
        columns: Dict from what was asked for to the column that was taken.
        notes: List of strings, what else is to be warned of.
    """

    def __init__(self, corpus, unit="line"):
        self.corpus = corpus
        self.unit = unit
        self.seen = 0
        self.malformed = []
        self.kept = array.array("q")  # a quarter of a list
        self.first_row = {}
        self.columns = {}
        self.notes = []
        self._undecodable = []

    def add(self, place, reason):
        """Records an item that is left out; `reason` is a string or error."""
        self.malformed.append((place, str(reason)))
        cause = getattr(reason, "__cause__", None)
        if isinstance(cause, UnicodeDecodeError):
            self._undecodable.append(cause.object[:1000])

    def first(self, most=3):
        """Returns the first malformed places and reasons as a string."""
        places = [
            f"{place if isinstance(place, str) else f'{self.unit} {place}'} "
            f"({reason})"
            for place, reason in self.malformed[: most + 1]
        ]
        return first_of(places, most)

    def received(self, most=3):
        """Returns the number of items and the first bad ones as a string."""
        units = f"{self.seen} {self.unit}s"
        return f"{units}, {self.first(most)}" if self.malformed else units

    def check_encoding(self):
        """Raises `CorpusError` if too many items cannot be decoded."""
        if advice := self._remedy(_FEW):
            raise CorpusError(
                f"The corpus {self.corpus} is not UTF-8: "
                f"{len(self._undecodable)} of {self.seen} {self.unit}s cannot "
                f"be decoded. Expected: {advice}. Received: {self.first()}"
            )

    def refuse(self):
        """Raises `CorpusError` because of the bad items."""
        raise CorpusError(
            f"The corpus {self.corpus} is not text. Expected: "
            f"{self._remedy() or f'UTF-8 in all {self.unit}s'}. "
            f"Received: {self.received()}"
        )

    def refuse_all(self, items, expected):
        """Raises `CorpusError` because no item can be used.

        Args:
            items: String, name of the missing items.
            expected: String, the expected content.
        """
        self.check_encoding()
        found = "; ".join([self.received(1), *self.notes])
        if self.seen and not (self.malformed or self.notes):
            found += ", all blank"
        raise CorpusError(
            f"The corpus {self.corpus} has no usable {items}. "
            f"Expected: {expected}. Received: {found}"
        )

    def _remedy(self, least=1):
        """Returns advice on conversion if much has another encoding."""
        found = self._undecodable
        if least <= len(found) and len(found) > _SHARE * self.seen:
            return remedy(b" ".join(found)[: 2**16])
        return None

    def warn(self):
        """Warns about items that were left out, and about notes.

        Raises:
            CorpusError: If the text is not UTF-8, or most items would be left
                out, probably because they were misinterpreted.
        """
        self.check_encoding()
        lost = len(self.malformed)
        if lost >= 10 and lost > self.seen / 2:
            raise CorpusError(
                f"Most of the corpus {self.corpus} would be left out: {lost} "
                f"of {self.seen} {self.unit}s. Expected: at least half that "
                "can be used. Choose other columns, or correct or remove the "
                f"rest. Received: {'; '.join([self.first(), *self.notes])}"
            )
        if lost:
            message = (
                f"{lost} malformed of {self.seen} {self.unit}s in the corpus "
                f"{self.corpus} were left out: {self.first()}"
            )
            if advice := self._remedy():
                message += f". Expected: {advice}"
            warn(message, CorpusWarning)
        for note in self.notes:
            warn(f"The corpus {self.corpus}: {note}", CorpusWarning)

    def say(self, first, count, more=""):
        """Prints the chosen columns and the first row.

        Args:
            first: Dictionary from requested names to values in the first row.
            count: Integer, the number of rows.
            more: String, further information.
        """
        unit = "texts" if self.unit == "text" else "rows"
        lines = [f"{count:,} {unit} of {self.corpus}. The first:"]
        for name, value in first.items():
            where = ""
            if name in self.columns:
                where = f" (column {self.columns[name]!r})"
            lines.append(f"  {name}{where}: {_shown(value)}")
        for line in [*lines, f"{more}."] if more else lines:
            line = textwrap.fill(line, 79, subsequent_indent="    ")
            print(line, file=sys.stderr)


def first_of(items, most=3):
    """Joins the first strings of a list, with dots if there are more."""
    shown = ", ".join(items[:most])
    return f"{shown}, ..." if len(items) > most else shown


def _shown(value):
    """Returns the shortened `repr` of a cell."""
    text = repr(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
