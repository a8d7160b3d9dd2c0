"""What was read of a corpus, what was left out or refused, and why."""

import array
import contextlib
import sys
import textwrap

from kerasrnn.warning import warn

_FEW, _SHARE = 3, 0.03  # lines that may be damaged in a file of UTF-8
_MANY = 10  # items that may not be left out if they are most of a corpus
_LONGEST = 1000  # characters of the message of an error
_WIDTH = 60  # characters that are shown of a cell
# The encodings that old corpora have, the likeliest of similar ones first.
_USUAL = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1256 koi8_r shift_jis euc_jp "
    "gb18030 big5 euc_kr"
).split()


class CorpusWarning(UserWarning):
    """A corpus can be used, but parts of it are missing or unsuitable."""


class CorpusError(ValueError):
    """A corpus cannot be used.

    Its message is one line, of which the end is cut if it is very long: what
    it quotes of a damaged file may be anything.
    """

    def __init__(self, message: str) -> None:
        message = "".join(x if x.isprintable() else " " for x in message)
        if len(message) > _LONGEST:
            message = f"{message[:_LONGEST]}..."
        super().__init__(message)


class UndecodableError(ValueError):
    """Bytes that are not UTF-8, in `content`."""

    def __init__(self, message, content):
        super().__init__(message)
        self.content = content


def decode(content):
    """Decodes UTF-8; raises a `ValueError` that says what is wrong."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UndecodableError(
            f"invalid UTF-8: byte 0x{content[error.start]:02x} "
            f"at offset {error.start}",
            content,
        ) from error
    if "\0" in text:
        raise ValueError(f"not text: a NUL byte at offset {content.index(0)}")
    return text


def remedy(content):
    """How to convert text that is not UTF-8 from its probable encoding.

    `charset-normalizer` finds it; without it, it is one of Western Europe.
    """
    alike = set()  # those that explain it equally well
    with contextlib.suppress(ImportError):
        import charset_normalizer

        found = charset_normalizer.from_bytes(content, cp_isolation=_USUAL)
        scores = [(match.chaos, -match.coherence) for match in found]
        for match, score in zip(found, scores, strict=True):
            if score == min(scores):
                alike |= {*match.could_be_from_charset} & {*_USUAL}
    name = min(alike, key=_USUAL.index, default=_USUAL[0])
    if name == "cp1252" and not any(0x80 <= byte < 0xA0 for byte in content):
        name = "iso-8859-1"  # Latin-1, which is equal but for these bytes
    name = name.upper().replace("_", "-")
    return (
        f"UTF-8. It is probably {name}; convert it with "
        f"`iconv -f {name} -t UTF-8 FILE > NEW_FILE`"
    )


class Report:
    """Counts the items of a corpus, and collects those that are left out.

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
        """Records what is left out; `reason` is a string or an error."""
        self.malformed.append((place, str(reason)))
        if isinstance(reason, UndecodableError):
            self._undecodable.append(reason.content[:1000])

    def first(self, most=3):
        """The first malformed places as a string, with their reasons."""
        return ", ".join(
            f"{place if isinstance(place, str) else f'{self.unit} {place}'} "
            f"({reason})"
            for place, reason in self.malformed[:most]
        ) + ", ..." * (len(self.malformed) > most)

    def received(self, most=3):
        """How many items were read, and the first that were left out."""
        units = f"{self.seen} {self.unit}s"
        return units + f", {self.first(most)}" * bool(self.malformed)

    def check_encoding(self):
        """Raises `CorpusError` if more is undecodable than damage explains."""
        if advice := self._remedy(_FEW):
            raise CorpusError(
                f"The corpus {self.corpus} is not UTF-8: "
                f"{len(self._undecodable)} of {self.seen} {self.unit}s cannot "
                f"be decoded. Expected: {advice}. Received: {self.first()}"
            )

    def refuse(self):
        """Raises `CorpusError` because of the items that are left out."""
        raise CorpusError(
            f"The corpus {self.corpus} is not text. Expected: "
            f"{self._remedy() or f'UTF-8 in all {self.unit}s'}. "
            f"Received: {self.received()}"
        )

    def refuse_all(self, items, expected):
        """Raises `CorpusError` because nothing can be used.

        Args:
            items: String, what is lacking.
            expected: String, what there should be.
        """
        self.check_encoding()
        blank = self.seen and not (self.malformed or self.notes)
        found = "; ".join([self.received(1), *self.notes])
        raise CorpusError(
            f"The corpus {self.corpus} has no usable {items}. "
            f"Expected: {expected}. Received: {found}"
            + ", all blank"
            * bool(blank)
        )

    def _remedy(self, least=1):
        """How to convert the text, if much of it has another encoding."""
        found = self._undecodable
        if least <= len(found) and len(found) > _SHARE * self.seen:
            return remedy(b" ".join(found)[: 2**16])
        return None

    def warn(self):
        """Warns of the items that were left out, and of the notes.

        Raises:
            CorpusError: If the text has another encoding than UTF-8, or if
                most items are left out: they were probably misunderstood.
        """
        self.check_encoding()
        lost = len(self.malformed)
        if lost >= _MANY and lost > self.seen / 2:
            raise CorpusError(
                f"Most of the corpus {self.corpus} would be left out: {lost} "
                f"of {self.seen} {self.unit}s. Expected: at least half that "
                "can be used; name other columns, or correct or remove the "
                f"rest. Received: {'; '.join([self.first(), *self.notes])}"
            )
        if lost:
            advice = self._remedy()
            warn(
                f"{lost} malformed of {self.seen} {self.unit}s in the corpus "
                f"{self.corpus} were left out: {self.first()}"
                + f". Expected: {advice}"
                * bool(advice),
                CorpusWarning,
            )
        for note in self.notes:
            warn(f"The corpus {self.corpus}: {note}", CorpusWarning)

    def say(self, first, count, more=""):
        """Prints which columns were taken, and the first row.

        Args:
            first: Dict from what was asked for to its value in the first row.
            count: Integer, the number of rows.
            more: String, what else there is to know.
        """
        unit = "texts" if self.unit == "text" else "rows"
        lines = [f"{count:,} {unit} of {self.corpus}. The first:"]
        lines += [
            f"  {name}"
            + f" (column {self.columns.get(name)!r})" * (name in self.columns)
            + f": {_shown(value)}"
            for name, value in first.items()
        ]
        for line in [*lines, f"{more}."] if more else lines:
            line = textwrap.fill(line, 79, subsequent_indent="    ")
            print(line, file=sys.stderr)


def _shown(value):
    """Returns a cell as Python writes it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
