"""The Penn Treebank as ids in windows, as the recipe has them, in NumPy."""

import collections
import os
import pathlib
import unicodedata
from typing import NamedTuple

import numpy as np

SPECIALS = ("</s>", "<unk>")
END_ID = SPECIALS.index("</s>")
# Lines of the two parts of the Penn Treebank, and words in a line.
GENERATED = {"train": 42_068, "valid": 3_370}
LINE, TYPES = 21, 9_998


class Text(NamedTuple):
    """The ids of a corpus, `(tokens,)` each, and the number of its types."""

    name: str
    train: np.ndarray
    validation: np.ndarray
    vocabulary_size: int


def read_text(settings):
    """The text of `language_model.load_corpus`, as ids of its tokenizer."""
    name, lines = "Penn Treebank", find_treebank(settings)
    if lines is None:
        name, lines = "generated text", generate()
    split = str.split if settings.tokens == "words" else list
    train, validation = (
        [[*split(line), SPECIALS[0]] for line in part[:limit]]
        for part, limit in zip(lines, limits(settings), strict=True)
    )
    counts = collections.Counter(token for line in train for token in line)
    for special in SPECIALS:
        del counts[special]
    most = settings.vocabulary_size - len(SPECIALS)
    known = [*SPECIALS, *(token for token, _ in counts.most_common(most))]
    table = {token: index for index, token in enumerate(known)}

    def ids(part):
        unknown = table["<unk>"]
        found = [table.get(token, unknown) for line in part for token in line]
        return np.array(found, "int32")

    return Text(name, ids(train), ids(validation), len(known))


def limits(settings):
    """How many lines of the two parts to keep, as `read_text_corpus` does."""
    limit = settings.limit
    return limit, limit and max(1, limit // 10)


def find_treebank(settings):
    """Lines for training and validation, `None` without a data folder."""
    folder = settings.data_dir or os.environ.get("KERASRNN_DATA")
    if not folder:
        return None
    names = [f"ptb.{part}.txt" for part in GENERATED]
    for root in (pathlib.Path(folder), pathlib.Path(folder, "ptb")):
        if all((root / name).is_file() for name in names):
            return [read_lines(root / name) for name in names]
    raise FileNotFoundError(
        f"The data folder, or `ptb` in it, must hold {' and '.join(names)}; "
        "without a data folder, a text is generated. "
        f"Received: '{folder}'"
    )


def read_lines(path):
    """The lines of a text, normalized like those of the recipe."""
    text = unicodedata.normalize("NFC", path.read_text("utf-8"))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return [line for line in lines if line]


def generate():
    """Lines of words whose frequencies follow Zipf's law."""
    rng = np.random.default_rng(0)
    words = [np.base_repr(i, 36).lower() for i in range(TYPES)]
    shares = 1 / np.arange(1, TYPES + 1)
    return [
        [
            " ".join(line)
            for line in rng.choice(words, (lines, LINE), p=shares / sum(shares))
        ]
        for lines in GENERATED.values()
    ]


def windows(ids, batch_size, window, start_id=END_ID):
    """What `kerasrnn.data.text_windows` makes, for `fit` in this order.

    Args:
        ids: Integer array of shape `(tokens,)`.
        batch_size: Integer, rows in a batch.
        window: Integer, tokens in a row of a batch.
        start_id: Integer, the first input: the end of a sentence.

    Returns:
        Inputs and labels; their first axis is that of all rows of the first
        batch, then those of the second, and so on.
    """
    length = -(-len(ids) // batch_size)
    count = -(-length // window)

    def cut(x, fill):
        rows = np.full(batch_size * length, fill, "int32")
        rows[: len(x)] = x
        rows = rows.reshape(batch_size, length)
        after = count * window - length
        rows = np.pad(rows, [(0, 0), (0, after)], constant_values=fill)
        return np.concatenate(np.split(rows, count, axis=1))

    inputs = {
        "ids": cut(np.concatenate([[start_id], ids[:-1]]), 0),
        "fresh": np.repeat(np.eye(1, count, dtype="int32")[0], batch_size),
    }
    return inputs, cut(ids, -1)
