"""What a cell of a table holds: a text, a name, a number, a list of strings."""

import math

from kerasrnn.data.encodings import decode
from kerasrnn.data.errors import CorpusError

_MISSING = ("nan", "<na>", "null")  # how programs write no value


def cell_value(value, name):
    """Returns the value of a cell, of the kind that `KINDS` says.

    Args:
        value: What a table has in a cell, `None` if it has none.
        name: String, what the column is asked for as, such as `label`.

    Raises:
        CorpusError: If a list is of numbers, which need names.
        ValueError: If the cell has no such value. The message says why.
    """
    return KINDS.get(name, _text)(value, name)


def _text(value, name):
    """The text of a cell, without white space around it."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"no text in {name!r}: {value!r:.40}")
    text = (value or "").strip()
    if not text:
        raise ValueError(f"empty {name}")
    try:  # bytes that are not UTF-8 were read as lone surrogates
        return decode(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise ValueError(f"a lone surrogate in {name!r}") from None


def _name(value, name):
    """The name in a cell, a string even if the value is a number."""
    if value is None or str(value).strip().lower() in _MISSING:
        value = ""
    return _text(str(value), name)


def _float(value, name):
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"no number in {name!r}: {value!r:.40}")
    return number


def _strings(value, name):
    """The strings in a cell, at least one."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"no list of {name}: {value!r:.40}")
    if any(type(x) is int for x in value):
        raise CorpusError(
            f"The {name} are numbers. Expected: strings; or the names of the "
            "numbers 0, 1, ..., as `tag_names` of `read_tagged_words` or in a "
            f"data set. Received: {value!r:.80}"
        )
    if not all(isinstance(x, str) and x.strip() for x in value):
        raise ValueError(f"{name} that are not strings: {value!r:.40}")
    return list(value)


def named_tags(tags, names):
    """The names of tags that are numbers from 0."""
    try:
        if min(tags) >= 0:
            return [names[tag] for tag in tags]
    except (TypeError, IndexError):
        pass
    raise ValueError(
        f"no list of tags from 0 to {len(names) - 1}: {tags!r:.40}"
    )


KINDS = {
    "label": _name,
    "group": _name,
    "weight": _float,
    "tokens": _strings,
    "tags": _strings,
}


def check_lengths(cells):
    words, tags = (cells.get(name, ()) for name in ("tokens", "tags"))
    if {"tokens", "tags"} <= set(cells) and len(words) != len(tags):
        raise ValueError(f"{len(words)} tokens but {len(tags)} tags")
