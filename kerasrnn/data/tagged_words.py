"""Reading sentences of tagged words."""

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.lines import all_lines
from kerasrnn.typing import PathLike


def read_tagged_words(path: PathLike) -> list[list[tuple[str, str]]]:
    r"""Reads sentences of `word TAB tag` lines.

    Blank lines separate sentences. The file is UTF-8, with or without a byte
    order mark, with LF or CRLF line ends.

    Args:
        path: String or path, the file to read.

    Returns:
        List of sentences, each a list of `(word, tag)` strings.

    Raises:
        CorpusError: If a line is neither blank nor a word and its tag, the
            file is not UTF-8, or no line has a word. It is a `ValueError`.
        FileNotFoundError: If there is no such file.
        IsADirectoryError: If `path` is a folder.

    Example:

    >>> lines = ["who\tWP", "knows\tVBZ", "", "hello\tUH"]
    >>> pathlib.Path("tagged.tsv").write_text("\n".join(lines))
    >>> read_tagged_words("tagged.tsv")
    [[('who', 'WP'), ('knows', 'VBZ')], [('hello', 'UH')]]
    """
    sentences: list[list[tuple[str, str]]] = [[]]
    for number, line in enumerate(all_lines(path), start=1):
        if not line.strip():
            sentences.append([])
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != 2 or not all(columns):
            raise CorpusError(
                f"Line {number} of the corpus {path} is malformed. "
                "Expected: `word TAB tag`, or a blank line between "
                f"sentences. Received: {line!r}"
            )
        sentences[-1].append((columns[0], columns[1]))
    sentences = [sentence for sentence in sentences if sentence]
    if not sentences:
        raise CorpusError(
            f"The corpus {path} is empty. Expected: lines of `word TAB tag`. "
            "Received: only blank lines"
        )
    return sentences
