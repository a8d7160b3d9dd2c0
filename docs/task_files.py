"""Lists the files that only one task needs, from its recipe to its data.

    python docs/task_files.py tag forecast
    python docs/task_files.py tag --root OTHER_CHECKOUT

A file belongs to a task alone if the task's recipe imports it, directly or
not, and no other recipe does. Names that a package re-exports count as imports
of the files that define them, and `import` statements in functions count, too.
"""

import argparse
import ast
import functools
import pathlib

TASKS = ("translate", "classify", "language_model", "tag", "forecast", "music")


@functools.cache
def tree(path):
    """Returns the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imported(path):
    """Returns what a file imports: name to module and name in the module."""
    names = {}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            for x in node.names:
                names[x.asname or x.name] = (node.module, x.name)
        elif isinstance(node, ast.Import):
            names |= {x.asname or x.name: (x.name, None) for x in node.names}
    return names


class Checkout:
    """The files of a checkout.

    Args:
        root: Path of the checkout.
    """

    def __init__(self, root):
        self.root = root

    def file(self, module):
        """Returns the file of a module or package; `None` if it has none."""
        for top in (self.root, self.root / "recipes"):
            for ending in (".py", "/__init__.py"):
                path = top / (module.replace(".", "/") + ending)
                if path.is_file():
                    return path
        return None

    def definition(self, module, name):
        """Returns the file that defines a name; `None` if it is not ours."""
        path = self.file(f"{module}.{name}") or self.file(module)
        if path and path.name == "__init__.py" and name in imported(path):
            return self.definition(*imported(path)[name])
        return path

    def imports(self, path):
        """Returns the files that a file imports, without packages."""
        names = imported(path)
        wanted = set(names.values())
        for node in ast.walk(tree(path)):
            # `data.read_rows`, after `from kerasrnn import data`.
            if isinstance(node, ast.Attribute):
                module, name = names.get(ast.unparse(node.value), ("", None))
                if name and self.file(f"{module}.{name}"):
                    wanted.add((f"{module}.{name}", node.attr))
        files = {self.definition(*pair) for pair in wanted} - {None}
        return {x for x in files if x.name != "__init__.py"}

    def needed(self, path):
        """Returns all files that a file needs, and itself."""
        found, left = set(), {path}
        while left:
            found |= left
            left = set().union(*map(self.imports, left)) - found
        return found


def statements(path):
    """Counts the statements of a file, except imports and docstrings."""
    return sum(
        isinstance(node, ast.stmt)
        and not isinstance(node, ast.Import | ast.ImportFrom)
        and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        )
        for node in ast.walk(tree(path))
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(TASKS)}")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path())
    args = parser.parse_args()
    checkout = Checkout(args.root)
    needed = {x: checkout.needed(checkout.file(x)) for x in TASKS}
    for task in args.tasks or TASKS:
        others = set().union(*(needed[x] for x in TASKS if x != task))
        own = sorted(needed[task] - others)
        counts = list(map(statements, own))
        print(f"\n{task}: {len(own)} files, {sum(counts):,} statements")
        for path, count in zip(own, counts, strict=True):
            print(f"{count:6} {path.relative_to(args.root).as_posix()}")


if __name__ == "__main__":
    main()
