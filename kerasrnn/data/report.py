"""What was read of a corpus, what was left out, and why."""

import array
import collections
import sys
import textwrap

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.tables.encodings import UndecodableError
from kerasrnn.data.tables.encodings import remedy
from kerasrnn.warning import warn

_FEW, _SHARE = 3, 0.03  # lines that may be damaged in a file of UTF-8
_MANY = 10  # items that may not be left out if they are most of a corpus
_WIDTH = 60  # characters that are shown of a cell


class Report:
    """Counts the items of a corpus, and collects those that are left out.

    Args:
        corpus: String or path, the name of the corpus in messages.
        unit: String, the name of its items: line, row or text.

    Attributes:
        seen: Integer, how many items were read.
        malformed: List of `(place, reason)`, what was left out. A place is
            the number of a line, counted from 1, or the name of a file.
        reasons: Counter of the types of these reasons.
        kept: Array of the numbers of the rows that were not left out.
        columns: Dict from what was asked for to the column that was taken.
        notes: List of strings, what else is to be warned of.
    """

    def __init__(self, corpus, unit="line"):
        self.corpus = corpus
        self.unit = unit
        self.seen = 0
        self.malformed = []
        self.reasons = collections.Counter()
        self.kept = array.array("q")  # a quarter of a list
        self.columns = {}
        self.notes = []
        self._undecodable = []

    def add(self, place, reason):
        """Records what is left out; `reason` is a string or an error."""
        self.malformed.append((place, str(reason)))
        self.reasons[type(reason)] += 1
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
        bad = len(self._undecodable)
        if bad >= _FEW and bad > _SHARE * self.seen:
            raise CorpusError(
                f"The corpus {self.corpus} is not UTF-8: {bad} of {self.seen} "
                f"{self.unit}s cannot be decoded. Expected: "
                f"{remedy(b' '.join(self._undecodable))}. "
                f"Received: {self.first()}"
            )

    def refuse(self):
        """Raises `CorpusError` because of the items that are left out."""
        self.check_encoding()
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
        found = "; ".join([self.received(1), *self.notes])
        if self.seen and not (self.malformed or self.notes):
            found += ", all blank"
        raise CorpusError(
            f"The corpus {self.corpus} has no usable {items}. "
            f"Expected: {expected}. Received: {found}"
        )

    def _remedy(self):
        """How to convert the text, if much of it has another encoding."""
        if len(self._undecodable) > _SHARE * self.seen:
            return remedy(b" ".join(self._undecodable))
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
        if self.malformed:
            message = (
                f"{len(self.malformed)} malformed of {self.seen} {self.unit}s "
                f"in the corpus {self.corpus} were left out: {self.first()}"
            )
            if found := self._remedy():
                message += f". Expected: {found}"
            warn(message, CorpusWarning)
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
