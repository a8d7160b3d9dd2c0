"""Signatures and docstrings of classes that pass arguments on.

A class that takes the arguments of another one, besides its own, neither names
them again nor says again what they mean. `help`, notebooks and the site show
them all the same: `document` adds them to its signature and its docstring.
"""

import inspect
import re

# The sections of a docstring, in their order.
_NAMES = (
    "Args",
    "Call arguments",
    "Returns",
    "Masking",
    "Raises",
    "Example",
    "Reference",
    "References",
)
_HEADING = re.compile(rf"^({'|'.join(_NAMES)})(?:, [^\n]*)?:", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\S+): .*\n(?:(?: {8}.*)?\n)*", re.MULTILINE)
_REST = "**kwargs"


def document(
    cls: type,
    parameters: dict[str, inspect.Parameter],
    *sources: type,
    sections: tuple[str, ...] = (),
    more: bool = True,
) -> None:
    """Completes the signature and the docstring of a class.

    Args:
        cls: The class.
        parameters: What its constructor takes, by name.
        *sources: Classes whose docstrings describe what that of `cls` does not.
        sections: Further sections, which `cls` takes from the last of them that
            has one, unless it has its own.
        more: Whether the constructor takes more arguments, those of Keras.
    """
    in_order = sorted(parameters.values(), key=lambda p: p.kind)
    rest = [inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)] * more
    signature = _OfTheClass(inspect.Signature([*in_order, *rest]))
    cls.__signature__ = signature  # type: ignore[attr-defined]
    if cls.__doc__ is None:
        return  # Python runs without docstrings.
    head, own = _split(cls.__doc__)
    entries = _entries(own.get("Args", ""))
    entries.pop(_REST, None)
    others: dict[str, str] = {}
    for source in sources:
        _, found = _split(source.__doc__ or "")
        entries = _entries(found.get("Args", "")) | entries
        others |= {name: found[name] for name in sections if name in found}
    own = others | own
    names = [*(parameter.name for parameter in in_order), _REST]
    described = "".join(entries.get(name, "") for name in names)
    own["Args"] = f"Args:\n{described}"
    parts = [own[name] for name in _NAMES if name in own]
    cls.__doc__ = "\n\n".join(x.rstrip() for x in (head, *parts)) + "\n"


class _OfTheClass:
    """A signature that an instance, called, does not have."""

    def __init__(self, signature):
        self.signature = signature

    def __get__(self, instance, owner):
        if instance is not None:
            raise AttributeError("__signature__")
        return self.signature


def _split(doc):
    """Returns what comes before the sections of a docstring, and these."""
    doc = inspect.cleandoc(doc)  # Python 3.13 does so itself.
    headings = list(_HEADING.finditer(doc))
    indices = [heading.start() for heading in headings] + [len(doc)]
    return doc[: indices[0]], {
        heading[1]: doc[start:end]
        for heading, start, end in zip(
            headings, indices, indices[1:], strict=False
        )
    }


def _entries(section):
    """Returns the descriptions of arguments by their names."""
    return {
        entry[1]: entry[0].rstrip() + "\n"
        for entry in _ENTRY.finditer(section.rstrip() + "\n")
    }
