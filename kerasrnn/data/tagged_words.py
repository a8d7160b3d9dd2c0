"""Reads tagged sentences; converts between tag schemes and phrases."""

import collections
import itertools
import re
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

from kerasrnn.data.reading.records import are_records
from kerasrnn.data.reading.rows import finish
from kerasrnn.data.reading.rows import read_columns
from kerasrnn.data.reading.sentences_of_words import SENTENCE_FORMS
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.tag_schemes import PREFIXES
from kerasrnn.tag_schemes import check_phrase_tags
from kerasrnn.tag_schemes import check_scheme
from kerasrnn.tag_schemes import has_type
from kerasrnn.tag_schemes import parsed_tag
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings
from kerasrnn.warning import warn


def read_tagged_words(
    path: PathLike | Any,
    word: str | int | None = None,
    tag: str | int | None = None,
    tag_names: Strings | None = None,
    sentence: str | int | None = None,
) -> list[list[tuple[str, str]]]:
    r"""Reads tagged sentences from any supported source.

    | source                             | `word`, `tag`  | by default     |
    |------------------------------------|----------------|----------------|
    | CoNLL-U, CoNLL-U Plus              | numbers, names | `FORM`, `UPOS` |
    | any other text, such as CoNLL-2003 | numbers from 1 | first, last    |
    | a table with lists, such as JSON   | names          | see below      |

    Text has a word in each line, in columns separated by tabs or, if its first
    line has none, by spaces. Negative numbers count from the last column, which
    is -1.

    By default, words are in the first column, unless it has numbers or tags
    such as `B-PER`, or another column has more distinct cells (with three or
    more columns, at least twice as many). Tags are in the last column with
    letters or digits. If columns have tags such as `B-PER`, the last of these
    is used, or the first one if words are numbered. A `CorpusWarning` tells if
    other columns than the first and last are used. In CoNLL-U Plus, a column
    with such tags has priority over `UPOS`. For features, such as
    `name=B-PER|SpaceAfter=No` in `MISC`, `tag` may be a key, such as `name`. By
    default, it is the only key in the column that marks phrases. Words without
    it have the tag `O`.

    Sentences are separated by blank lines, and by lines of `-DOCSTART-`,
    `#begin document` and `#end document`. Before a sentence, a line that begins
    with `#` and has another number of columns is a comment. CoNLL-U has ten
    columns and numbered words; its ranges, such as `1-2`, and empty nodes, such
    as `1.1`, are skipped. A `CorpusWarning` tells if a number is missing. Files
    are UTF-8, with or without a byte order mark, with LF or CRLF line ends, and
    may be gzipped.

    A table, in a format of `read_rows` that supports lists, has a sentence in
    each row: a list of words in `tokens` or `words`, and a list of tags in the
    first of `ner_tags`, `tags` and `pos_tags` that exists. Rows whose lists are
    empty, contain anything but strings, or differ in length are left out and
    reported in a `CorpusWarning`.

    Two other forms of tables are supported. First, with `sentence`, each row
    has a word and its tag, in `word` and `tag` or `words` and `labels`, such as
    the CSV `Sentence #,Word,POS,Tag`. A row where the column `sentence` is
    empty continues the previous sentence. If a row is malformed, the sentences
    that it may belong to are left out. Second, rows have a `text` with `spans`,
    `entities`, `label` or `labels`: lists of `[start, end, label]` or of dicts
    with these keys, as written by doccano, Prodigy and Label Studio, or spaCy's
    `(text, {"entities": [...]})`. Texts are split by
    `kerasrnn.tokenizers.split_into_words`, and tags are BIO. Rows with the
    `answer` `reject` or `ignore` are left out, and so are rows with a span
    whose `text` does not match its positions. A `CorpusWarning` counts spans
    that end inside a word.

    Args:
        path: String or path of the file or folder; or a data set of `datasets`,
            a `pandas.DataFrame`, or a list of dicts or pairs.
        word: String or integer, the column of the words; see the table.
        tag: String or integer, the column of the tags.
        tag_names: List of strings, the names of tags that are numbers 0, 1, ...
            Defaults to those of a data set of `datasets`.
        sentence: String or integer, the column that identifies the sentence of
            a word, if each row has one word. Defaults to `None`: a row has the
            lists of a sentence.

    Returns:
        List of sentences, each a list of `(word, tag)` strings.

    Raises:
        CorpusError: If a line has another number of columns than the first one,
            or lacks a word or tag; if most rows would be left out, as in
            `read_rows`; if text is not UTF-8; if tags are numbers without
            names; if a column is missing; or if there are no sentences. It is a
            `ValueError`.
        FileNotFoundError: If the file does not exist.
        ImportError: If parquet or `datasets` need a library that is missing.
        IsADirectoryError: If a folder is not a data set.

    Example:

    >>> lines = ["who\tWP", "knows\tVBZ", "", "hello\tUH"]
    >>> pathlib.Path("tagged.tsv").write_text("\n".join(lines))
    >>> read_tagged_words("tagged.tsv")
    [[('who', 'WP'), ('knows', 'VBZ')], [('hello', 'UH')]]
    >>> lines = ["-DOCSTART- -X- O O", "", "Rome NNP I-NP I-LOC", ". . O O"]
    >>> pathlib.Path("eng.train").write_text("\n".join(lines))
    >>> read_tagged_words("eng.train", tag=2)
    [[('Rome', 'NNP'), ('.', '.')]]
    """
    if isinstance(path, list | tuple) and not are_records(path):
        raise CorpusError(
            "Tagged sentences in memory must be dicts. Expected: "
            f"{SENTENCE_FORMS}. Received: {path!r:.80}"
        )
    columns = {"tokens": word, "tags": tag}
    rows = read_columns(
        path,
        columns,
        arguments={"tokens": "word", "tags": "tag"},
        tag_names=tag_names,
        sentence=sentence,
    )
    finish(rows.report, "sentence", SENTENCE_FORMS)
    return [
        list(zip(*sentence, strict=True))
        for sentence in zip(rows["tokens"], rows["tags"], strict=True)
    ]


# Tags of phrases in unsupported forms: `PER-B`, `b-per`, `B:PER`, and two tags
# in one, such as `B-PER|B-ORG`.
_OTHER_FORM = re.compile(r"(?i:[BIESLUM]\W.*|.+[-_][BIESLUM])", re.DOTALL)
_SEVERAL = re.compile(r".-(.*\W)?[BIESLUM]-.", re.DOTALL)


class Phrase(NamedTuple):
    """A phrase of a sentence.

    Args:
        start: Integer, the position of its first word, counted from 0.
        end: Integer, the position after its last word.
        label: String, its type.
    """

    start: int
    end: int
    label: str


def tag_scheme(sentences: Iterable[Strings]) -> str | None:
    """Detects the tag scheme of a corpus.

    In IOB1, `B` only begins a phrase directly after another one of its type. In
    IOB2, or BIO, it begins every phrase. BIOES also has `E` for the last word
    of a phrase and `S` for the only word; BILOU has `L` and `U` for these. `M`
    is treated as `I`, and `B_PER` as `B-PER`. Prefixes without a type, such as
    `B`, also mark phrases if all tags are like this.

    Args:
        sentences: Lists of tags.

    Returns:
        The name of the scheme, which some tags may break; `None` if tags do not
        mark phrases, such as parts of speech. A `CorpusWarning` tells if only
        some tags mark phrases, or if prefixes seem to come last.

    Example:

    >>> tag_scheme([["I-PER", "I-PER", "O"], ["I-LOC", "B-LOC"]])
    'IOB1'
    >>> tag_scheme([["B-PER", "I-PER", "O"]]), tag_scheme([["NOUN", "VERB"]])
    ('IOB2', None)
    """
    sentences = list(map(list, sentences))
    if not _mark_phrases(collections.Counter(itertools.chain(*sentences))):
        return None
    moves: set[tuple[str, bool]] = set()
    for tags in sentences:
        before = ""
        for tag in tags:
            prefix, label = parsed_tag(tag)
            if label:
                moves.add((prefix, before == label))
            before = label
    prefixes = {prefix for prefix, _ in moves}
    if prefixes & set("LU"):
        return "BILOU"
    if prefixes & set("ES"):
        return "BIOES"
    begins_with = {prefix for prefix, goes_on in moves if not goes_on}
    return "IOB1" if begins_with == {"I"} else "IOB2"


def _mark_phrases(counts):
    """Whether tags mark phrases, from their counts; warns if only some do."""
    others = counts.copy()
    del others["O"]
    # Some parts of speech may have the name of a prefix.
    if set("BI") & set(others) and set(others) <= set("BIESLUM"):
        return True
    typed = list(filter(has_type, others))
    for tag in typed:
        del others[tag]
    if typed and others:
        ((tag, count),) = others.most_common(1)
        warn(
            "Some tags do not mark phrases, so all are read as tags of "
            'single words. Expected: "O", or a prefix and a type, such as '
            f'"B-PER". Received: {len(others)} other tags, such as {tag!r}, '
            f"{count} times",
            CorpusWarning,
        )
    odd = list(filter(_SEVERAL.match, typed))
    if {"O", "o"} & set(counts) and not typed:
        others.pop("o", None)
        odd = list(others) if all(map(_OTHER_FORM.fullmatch, others)) else []
    if odd:
        warn(
            "Tags seem to mark phrases in an unsupported format. Expected: "
            'a prefix first, then a hyphen and a type, such as "B-PER". '
            f"Received: {', '.join(map(repr, sorted(odd)[:3]))}",
            CorpusWarning,
        )
    return bool(typed) and not others


def phrases_of(tags: Strings) -> list[Phrase]:
    """Returns the phrases of a sentence, for tags in any scheme.

    A tag that breaks its scheme, such as `I-PER` after `O` in IOB2, begins a
    phrase, as in the CoNLL evaluation.

    Args:
        tags: List of strings.

    Example:

    >>> phrases_of(["B-PER", "I-PER", "O", "I-LOC"])
    [Phrase(start=0, end=2, label='PER'), Phrase(start=3, end=4, label='LOC')]
    """
    phrases: list[Phrase] = []
    is_open = False
    for position, tag in enumerate(tags):
        prefix, label = parsed_tag(tag)
        if not label:
            is_open = False
            continue
        goes_on = is_open and phrases[-1].label == label and prefix in "IEL"
        start = phrases.pop().start if goes_on else position
        phrases.append(Phrase(start, position + 1, label))
        is_open = prefix in "BI"
    return phrases


def tags_of(phrases: Sequence[Phrase], length: int, scheme: str) -> list[str]:
    """Returns the tags of a sentence in a scheme.

    Args:
        phrases: List of `(start, end, label)`, in order.
        length: Integer, the number of words.
        scheme: `"IOB1"`, `"IOB2"`, `"BIOES"` or `"BILOU"`.

    Raises:
        ValueError: when the scheme is unknown, or a phrase is empty, ends after
            the sentence, or overlaps the previous one.

    Example:

    >>> tags_of([Phrase(0, 2, "PER"), Phrase(3, 4, "LOC")], 4, "BIOES")
    ['B-PER', 'E-PER', 'O', 'S-LOC']
    """
    check_scheme(scheme)
    tags = ["O"] * length
    begin, inside, end, single = PREFIXES[scheme]
    befores = itertools.chain([Phrase(0, 0, "")], phrases)
    for before, phrase in zip(befores, phrases, strict=False):
        start, stop, label = phrase
        if not before.end <= start < stop <= length:
            raise ValueError(
                "Phrases must not be empty, overlap or end after the sentence. "
                f"Received: {phrase} after {before.end} of {length} words"
            )
        tags[start:stop] = [f"{inside}-{label}"] * (stop - start)
        tags[stop - 1] = f"{end}-{label}"
        first = begin if stop - start > 1 else single
        touches = before.end == start and before.label == label
        if scheme == "IOB1" and not touches:
            first = inside
        tags[start] = f"{first}-{label}"
    return tags


def convert_tags(tags: Strings, scheme: str) -> list[str]:
    """Converts the tags of a sentence to another scheme.

    Args:
        tags: List of strings, in any scheme.
        scheme: The new scheme, as in `tags_of`.

    Raises:
        ValueError: when the scheme is unknown, or a tag belongs to no scheme.

    Example:

    >>> convert_tags(["I-PER", "I-PER", "O", "I-LOC"], "IOB2")
    ['B-PER', 'I-PER', 'O', 'B-LOC']
    """
    check_phrase_tags(tags)
    return tags_of(phrases_of(tags), len(tags), scheme)
