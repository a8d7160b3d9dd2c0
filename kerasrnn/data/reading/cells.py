"""What a cell of a table holds: a text, names, a number, strings."""

import ast
import contextlib
import decimal
import json
import math
import re
import unicodedata

from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import decode
from kerasrnn.tokenizers.invisible import is_blank

MISSING = "", "nan", "<na>", "null"  # how programs write a missing value
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_FLAGS = {
    **{"1": True, "1.0": True, "true": True},
    **{"0": False, "0.0": False, "false": False},
}


def cell_value(value, name):
    """Returns the value of a cell, of the kind that `KINDS` says.

    Args:
        value: What a table has in a cell, `None` if it has none.
        name: String, what the column is asked for as, such as `label`.

    Raises:
        CorpusError: If a list is of numbers, which need names.
        ValueError: If the cell has no such value. The message says why.
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    return KINDS.get(name, _text)(value, name)


def _text(value, name):
    """The text of a cell, without white space around it."""
    if not isinstance(value, str | None):
        raise ValueError(f"not a text in {name!r}: {value!r:.40}")
    text = (value or "").strip()
    if is_blank(text):
        raise ValueError(f"empty {name}")
    return decoded(text, name)


def _lines(value, name):
    """The lines with text in a cell, which may be empty, but not missing."""
    if value is not None and is_blank(str(value)):
        return []
    lines = (line.strip() for line in _text(value, name).split("\n"))
    return [line for line in lines if not is_blank(line)]


def decoded(text, name):
    """A text in which bytes that are not UTF-8 may be lone surrogates.

    Raises:
        ValueError: If it has such bytes, or other surrogates.
    """
    try:
        return decode(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise ValueError(f"a lone surrogate in {name!r}") from None


def name_in(value, name):
    """The name in a cell, also of a number, composed as Unicode can be."""
    if isinstance(value, dict | list | tuple):
        raise ValueError(f"not a {name}: {value!r:.40}")
    text = _text("" if is_missing(value) else str(value), name)
    return unicodedata.normalize("NFC", text)


def is_missing(value):
    """Whether a cell has no value, or what programs write for none."""
    return value is None or str(value).strip().lower() in MISSING


def _one_name(value, name):
    """The name in a cell; a list must have one."""
    if isinstance(value, list | tuple):
        if len(value) != 1:
            advice = ": `multi_label` keeps several" * (len(value) > 1)
            raise ValueError(f"{len(value)} {name}s, not one{advice}")
        [value] = value
    return name_in(value, name)


def _names(value, name):
    """The different names in a cell: a list, or columns of 0 and 1."""
    if is_missing(value):
        return []
    if isinstance(value, dict):
        return [column for column, cell in value.items() if _flag(cell, column)]
    if isinstance(value, str) and value.strip().startswith("["):
        for read in (json.loads, ast.literal_eval):  # as Python writes it
            wrong = ValueError, SyntaxError, RecursionError, MemoryError
            with contextlib.suppress(*wrong):
                value = read(value)
                break
    if not isinstance(value, list | tuple):
        raise ValueError(f"not a list of {name}: {value!r:.40}")
    return list(dict.fromkeys(name_in(x, name) for x in value))


def _flag(value, column):
    """Whether a cell of a column of 0 and 1 has a 1."""
    text = str(value).strip().lower()
    if text not in _FLAGS:
        raise ValueError(f"neither 0 nor 1 in {column!r}: {value!r:.40}")
    return _FLAGS[text]


def separated(value, separator):
    """The names in the text of a cell, as a list; other values as they are."""
    if not isinstance(value, str) or is_missing(value):
        return value
    return [name for name in value.split(separator) if name.strip()]


def _float(value, name):
    with contextlib.suppress(TypeError, ValueError):
        if math.isfinite(number := float(value)):
            return number
    raise ValueError(f"not a number in {name!r}: {value!r:.40}")


def _strings(value, name):
    """The strings in a cell, at least one."""
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"not a list of {name}: {value!r:.40}")
    if any(type(x) is int for x in value):
        raise CorpusError(
            f"The {name} are numbers. Expected: strings; or the names of the "
            "numbers 0, 1, ..., as `tag_names` of `read_tagged_words` or in a "
            f"data set. Received: {value!r:.80}"
        )
    if not all(isinstance(x, str) and x.strip() for x in value):
        raise ValueError(f"{name} that are not strings: {value!r:.40}")
    decoded("\n".join(value), name)  # raises an error if one is no text
    return list(value)


def named_tags(tags, names):
    """The names of tags that are numbers 0, 1, ..."""
    with contextlib.suppress(TypeError, IndexError):
        if min(tags) >= 0:
            return [names[tag] for tag in tags]
    raise ValueError(
        f"not a list of tags from 0 to {len(names) - 1}: {tags!r:.40}"
    )


KINDS = {
    "label": _one_name,
    "labels": _names,
    "group": name_in,
    "weight": _float,
    "tokens": _strings,
    "tags": _strings,
    "lines": _lines,
}


# Names of classes.


def in_order(names):
    """Names of classes: numbers by value, then others by letters."""
    return sorted(names, key=lambda name: (*number_in(name), name))


def number_in(name):
    """The value of a name that is a number, as the second of a tuple."""
    is_number = _NUMBER.fullmatch(name)
    # As floats, large numbers would be equal.
    return (0, decimal.Decimal(name)) if is_number else (1, 0)
