"""Typesets the plain-text equations of docstrings and pages as MathML.

They are read in a terminal first:

    h_t = tanh(W [x_t; s_{t-1}] + b)        for t > 0

* A line is a row, aligned at its `=`. Further columns, such as a second
  equation or a remark, stand two or more spaces apart. A line that is indented
  further continues the row above it.
* A single letter is a variable, and so is `alpha`. Other words are upright,
  but for `sum` and `sqrt(...)`.
* `_x` and `^x` are indices, `_{...}` if they are longer; `'` is a prime, and
  `h~` has a tilde.
* `*` is the elementwise product, ` . ` the scalar product, `|v|` a norm,
  ` | ` a condition, ` ~ ` a distribution.

In a page they stand in a fence of the language `equation`.
"""

import html
import re
import textwrap

from latex2mathml.converter import convert

GREEK = {"alpha", "beta", "epsilon", "gamma", "phi", "sigma"}
SYMBOLS = {
    "*": r"\odot ",
    ".": r"\cdot ",
    "|": r"\mid ",
    "~": r"\;\sim\;",
    "∝": r"\propto ",
    "...": r"\ldots ",
}
# Of several letters; one behind the last `_` is an index, and no part of it.
NAME = r"[A-Za-z]{2,}(?:_[a-z]{2,})+|[A-Za-z]+"
TOKEN = re.compile(
    rf"""
    (?P<operator>\ ?[=+*/<>∝]\ ? | \ ?-(?!>)\ ? | \ [.|~]\ )
    | (?P<space>\ )
    | (?P<root>sqrt\()
    | \|(?P<norm>\w)\|
    | (?P<text>"\w+" | & | \.(?!\.) | a(?=\ [a-z]{{2}}))
    | (?P<name>{NAME})
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<symbol>\.\.\. | [()\[\],;:])
    """,
    re.VERBOSE,
)
INDEX = re.compile(
    rf"(?P<kind>[_^])(?:{{([^{{}}]*)}}|({NAME}|\d))|(?P<mark>[~'])"
)
WORD = re.compile(r"[A-Za-z]{2,}[,:]?")
FENCE = re.compile(r"^```equation\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def typeset(block):
    """Returns lines of equations as HTML, in one line.

    Raises:
        ValueError: when they are not in the notation above.
    """
    mathml = convert(as_latex(block), display="block")
    return f'<div class="equation">{mathml}</div>'


def as_latex(block):
    """Returns lines of equations as a LaTeX array."""
    lines = textwrap.dedent(block).strip("\n").splitlines()
    rows = []
    for line in lines:
        first, *others = re.split(r" {2,}", line.strip())
        left, right = _sides(_tokens(first))
        if line.startswith(" "):
            left, right = "", rf"\quad {left}{right}"
        others = [rf"\quad {''.join(_tokens(other))}" for other in others]
        rows.append([left, right, *others])
    columns = "rl" + "l" * (max(map(len, rows)) - 2)
    if not any(left for left, *_ in rows):
        columns, rows = columns[1:], [row[1:] for row in rows]
    body = r" \\ ".join(" & ".join(row) for row in rows)
    if "=" not in body and "_{" not in body:
        raise ValueError(f"Words, and no equation: {block!r}")
    return rf"\begin{{array}}{{{columns}}} {body} \end{{array}}"


def _sides(tokens):
    """Splits an equation before its first relation outside of brackets."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token in ("(", "[")) - (token[:1] in (")", "]"))
        if not depth and token in ("=", SYMBOLS["~"], SYMBOLS["∝"]):
            return "".join(tokens[:place]), "".join(tokens[place:])
    return "", "".join(tokens)


def _tokens(text):
    """Returns the LaTeX of an expression, token by token."""
    tokens, place = [], 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if not match:
            raise ValueError(f"No notation of equations: {text[place:]!r}")
        token, place = _token(match)
        if match.lastgroup not in ("operator", "space"):
            token, place = _with_indices(token, text, place)
        tokens.append(token)
    return tokens


def _token(match):
    """Returns the LaTeX of a token, and where it ends in the text."""
    kind, found, end = match.lastgroup, match[0].strip(), match.end()
    if kind == "space":
        before, after = match.string[: match.start()], match.string[end:]
        words = re.search(rf"{WORD.pattern}$", before) or WORD.match(after)
        return (r"\ " if words else r"\,"), end
    if kind == "root":
        inside = match.string[end : _closing(match.string, end)]
        root = rf"\sqrt{{{''.join(_tokens(inside))}}}"
        return root, end + len(inside) + 1
    if kind == "norm":
        return rf"\lVert {match['norm']} \rVert ", end
    if kind == "text" or (kind == "name" and len(found) > 1):
        if found in GREEK | {"sum"}:
            return rf"\{found} ", end
        return rf"\text{{{html.escape(found, quote=False)}}}", end
    return SYMBOLS.get(found, found), end


def _with_indices(token, text, place):
    """Adds the primes, the tilde and the indices that hang on a token."""
    above = below = ""
    while match := INDEX.match(text, place):
        place = match.end()
        if match["mark"] == "~":
            token = rf"\tilde{{{token}}}"
        elif match["mark"]:
            above += r"\prime "
        elif match["kind"] == "^":
            above += "".join(_tokens(match[2] or match[3]))
        else:
            below = "".join(_tokens(match[2] or match[3]))
    token += f"_{{{below}}}" if below else ""
    return token + (f"^{{{above}}}" if above else ""), place


def _closing(text, place):
    """Where the bracket closes that opened before a place."""
    depth = 1
    for end in range(place, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if not depth:
            return end
    raise ValueError(f"A bracket is not closed: {text!r}")


def on_page_markdown(markdown, **kwargs):
    """Typesets the equations of a page, as a hook of MkDocs."""
    return FENCE.sub(lambda match: typeset(match[1]), markdown)
