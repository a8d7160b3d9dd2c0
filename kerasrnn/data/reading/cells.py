"""Converts cells of tables to texts, names, numbers or strings."""

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

# How programs write a missing value, in lower case. That of databases is never
# a text.
NULL = r"\n"
MISSING = "", "nan", "<na>", "null", NULL
_FLAGS = {
    **{"1": True, "1.0": True, "true": True},
    **{"0": False, "0.0": False, "false": False},
}


def cell_value(value, name):
    """Converts a cell to the kind of value in `KINDS`.

    Args:
        value: The content of a cell, or `None`.
        name: String, the requested kind of column, such as `label`.

    Raises:
        CorpusError: If a list contains numbers, which need names.
        ValueError: If the cell has no such value. The message tells why.
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    return KINDS.get(name, _text)(value, name)


def _text(value, name):
    """Returns the text of a cell, stripped of white space."""
    if not isinstance(value, str | None):
        raise ValueError(f"not a text in {name!r}: {value!r:.40}")
    text = (value or "").strip()
    if is_blank(text) or text.lower() == NULL:
        raise ValueError(f"empty {name}")
    return decoded(text, name)


def _lines(value, name):
    """Returns the non-blank lines in a cell, which must not be missing."""
    if value is not None and is_blank(str(value)):
        return []
    lines = (line.strip() for line in _text(value, name).split("\n"))
    return [line for line in lines if not is_blank(line)]


def decoded(text, name):
    """Checks a text in which bytes that are not UTF-8 are lone surrogates.

    Raises:
        ValueError: If it has such bytes, or other surrogates.
    """
    try:
        return decode(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise ValueError(f"a lone surrogate in {name!r}") from None


def name_in(value, name):
    """Returns the name in a cell, which may be a number, in Unicode NFC."""
    if isinstance(value, dict | list | tuple):
        raise ValueError(f"not a {name}: {value!r:.40}")
    text = _text("" if is_missing(value) else str(value), name)
    return unicodedata.normalize("NFC", text)


def is_missing(value):
    """Whether a cell has no value or stands for a missing value."""
    return value is None or str(value).strip().lower() in MISSING


def _one_name(value, name):
    """Returns the name in a cell; a list must have exactly one."""
    found = _listed(value)
    if isinstance(found, list) and all(isinstance(x, str) for x in found):
        value = found  # Numbers may be the bounds of an interval.
    if isinstance(value, list | tuple):
        if len(value) != 1:
            advice = ": `multi_label` keeps several" if value else ""
            raise ValueError(f"{len(value)} {name}s, not one{advice}")
        [value] = value
    return name_in(value, name)


def _names(value, name):
    """Returns the distinct names in a cell: a list, or columns of 0 and 1."""
    if is_missing(value):
        return []
    if isinstance(value, dict):
        return [column for column, cell in value.items() if _flag(cell, column)]
    value = _listed(value)
    if not isinstance(value, list | tuple):
        raise ValueError(f"not a list of {name}: {value!r:.40}")
    return [name_in(x, name) for x in value]


def _listed(value):
    """Reads a text that is a list; returns other values unchanged."""
    if isinstance(value, str) and value.strip().startswith("["):
        for read in (json.loads, _python_list):
            wrong = ValueError, SyntaxError, RecursionError, MemoryError
            with contextlib.suppress(*wrong):
                return read(value)
    return value


def _python_list(text):
    """Reads a list as Python writes it; NumPy's `['a' 'b']` is not one."""
    if re.search(r"""['"]\s*['"]""", text):  # Python would join the strings.
        raise ValueError
    return ast.literal_eval(text)


def _flag(value, column):
    """Whether a cell of a column of 0 and 1 has a 1."""
    text = str(value).strip().lower()
    if text not in _FLAGS:
        raise ValueError(f"neither 0 nor 1 in {column!r}: {value!r:.40}")
    return _FLAGS[text]


def separated(value, separator):
    """Splits a text into a list of names; returns other values unchanged."""
    if not isinstance(value, str) or is_missing(value):
        return value
    return [name for name in value.split(separator) if name.strip()]


def _float(value, name):
    with contextlib.suppress(TypeError, ValueError):
        if math.isfinite(number := float(value)):
            return number
    raise ValueError(f"not a number in {name!r}: {value!r:.40}")


def _strings(value, name):
    """Returns the non-empty list of strings in a cell."""
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"not a list of {name}: {value!r:.40}")
    if any(type(x) is int for x in value):
        raise CorpusError(
            f"The {name} are numbers. Expected: strings, or names for the "
            "numbers 0, 1, ..., as `tag_names` of `read_tagged_words` or in a "
            f"data set. Received: {value!r:.80}"
        )
    if not all(isinstance(x, str) and x.strip() for x in value):
        raise ValueError(f"{name} that are not strings: {value!r:.40}")
    decoded("\n".join(value), name)  # raises an error for invalid text
    return list(value)


def named_tags(tags, names):
    """Converts tags that are numbers 0, 1, ... to names."""
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
    """Sorts class names: numbers by value, then others alphabetically."""
    return sorted(names, key=lambda name: (*number_in(name), name))


def number_in(name):
    """Returns `(False, value)` for a numeric name, or `(True, 0)`."""
    # As floats, distinct large numbers could be equal.
    is_number = re.fullmatch(r"[-+]?\d+(\.\d+)?", name)
    return (0, decimal.Decimal(name)) if is_number else (1, 0)
