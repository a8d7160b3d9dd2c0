"""Which columns of a file of words hold the words, and which their tags."""

import collections
import itertools
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from kerasrnn.arguments import is_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tables.tables import format_suffix
from kerasrnn.tag_schemes import has_type

_CONLL_U = "id form lemma upos xpos feats head deprel deps misc".split()
_ID = re.compile(r"\d+([-.]\d+)?\t", re.ASCII)
_NO_WORD = re.compile(r"\d+[-.]\d+", re.ASCII)  # the id of a range, of a gap
_APART = re.compile(r"#(begin|end) document|-DOCSTART-(\s|$)")
_BEGIN_2012 = "#begin document"
_NAMES = re.compile(r"#\s*global\.columns\s*=(.*)")
_IN_BRACKETS = re.compile(r".*\*.*|\(.+|.+\)|[_O]")
_NO_TAG = {"O", "_", "-", "0", "o"}
_FEATURE = re.compile(r"(?:^|\|)([^=|]+)=([^|]+)")
_MANY, _LINES = 5, 100  # different words that are many, and lines
_SOME = 1000  # sentences from which the columns are told apart
# CoNLL-2012 has as many more columns as a sentence has predicates.
_WORD_2012, _NAME_2012 = 3, 10


class Columns(NamedTuple):
    """The columns of a file of words.

    Args:
        pattern: Compiled pattern of what separates them.
        width: Integer, how many there are.
        names: List of strings, in lower case; empty if they have none.
        counts: Whether the first counts the words of each sentence.
        word: Integer, the index of the words, if it is not given.
        tag: Integer, the index of the tags, if it is not given.
        is_2012: Whether further columns are ignored, as those of CoNLL-2012.
        marks: Dict from `(index, key)` to how the tags there mark phrases: by
            `"prefixes"`, such as `B-PER`, by `"brackets"`, such as `(PER*` and
            `*)`, or not, `""`. The key is that of a feature in the column, such
            as `name=B-PER|SpaceAfter=No`; `None` is the column itself.
    """

    pattern: re.Pattern[str]
    width: int
    names: list[str]
    counts: bool = False
    word: int = 0
    tag: int = -1
    is_2012: bool = False
    marks: Mapping[tuple[int, str | None], str] = MappingProxyType({})

    def cells(self, line):
        found = self.pattern.split(line.rstrip())
        found = found[: self.width] if self.is_2012 else found
        return [cell.strip() for cell in found]

    def has_word(self, cells):
        """Whether a line is of a word, not of a range or gap of words."""
        return not (self.counts and _NO_WORD.fullmatch(cells[0]))

    def place(self, name, column, path, argument, report):
        """Where `tokens`, `tags` or another column are.

        Returns:
            A tuple of the index of a column, counted from 0, and the key of
            the feature in it that is meant, or `None`.
        """
        if column is None and name in ("tokens", "tags"):
            number = self.word if name == "tokens" else self.tag
            self._note_default(name, number, argument, report)
            return number, self._feature(name, number, path, argument)
        column = name if column is None else column
        folded = str(column).lower()
        if folded in self.names:
            number = self.names.index(folded)
            return number, self._feature(name, number, path, argument)
        keys = [(number, key) for number, key in self.marks if key]
        for number, key in reversed(keys):
            if key.lower() == folded:
                return number, key
        is_text = isinstance(column, str) and re.fullmatch("-?[0-9]+", column)
        number = int(column) if is_text or is_integer(column) else 0
        least = 1 if self.is_2012 else -self.width
        if not (number and least <= number <= self.width):
            from_last = f", or from -1, the last, to {least}"
            if self.is_2012:
                from_last = ", since the columns after these differ by sentence"
            names = [*self.names, *dict.fromkeys(key for _, key in keys)]
            raise CorpusError(
                f"`{argument}` must be the number of a column of {path}: from "
                f"1 to {self.width}{from_last}"
                + f", or one of {', '.join(names)}" * bool(names)
                + f". Received: {argument}={column!r}"
            )
        number = number - 1 if number > 0 else self.width + number
        return number, self._feature(name, number, path, argument)

    def _feature(self, name, number, path, argument):
        """The feature of a column that marks phrases, if there is one.

        Features of words, such as `Case=Nom|Number=Sing`, are a tag together;
        those in `MISC` have nothing in common.
        """
        keys = [key for place, key in self.marks if key and place == number]
        found = [key for key in keys if self.marks[number, key]]
        is_misc = self.names[number : number + 1] == ["misc"]
        if name != "tags" or not (found or keys and is_misc):
            return None
        if len(found) != 1:
            raise CorpusError(
                f"Column {number + 1} of {path} has features. Expected: the "
                f"name of one of them as `{argument}`. "
                f"Received: {', '.join(map(repr, found or keys))}"
            )
        return found[0]

    def _note_default(self, name, number, argument, report):
        """Notes a column that is neither the first, the last nor named."""
        usual, place = (0, "first")
        if name == "tags":
            usual, place = (self.width - 1, "last")
        if self.names or number == usual:
            return
        why = f"its {place} column seems to be another"
        if self.is_2012:
            why = "it is of CoNLL-2012"
        report.notes.append(
            f"{why}: its {name} are taken from column {number + 1}, unless "
            f"`{argument}` gives another"
        )


def ends_sentence(line):
    """Whether a line ends a sentence: blank, or between documents."""
    return not line.strip() or bool(_APART.match(line))


def begins_apart(line):
    """Whether a line may stand before the first sentence."""
    return line.startswith("#") or bool(_APART.match(line))


def find_columns(lines, path):
    """Returns the `Columns` of a file of words.

    Args:
        lines: List of strings, of which some are not blank.
        path: String or path, the file, for messages.
    """
    text = [line for line in lines if line.strip()]
    first = next((line for line in text if not begins_apart(line)), text[0])
    is_csv = format_suffix(path) == ".csv" and re.search("[,;|]", first)
    if is_csv and "\t" not in first:
        raise CorpusError(
            f"The corpus {path} is CSV. Expected: a word in each row, and "
            "`sentence`, the column that says which sentence it is of; lists "
            "of words in JSON lines or parquet; or lines of `word TAB tag`, "
            f"with blank lines between sentences. Received: {first!r}"
        )
    pattern = re.compile("\t" if "\t" in first.strip() else "[ \t]+")
    width = len(pattern.split(first.strip()))
    if width < 2:
        raise CorpusError(
            f"The corpus {path} has no column of tags. Expected: a word and "
            "its tag in each line, separated by a tab or blanks. "
            f"Received: {first!r}, the first line"
        )
    if text[0].startswith(_BEGIN_2012) and width > _NAME_2012:
        columns = Columns(
            pattern,
            _NAME_2012 + 1,
            [],
            word=_WORD_2012,
            tag=_NAME_2012,
            is_2012=True,
        )
    else:
        columns = Columns(pattern, width, _names(text, first, width))
    sentences = list(_some_sentences(lines, columns))
    cells = list(zip(*itertools.chain(*sentences), strict=True))
    cells = cells or [()] * columns.width  # there are only comments
    marks = {
        (number, key): _mark(values, columns.is_2012)
        for number, column in enumerate(cells)
        for key, values in [(None, column), *_features(column).items()]
    }
    columns = columns._replace(marks=marks)
    if columns.is_2012:
        return columns
    return _with_defaults(columns, sentences, cells)


def _names(text, first, width):
    """The names of the columns in lower case; empty if there are none."""
    for line in itertools.takewhile(begins_apart, text):
        if found := _NAMES.match(line):
            names = found[1].lower().split()
            return names if len(names) == width else []
    return _CONLL_U if width == len(_CONLL_U) and _ID.match(first) else []


def _some_sentences(lines, columns):
    """The cells of the words of the first sentences."""
    groups = itertools.groupby(lines, ends_sentence)
    sentences = (list(group) for is_end, group in groups if not is_end)
    for sentence in itertools.islice(sentences, _SOME):
        rows = [columns.cells(x) for x in sentence if not begins_apart(x)]
        if rows := [cells for cells in rows if len(cells) == columns.width]:
            yield rows


def _with_defaults(columns, sentences, cells):
    """The columns with those of words and tags."""
    names, last = columns.names, columns.width - 1
    counts = names[:1] == ["id"] or last > 1 and _count_words(sentences)
    columns = columns._replace(counts=counts)
    word = names.index("form") if "form" in names else _word(columns, cells)
    others = [n for n in range(counts, last + 1) if n != word]
    phrases = [n for n in others if columns.marks[n, None] == "prefixes"]
    if "upos" in names and (names == _CONLL_U or not phrases):
        tag = names.index("upos")
    elif phrases:  # of nested names, as of GermEval, the outer
        tag = phrases[0 if counts else -1]  # not chunks, as of CoNLL-2003
    else:
        tag = [n for n in others if _has(str.isalnum, cells[n])] or others
        tag = tag[-1]
    return columns._replace(word=word, tag=tag)


def _word(columns, cells):
    """The column of words: the first, unless another has many more of them.

    Neither numbers, tags of phrases nor features are words; and cells that are
    all different are so only in few lines.
    """
    first = int(columns.counts)
    marks = columns.marks
    words = {
        number: len(set(found))
        for number, found in enumerate(cells)
        if _has(str.isalpha, found)
        and not marks[number, None]
        and not any(key for place, key in marks if place == number)
        and (number == first or len(set(found)) < max(_LINES, len(found)))
    }
    best = max(words, key=words.get, default=first)
    least = (1 if columns.width == 2 else 2) * words.get(first, 0)
    has_more = words.get(best, 0) > max(_MANY, least)
    return best if has_more or marks[first, None] else first


def _has(test, cells):
    """Whether a character of some cells is a letter, or a digit."""
    return any(test(character) for cell in cells for character in cell)


def _count_words(sentences):
    """Whether the first column counts the words of each sentence."""
    ids = [
        [cells[0] for cells in sentence if not _NO_WORD.fullmatch(cells[0])]
        for sentence in sentences
    ]
    return any(len(found) > 1 for found in ids) and all(map(are_counted, ids))


def are_counted(ids):
    """Whether the ids of the words of a sentence are 1, 2, ..., or from 0."""
    return ids == [str(n + (ids[0] != "0")) for n in range(len(ids))]


def _mark(tags, is_2012):
    """How the tags of a column mark phrases."""
    if _are_brackets(tags, is_2012):
        return "brackets"
    return "prefixes" if _mark_phrases(tags) else ""


def _mark_phrases(tags):
    """Whether more of a column is tags such as `B-PER` than odd ones.

    Those are neither such tags nor outside of all phrases, as `O` is.
    """
    of_phrases = sum(map(has_type, tags))
    outside = sum(tag in _NO_TAG for tag in tags)
    return of_phrases > len(tags) - of_phrases - outside


def _features(cells):
    """The values of each feature in a column; empty if it has none."""
    found = collections.defaultdict(list)
    others = 0
    for cell in cells:
        pairs = features_in(cell)
        others += not pairs and cell not in _NO_TAG
        for key, value in pairs.items():
            found[key].append(value)
    has_more = sum(map(len, found.values())) > others
    return found if has_more else {}


def features_in(cell):
    """The features of a cell, such as `name=B-PER|SpaceAfter=No`, as a dict."""
    return dict(_FEATURE.findall(cell))


def _are_brackets(tags, is_2012):
    """Whether a column has tags such as `(PER*`, `*)` and `*`, or `(PER`.

    Those of CoNLL-2012 may all be `*`.
    """
    has_any = is_2012 or any(tag.startswith("(") for tag in tags)
    return has_any and all(map(_IN_BRACKETS.fullmatch, tags))
