"""Custom cells, as defined in the guides."""

import ast
import functools
import pathlib
import re

from kerasrnn.layers import SelfAttentionCell

GUIDES = pathlib.Path(__file__).parents[1] / "docs" / "guides"


def cell(name, units):
    """Creates one of the cells, from the page that defines it."""
    if name == "Leaky, self-attention":
        return SelfAttentionCell(cell("Leaky", units), "additive")
    page = "small_cells" if name == "IndRNN" else "own_cell"
    sizes = [units, units // 2] if name == "ProjectingLSTM" else [units]
    return defined(page)[f"{name}Cell"](*sizes)


@functools.cache
def defined(page):
    """Returns the classes that a page defines, by name; runs no other code."""
    text = (GUIDES / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef)
    wanted = [
        statement
        for block in blocks
        if re.search(r"^class |^from keras import", block, re.M)
        for statement in ast.parse(block).body
        if isinstance(statement, kinds)
    ]
    found = {"__name__": page}
    exec(compile(ast.Module(wanted, []), page, "exec"), found)
    return found
