"""Links names of public classes in the text of pages, as a hook of MkDocs.

`FastLSTM` and `FastLSTM(256)` lead to the entry of the class in the API pages.
Code, headings and what is a link already stay as they are.
"""

import ast
import pathlib
import re

# What stays as it is comes first; then the name of a class.
_PART = re.compile(
    r"^ *```.*?^ *```$|^#.*?$|<!--.*?-->|!?\[[^\]]*\]\([^)]*\)"
    r"|`(?P<name>[A-Z]\w+)(?:\([^`]*\))?`",
    re.MULTILINE | re.DOTALL,
)
_classes = {}


def public_names(root):
    """Reads the public names of each part of the package, and their paths."""
    found = {}
    for path in sorted((root / "kerasrnn").glob("*/__init__.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    name = alias.asname or alias.name
                    found[name] = f"kerasrnn.{path.parent.name}.{name}"
    return found


def on_config(config):
    """Finds the classes to link."""
    root = pathlib.Path(config.config_file_path).parent
    _classes.update(public_names(root))
    return config


def on_page_markdown(markdown, page, **kwargs):
    """Turns names into references, which mkdocs-autorefs resolves."""
    if page.file.src_uri.startswith("api/"):
        return markdown

    def linked(match):
        target = _classes.get(match["name"])
        return f"[{match[0]}][{target}]" if target else match[0]

    return _PART.sub(linked, markdown)
