"""Reading sentences of tagged words: columns of CoNLL, or rows of a table."""

from typing import Any

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tables.records import are_records
from kerasrnn.data.tables.rows import finish
from kerasrnn.data.tables.rows import read_columns
from kerasrnn.data.tables.word_rows import SENTENCE_FORMS
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings


def read_tagged_words(
    path: PathLike | Any,
    word: str | int | None = None,
    tag: str | int | None = None,
    tag_names: Strings | None = None,
    sentence: str | int | None = None,
) -> list[list[tuple[str, str]]]:
    r"""Reads sentences of tagged words, in a format that the path determines.

    | source                             | `word`, `tag`  | by default     |
    |------------------------------------|----------------|----------------|
    | CoNLL-U, CoNLL-U Plus              | numbers, names | `FORM`, `UPOS` |
    | any other text, such as CoNLL-2003 | numbers from 1 | first, last    |
    | a table with lists, such as JSON   | names          | see below      |

    Text has a word in each line, in columns that are separated by tabs or, if
    there are none in its first line, by blanks. Negative numbers count from
    the last column, which is -1.

    By default, words are in the first column, unless it has numbers or tags
    such as `B-PER`, or another has more different cells, of three columns or
    more at least twice as many. Tags are in the last column with letters or
    digits. If columns have tags such as `B-PER`, it is the last of these, or
    the first where words are numbered. A `CorpusWarning` says so if another
    column than the first or the last is taken. Of CoNLL-2012, these are 4, and
    11 with names; its brackets, as `(PER*`, become BIO, and its columns count
    from the first, up to the names. In CoNLL-U Plus, a column with such tags
    goes before `UPOS`. Of features, such as `name=B-PER|SpaceAfter=No` in
    `MISC`, `tag` may be a key, such as `name`; by default, it is that of the
    only one in the column that marks phrases. Words without it have the tag
    `O`.

    Blank lines separate sentences, and so do lines of `-DOCSTART-`, `#begin
    document` and `#end document`. Before a sentence, a line that begins with
    `#` and has another number of columns is a comment; so is one of as many,
    which is reported in a `CorpusWarning`, if `#` stands alone and no word has
    its tag.
    CoNLL-U has ten columns and numbered words; its ranges, as `1-2`, and empty
    nodes, as `1.1`, are skipped. A `CorpusWarning` says if a number is missing.
    Files are UTF-8, with or without a byte order mark, with LF or CRLF line
    ends, gzipped or not.

    A table, in the formats of `read_rows` that have lists, has a sentence in
    each row: a list of words in `tokens` or `words`, and one of tags in
    `ner_tags`, `tags` or `pos_tags`, the first of them that exists. A row
    whose lists are empty, are not of strings, or differ in length is left out
    and reported in a `CorpusWarning`.

    Two other forms of tables are read. With `sentence`, each row has a word
    and its tag, in `word` and `tag` or `words` and `labels`, such as the CSV
    `Sentence #,Word,POS,Tag`; a row in which the column `sentence` is empty
    goes on with the sentence before; with a malformed row, the sentences that
    it may belong to are left out. A `text` with `spans`, `entities`, `label` or
    `labels`, lists of `[start, end, label]` or dicts of these, as doccano,
    Prodigy and Label Studio write them, or `(text, {"entities": [...]})` of
    spaCy, is split by `kerasrnn.tokenizers.split_into_words`, and its tags are
    BIO. A row whose `answer` is `reject` or `ignore` is left out, and so is one
    with a span whose own `text` is not at its positions; a `CorpusWarning`
    counts spans that end inside of a word.

    Args:
        path: String or path, the file or folder to read; or a data set of
            `datasets`, a `pandas.DataFrame`, or a list of dicts or pairs.
        word: String or integer, the column of the words, as in the table.
        tag: String or integer, the column of the tags.
        tag_names: List of strings, the names of tags that are numbers 0, 1, ...
            Defaults to those of a data set of `datasets`.
        sentence: String or integer, the column that says which sentence a word
            is of, where a row has a word. Defaults to `None`: a row has lists.

    Returns:
        List of sentences, each a list of `(word, tag)` strings.

    Raises:
        CorpusError: If a line has another number of columns than the first,
            or no word or tag in them; if most rows would be left out, as in
            `read_rows`; if text is not UTF-8; if tags are numbers without
            names; if a column is missing, or there is no sentence. It is a
            `ValueError`.
        FileNotFoundError: If there is no such file.
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
            "Tagged words in memory are dicts. Expected: "
            f"{SENTENCE_FORMS}. Received: {path!r:.80}"
        )
    columns = {"tokens": word, "tags": tag}
    arguments = {"tokens": "word", "tags": "tag"}
    rows = read_columns(
        path,
        columns,
        arguments=arguments,
        tag_names=tag_names,
        sentence=sentence,
    )
    if not len(rows):
        rows.report.refuse_all("sentence", SENTENCE_FORMS)
    finish(rows)
    return [
        list(zip(*sentence, strict=True))
        for sentence in zip(rows["tokens"], rows["tags"], strict=True)
    ]
