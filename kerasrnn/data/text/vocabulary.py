"""Reading a vocabulary from a file."""

import unicodedata

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tables.lines import all_lines
from kerasrnn.tokenizers.tokenizer import END
from kerasrnn.tokenizers.tokenizer import START
from kerasrnn.tokenizers.tokenizer import UNKNOWN
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings


def read_vocabulary(
    path: PathLike, required: Strings = (UNKNOWN, START, END)
) -> list[str]:
    """Reads a vocabulary of one token per line, in the order of the ids.

    Tokens are composed, as tokenizers compose texts: Unicode form C.

    Args:
        path: String or path, the file to read.
        required: Tokens that the vocabulary must contain.

    Returns:
        List of strings.

    Raises:
        CorpusError: If the file is empty or not UTF-8, has a blank line or a
            token twice, or lacks a required token. It is a `ValueError`.
        FileNotFoundError: If there is no such file.

    Example:

    >>> tokens = ["<unk>", "<s>", "</s>", "nhà"]
    >>> pathlib.Path("vocab.vi").write_text("\\n".join(tokens), "utf-8")
    >>> tokenizer = WordTokenizer(read_vocabulary("vocab.vi"), lowercase=False)
    >>> tokenizer.vocabulary_size
    4
    """
    tokens = [
        unicodedata.normalize("NFC", token.strip()) for token in all_lines(path)
    ]
    if not any(tokens):
        raise CorpusError(f"The vocabulary {path} is empty.")
    seen = set()
    for number, token in enumerate(tokens, 1):
        if not token or token in seen:
            again = f"has {token!r} a second time, composed to form C"
            problem = again if token else "is empty"
            raise CorpusError(
                f"The vocabulary {path} must have one token per line, each "
                f"only once. Received: line {number}, which {problem}"
            )
        seen.add(token)
    missing = [token for token in required if token not in seen]
    if missing:
        raise CorpusError(
            f"The vocabulary {path} lacks {', '.join(map(repr, missing))}. "
            f"Expected: {', '.join(map(repr, required))} among its tokens. "
            f"Received: {len(tokens):,} tokens, beginning with {tokens[:3]!r}"
        )
    return tokens
