"""CoNLL files: lines of a word with its tags in columns."""

import collections
import itertools
import re

from kerasrnn.data.reading.files import file_format
from kerasrnn.data.reading.table import Table
from kerasrnn.data.reading.table import column_finder
from kerasrnn.data.reading.text_files import all_lines
from kerasrnn.data.report import CorpusError
from kerasrnn.tag_schemes import has_type

_CONLL_U = "id form lemma upos xpos feats head deprel deps misc".split()
_APART = re.compile(r"#(begin|end) document|-DOCSTART-(\s|$)|\s*$")
_NO_TAG = {"O", "_", "-", "0", "o"}
_FEATURE = re.compile(r"(?:^|\|)([^=|]+)=([^|]+)")
# Number of distinct words that are many; of lines, and of sentences, that
# determine the columns.
_MANY, _LINES, _SOME = 5, 100, 1000


def conll_table(path, asked, report, arguments):
    """Opens a CoNLL file as a table of sentences.

    Args:
        path: String or path.
        asked: Dictionary from names to columns: numbers or names, as in
            `read_tagged_words`, or `None` for the defaults of `tokens` and
            `tags`.
        report: The `Report` on reading.
        arguments: Dictionary from names to names of arguments, for messages.

    Returns:
        A `Table` whose rows have a list of strings for each name. Its report
        has the chosen columns.

    Raises:
        CorpusError: If there are no words, or a line is malformed.
    """
    lines = all_lines(path)
    text = [line for line in lines if line.strip()]
    if not text:
        raise CorpusError(
            f"The corpus {path} is empty. Expected: lines of `word TAB tag`. "
            "Received: only blank lines"
        )
    first = next((line for line in text if not _begins_apart(line)), text[0])
    pattern = re.compile("\t" if "\t" in first.strip() else "[ \t]+")
    width = len(pattern.split(first.strip()))
    _check_first(first, text[0], width, path)
    names = _names(text, first, width)
    sentences = _sentences(lines, pattern, width, path, report)
    head = list(itertools.islice(sentences, _SOME))
    columns = _Columns([cells for _, cells in head], names, width)
    places = {
        name: columns.place(name, column, arguments.get(name, name), report)
        for name, column in asked.items()
    }
    report.columns = {
        name: key or str(number + 1) for name, (number, key) in places.items()
    }

    def rows():
        odd = []
        for start, found in itertools.chain(head, sentences):
            words = found
            if columns.counts:
                words = _words_of(found)
                if not _are_counted(words):
                    odd.append(start)
            if words:
                yield (
                    start,
                    {
                        name: [_value(cells[n], key) for cells in words]
                        for name, (n, key) in places.items()
                    },
                )
        if odd:
            report.notes.append(
                f"the words of {len(odd)} sentences are not numbered 1, 2, 3, "
                f"..., so some may be missing; the first is at line {odd[0]}"
            )

    return Table(list(asked), rows(), numbered=True)


def _value(cell, key):
    """Returns a cell, or its feature with a key; `O` if it lacks the key."""
    return dict(_FEATURE.findall(cell)).get(key, "O") if key else cell


def _begins_apart(line):
    """Whether a line may precede the first sentence."""
    return line.startswith("#") or bool(_APART.match(line))


def _check_first(first, head, width, path):
    """Raises an error if the first lines do not have words and tags."""
    expected = "a word and its tag in each line, separated by a tab or spaces"
    is_csv = file_format(path) == ".csv" or width < 2
    if is_csv and "\t" not in first and re.search("[,;|]", first):
        expected = (
            "a table with a word in each row and a column `sentence`; or lists "
            "of words in JSON lines or Parquet; or lines of `word TAB tag`, "
            "with blank lines between sentences"
        )
    elif head.startswith("#begin document") and width > 9:
        expected = (
            "lines of `word TAB tag`; the brackets of CoNLL-2012 are not "
            "supported"
        )
    elif width > 1:
        return
    raise CorpusError(
        f"The corpus {path} has no column of tags. Expected: {expected}. "
        f"Received: {first!r}, the first line"
    )


def _names(text, first, width):
    """Returns the names of the columns in lower case, or an empty list."""
    for line in itertools.takewhile(_begins_apart, text):
        if found := re.match(r"#\s*global\.columns\s*=(.*)", line):
            names = found[1].lower().split()
            return names if len(names) == width else []
    return (
        _CONLL_U
        if width == len(_CONLL_U) and re.match(r"\d+([-.]\d+)?\t", first)
        else []
    )


def _sentences(lines, pattern, width, path, report):
    """Yields the first line number and the words of each sentence.

    A word is a list of the cells of its line.
    """
    start, words = 0, []
    for number, line in (*enumerate(lines, start=1), (0, "")):
        report.seen = number or report.seen
        cells = [cell.strip() for cell in pattern.split(line.rstrip())]
        if _APART.match(line):
            if words:
                yield start, words
            words = []
        elif not words and _is_comment(line, pattern):
            continue
        elif len(cells) == width and all(cells):
            start = start if words else number
            words.append(cells)
        elif words or not line.startswith("#"):
            between = "tabs" if pattern.pattern == "\t" else "blanks"
            raise CorpusError(
                f"Line {number} of the corpus {path} is malformed. Expected: "
                f"{width} columns separated by {between}, as in its first "
                "line, or a blank line between sentences. "
                f"Received: {line!r}"
            )


def _is_comment(line, pattern):
    """Whether a line is no word, even if it has as many columns as words.

    The words of a file are separated by tabs, or else by blanks.
    """
    is_apart = "# .*" if pattern.pattern == "\t" else r"#.*(\t|\s=(\s|$)).*"
    return bool(re.match(is_apart, line))


class _Columns:
    """The columns of a CoNLL file, detected from its first sentences.

    Args:
        sentences: List of sentences, each a list of the cells of its words.
        names: List of strings, in lower case; empty if the columns have none.
        width: Integer, number of columns.
    """

    def __init__(self, sentences, names, width):
        self.names, self.width = names, width
        cells = list(zip(*itertools.chain(*sentences), strict=True))
        cells = cells or [()] * width  # the file has only comments
        self._features = list(map(_features, cells))
        words = list(map(_words_of, sentences))
        has_several = any(len(x) > 1 for x in words)
        counts = width > 2 and has_several and all(map(_are_counted, words))
        self.counts = names[:1] == ["id"] or counts
        first = int(self.counts)
        phrases = [n for n in range(width) if _mark_phrases(cells[n])]
        others = [n for n in range(width) if n not in phrases]
        self.word = self._word(cells, first, others)
        if "form" in names:
            self.word = names.index("form")
        tags = [n for n in range(first, width) if n != self.word]
        phrases = [n for n in phrases if n in tags]
        if "upos" in names and (names == _CONLL_U or not phrases):
            self.tag = names.index("upos")
        elif phrases:  # the outer one of nested names, as in GermEval
            self.tag = phrases[0 if self.counts else -1]  # not chunks
        else:
            named = [n for n in tags if _has(str.isalnum, cells[n])]
            self.tag = (named or tags)[-1]

    def _word(self, cells, first, others):
        """Finds the column of words: the first, unless another has many more.

        Numbers, tags of phrases and features are not words. Cells that are all
        distinct are words only in short files.
        """
        words = {
            n: len(set(cells[n]))
            for n in others
            if _has(str.isalpha, cells[n])
            and not self._features[n]
            and (n == first or len(set(cells[n])) < max(_LINES, len(cells[n])))
        }
        best = max(words, key=words.get, default=first)
        least = (1 if self.width == 2 else 2) * words.get(first, 0)
        has_more = words.get(best, 0) > max(_MANY, least)
        return best if has_more or first not in others else first

    def place(self, name, column, argument, report):
        """Returns the position of a requested column; `None` for the default.

        Returns:
            A tuple of the index of a column, counted from 0, and the key of a
            feature in it, or `None`.
        """
        if column is None and name in ("tokens", "tags"):
            number, usual, place = {
                "tokens": (self.word, 0, "first"),
                "tags": (self.tag, self.width - 1, "last"),
            }[name]
            if not self.names and number != usual:
                report.notes.append(
                    f"its {place} column does not seem to have the {name}, so "
                    f"they are taken from column {number + 1}; `{argument}` "
                    "can choose another one"
                )
            return number, self._feature(name, number, argument, report)
        numbers = range(self.width)
        known = {
            **{key: (n, key) for n in numbers for key in self._features[n]},
            **{str(n - self.width): (n, None) for n in numbers},
            **{str(n + 1): (n, None) for n in numbers},
            **{name: (n, None) for n, name in enumerate(self.names)},
        }
        find = column_finder(list(known), report)
        column = name if column is None else str(column)
        number, key = known[find([column], argument)]
        return number, key or self._feature(name, number, argument, report)

    def _feature(self, name, number, argument, report):
        """Finds the feature of a column that marks phrases.

        Morphological features, such as `Case=Nom|Number=Sing`, together are one
        tag; those in `MISC` are unrelated.
        """
        features = self._features[number]
        marking = [x for x in features if _mark_phrases(features[x])]
        is_misc = self.names[number : number + 1] == ["misc"]
        if name != "tags" or not (marking or features and is_misc):
            return None
        if len(marking) != 1:
            raise CorpusError(
                f"Column {number + 1} of {report.corpus} has several features. "
                f"Expected: the name of one as `{argument}`. Received: "
                f"{', '.join(map(repr, marking or features))}"
            )
        return marking[0]


def _has(test, cells):
    """Whether any character of the cells passes a test."""
    return any(test(character) for cell in cells for character in cell)


def _words_of(sentence):
    """Returns the lines of words in a sentence, without ranges and gaps."""
    apart = r"[0-9]+[-.][0-9]+"  # the id of a range or a gap
    return [cells for cells in sentence if not re.fullmatch(apart, cells[0])]


def _are_counted(words):
    """Whether the words of a sentence are numbered from 1 or 0."""
    ids = [cells[0] for cells in words]
    return ids == [str(n + (ids[0] != "0")) for n in range(len(ids))]


def _mark_phrases(tags):
    """Whether a column has more tags such as `B-PER` than other ones.

    `O`, which is outside of all phrases, is not counted.
    """
    of_phrases = sum(map(has_type, tags))
    outside = sum(tag in _NO_TAG for tag in tags)
    return of_phrases > len(tags) - of_phrases - outside


def _features(cells):
    """Returns the values of each feature in a column, if it has features."""
    found, others = collections.defaultdict(list), 0
    for cell in cells:
        pairs = _FEATURE.findall(cell)
        others += not pairs and cell not in _NO_TAG
        for key, value in pairs:
            found[key].append(value)
    return found if sum(map(len, found.values())) > others else {}
