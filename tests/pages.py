"""Runs the code of a page, and compares or stores what it prints.

    python -m tests.pages docs/notebooks/translate.md    # stores it

It stores the pictures that the page saves, too, in `docs/images`.

A block prints what a comment behind its `print` says, or else what stands below
it, in this form:

    <!-- output -->

    ```text
    3 0.5
    ```

What is trained differs from machine to machine. There the comment is
`<!-- output of one run -->`, the text is not compared, and comments such as
`<!-- check: scores["bleu"] > 30 -->` say what holds in every run. No reader of
the page sees them.
"""

import ast
import contextlib
import io
import os
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?P<mark><!-- not run: [^\n]+ -->\n\n?)?"
    r"```python\n(?P<code>.*?)^```\n"
    r"(?P<output>\n<!-- output(?P<varies> of one run)? -->\n"
    r"\n```text\n(?P<printed>.*?)^```\n)?"
    r"(?P<checks>(?:\n?<!-- check: [^\n]+ -->\n)*)",
    re.MULTILINE | re.DOTALL,
)
CHECK = re.compile(r"<!-- check: (.+) -->")


def blocks(text):
    """The blocks of a page that are run.

    Left out is what is marked as not run, and what opens the folder that a
    run of a recipe leaves.
    """
    for block in BLOCK.finditer(text):
        if not block["mark"] and "saved_models/" not in block["code"]:
            yield block


def examples(text):
    """Returns the code of a page as one script, its lines where they stand."""
    lines = [""] * text.count("\n")
    for block in blocks(text):
        first = text.count("\n", 0, block.start("code"))
        code = block["code"].splitlines()
        lines[first : first + len(code)] = code
    return "\n".join(lines)


def run(code, name, namespace=None):
    """Runs statement by statement; checks what commented prints print.

    Returns:
        What all others print.
    """
    namespace = {"__name__": "__main__"} if namespace is None else namespace
    lines, printed = code.splitlines(), []
    for statement in ast.parse(code).body:
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            module = ast.Module([statement], type_ignores=[])
            exec(compile(module, name, "exec"), namespace)
        last = lines[statement.end_lineno - 1]
        _, _, expected = last[statement.end_col_offset :].partition("#")
        if expected and ast.unparse(statement).startswith("print("):
            assert text.getvalue().strip() == expected.strip(), last
        else:
            printed.append(text.getvalue())
    return "".join(printed)


def run_page(page):
    """Runs a page; returns its text with what the blocks print now.

    Raises:
        AssertionError: when a check fails.
    """
    text = page.read_text("utf-8")
    pieces, end, namespace = [], 0, {"__name__": "__main__"}
    for block in blocks(text):
        # Behind empty lines, so that an error shows where it is.
        before = "\n" * text.count("\n", 0, block.start("code"))
        printed = run(before + block["code"], page.name, namespace)
        for check in CHECK.findall(block["checks"]):
            assert eval(check, namespace), f"{page.name}: {check}"
        output = ""
        if printed.strip():
            output = _fenced(printed, block["varies"] or "")
        pieces += [text[end : block.end("code")], "```\n", output]
        end = block.start("checks")
    return "".join([*pieces, text[end:]])


def _fenced(printed, varies):
    rows = printed.strip("\n").splitlines()
    lines = "".join(f"{row.rstrip()}\n" for row in rows)
    return f"\n<!-- output{varies} -->\n\n```text\n{lines}```\n"


def without_varying(text):
    """A page without what differs from run to run."""

    def blank(block):
        if not block["varies"]:
            return block[0]
        return block[0].replace(block["output"], "\n<!-- varies -->\n")

    return BLOCK.sub(blank, text)


def main():
    sys.path.append(str(ROOT / "recipes"))
    for name in sys.argv[1:]:
        page = pathlib.Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = run_page(page)
            os.chdir(ROOT)
            for picture in pathlib.Path(folder).glob("*.png"):
                shutil.copy(picture, ROOT / "docs" / "images")
        page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
