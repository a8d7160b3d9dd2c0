"""Turns the docstrings of the package into what mkdocstrings can show.

The docstrings are read in a terminal first: examples stand there without a
fence, and sections that Google's style does not know, such as "Masking" and
"Call arguments", have a heading of their own. An indented block is a set of
equations if it can be read as one, and code otherwise.
"""

import pathlib
import re
import sys
import textwrap

import griffe

# It is loaded by its path, without its folder.
_HERE = pathlib.Path(__file__).parent
sys.path.append(str(_HERE))
import class_links  # noqa: E402
import equations  # noqa: E402

_PUBLIC = class_links.public_names(_HERE.parent)

# A heading at the margin, and the indented lines below it.
_SECTION = re.compile(
    r"^(Returns|Yields|Masking|Example|Reference|References):\n"
    r"((?:(?: {4}.*)?\n)*(?: {4}.*))",
    re.MULTILINE,
)
# Where a part of a docstring begins.
_PART = re.compile(
    r"^(?=(?:Args|Call arguments|Returns|Yields|Raises|Masking|Attributes"
    r"|Examples?|References?):)",
    re.MULTILINE,
)
_INLINE = re.compile(r"^Masking: ", re.MULTILINE)
_EMPTY = re.compile(r"^(Examples?):$", re.MULTILINE)
_DOCTEST = re.compile(r"^( *)>>> .*(?:\n *\S.*)*", re.MULTILINE)
_BLOCK = re.compile(r"(?<=\n\n)(?: {4}.*(?:\n|\Z))+")


def as_markdown(docstring):
    """Returns a docstring as Markdown with sections of Google's style."""
    text = _BLOCK.sub(_typeset, _example_first(docstring))
    text = _SECTION.sub(_dedented, text)
    text = _INLINE.sub("**Masking:** ", text)
    text = _EMPTY.sub(r"**\1:**", text)
    text = text.replace("\nCall arguments:\n", "\nArgs: Call arguments:\n")
    return _DOCTEST.sub(_fenced, text)


def _example_first(docstring):
    """Moves examples above the arguments: on a page they are read first."""
    parts = [f"{part.rstrip()}\n\n" for part in _PART.split(docstring)]
    examples = [part for part in parts if part.startswith("Example")]
    others = [part for part in parts if not part.startswith("Example")]
    arguments = [i for i, x in enumerate(others) if x.startswith("Args:")]
    if not examples or not arguments:
        return docstring
    place = arguments[0]
    return "".join([*others[:place], *examples, *others[place:]])


def _dedented(match):
    return f"**{match[1]}:**\n\n{textwrap.dedent(match[2])}"


def _typeset(match):
    try:
        return equations.typeset(match[0]) + "\n"
    except ValueError:
        return match[0]


def _fenced(match):
    indent = match[1]
    return f"{indent}```pycon\n{match[0]}\n{indent}```"


def _has_a_page(base):
    """Whether a base class is public, or of another package."""
    path = getattr(base, "canonical_path", str(base))
    name = path.rpartition(".")[2]
    if path.startswith("kerasrnn."):
        return name in _PUBLIC
    return not name.startswith("_")


class Docstrings(griffe.Extension):
    """Rewrites every docstring when the package has been read.

    That of a part stays out: its page has a text of its own.
    """

    def on_object(self, *, obj, **kwargs):
        if obj.is_class:
            obj.bases = [base for base in obj.bases if _has_a_page(base)]
        if obj.is_init_module:
            obj.docstring = None
        elif obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
