"""The arrows of the architecture, read off the imports."""

import ast
import functools
import pathlib
import re
import subprocess
import sys

import keras
import pytest

ROOT = pathlib.Path(__file__).parent.parent
PACKAGE = ROOT / "kerasrnn"
FILES = sorted(PACKAGE.rglob("*.py"))
RECIPES = sorted(
    path
    for folder in ("recipes", "recipes/studies")
    for path in (ROOT / folder).glob("*.py")
)

# Modules that every part may import: annotations, checks of arguments, files
# that are written completely or not at all, libraries of the extras, what a
# layer saves of itself, the schemes of tags, operations that `keras.ops` lacks,
# warnings.
SHARED = (
    "typing",
    "arguments",
    "files",
    "optional",
    "saving",
    "tag_schemes",
    "tensors",
    "warning",
)
# What each part may import, beside itself and the standard library.
ALLOWED = {
    "__init__": {
        "kerasrnn",
        "kerasrnn.decoding",
        "kerasrnn.layers",
        "kerasrnn.metrics",
        "kerasrnn.models",
        "kerasrnn.training",
    },
    "typing": {"keras"},
    "arguments": set(),
    "files": {"filelock"},
    "optional": {"pandas"},
    "saving": {"keras"},
    "tag_schemes": set(),
    "tensors": {"keras"},
    "warning": set(),
    "layers": {"keras"},
    # Statistics of raw tables are taken in float64, which JAX lacks.
    "models": {"keras", "kerasrnn.distribute", "kerasrnn.layers", "numpy"},
    "decoding": {"keras"},
    "metrics": {"keras", "sacrebleu"},
    # Imports TensorFlow inside functions, where it is the backend.
    "distribute": {"keras", "numpy", "ray", "tensorflow"},
    "training": {
        "h5py",
        "keras",
        "kerasrnn.distribute",
        "kerasrnn.layers",
        "kerasrnn.metrics",
        "numpy",
        "tyro",
    },
    "plots": {"matplotlib", "numpy", "pymupdf_fonts", "sklearn"},
    "tokenizers": {
        "keras",
        "keras_nlp",
        "kerasrnn_commands",
        "sentencepiece",
        "tensorflow",
        "tensorflow_text",
    },
    "data": {
        "charset_normalizer",
        "datasets",
        "gensim",
        "keras",
        "kerasrnn.tokenizers",
        "mido",
        "numpy",
        "pandas",
        "pyarrow",
        "scipy",
        "sklearn",
        "tensorflow",
    },
    "pipelines": {
        "keras",
        "keras_hub",
        "kerasrnn",
        "kerasrnn.__version__",
        "kerasrnn.data",
        "kerasrnn.decoding",
        "kerasrnn.distribute",
        "kerasrnn.metrics",
        "kerasrnn.models",
        "kerasrnn.plots",
        "kerasrnn.serving",
        "kerasrnn.tokenizers",
        "kerasrnn.training",
        "numpy",
        "tensorflow",
    },
    # Reads SavedModels only: no pipeline, no model of Keras.
    "serving": {
        "apache_beam",
        "google",
        "gradio",
        "kerasrnn.data",
        "kerasrnn.plots",
        "kerasrnn.training",
        "kerasrnn_commands",
        "matplotlib",
        "numpy",
        "onnx",
        "onnxruntime",
        "orjson",
        "tensorflow",
        "tensorflow_text",
        "tf2onnx",
    },
}
# What each room of a part may import of the other rooms there.
ROOMS = {
    "layers": {
        "loop": set(),
        "recurrent": {"loop"},
        "memory": {"recurrent"},
        "attention": {"loop", "recurrent"},
        "crf": set(),
        "weights": {"recurrent"},
    },
    "data": {
        "reading": set(),
        "series": {"reading"},
        "music": {"reading"},
    },
    "serving": {"http": set(), "onnx": set(), "corpus": set(), "demo": set()},
}


def name_of(path):
    return str(path.relative_to(ROOT))


def assert_none(offences):
    """Fails if there is an offence, and lists them all."""
    offences = list(offences)
    assert not offences, "\n".join(["", *offences])


@functools.cache
def imports(path):
    """Every `(module, name or None)` that a file imports, anywhere in it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: a relative import"
            found += [(node.module, alias.name) for alias in node.names]
    return found


def refused(paths, refuses):
    """What files import that is refused, `refuses(path, module, name)`."""
    return (
        f"{name_of(path)} imports {'.'.join(filter(None, (module, name)))}"
        for path in paths
        for module, name in imports(path)
        if refuses(path, module, name)
    )


def part_of(module):
    """`kerasrnn.layers` for `kerasrnn.layers.cells`, `keras` for `keras.x`."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] == "kerasrnn" else 1])


@functools.cache
def public_names(module):
    """What a module of the package offers, without importing it."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and path.stem == "__init__":
            names.update(x.asname or x.name for x in node.names)
    return frozenset(name for name in names if not name.startswith("_"))


def test_the_package_imports_along_the_arrows():
    # The one place for what `keras.ops` lacks, on each backend.
    backends = PACKAGE / "layers" / "_backend.py"

    def refuses(path, module, name):
        if path == backends and module in {"tensorflow", "jax", "torch"}:
            return False
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        own = {f"kerasrnn.{name}" for name in (part, *SHARED)}
        allowed = ALLOWED[part] | own | sys.stdlib_module_names
        # `from kerasrnn import data` is an import of `kerasrnn.data`.
        from_root = module == "kerasrnn" and f"kerasrnn.{name}" not in allowed
        return part_of(module) not in allowed or from_root

    assert_none(refused(FILES, refuses))


def test_the_server_imports_neither_tensorflow_nor_the_package():
    allowed = {
        "h11",  # which comes with uvicorn
        "kerasrnn_commands",
        "prometheus_client",
        "starlette",
        "tyro",
        "uvicorn",
    }
    # The other is of commands that load TensorFlow.
    loads = {"quiet.py"}
    paths = list((ROOT / "kerasrnn_commands").glob("*.py"))
    paths = [path for path in paths if path.name not in loads]
    assert len(paths) > 10
    assert_none(
        refused(
            paths,
            lambda _, module, __: (
                part_of(module) not in allowed | sys.stdlib_module_names
                or f"{module.rpartition('.')[2]}.py" in loads
            ),
        )
    )


def test_the_terminal_is_quiet_before_a_command_imports_anything():
    paths = [
        ROOT / "kerasrnn_commands" / name
        for name in ("scripts.py", "stderr.py")
    ]
    assert_none(
        refused(
            paths,
            lambda _, module, __: (
                part_of(module) not in sys.stdlib_module_names
            ),
        )
    )


@pytest.mark.parametrize("part", ROOMS)
def test_the_rooms_of_a_part_import_along_the_arrows(part):
    rooms = ROOMS[part]

    def refuses(path, module, name):
        room = path.relative_to(PACKAGE / part).parts[0]
        closed = rooms.keys() - rooms[room] - {room}
        # `from kerasrnn.data import series` is an import of a room, too.
        return any(
            f"{module}.{name}.".startswith(f"kerasrnn.{part}.{other}.")
            for other in closed
        )

    folders = {path.parent.name for path in (PACKAGE / part).glob("*/*.py")}
    assert folders == rooms.keys()
    assert_none(refused((PACKAGE / part).glob("*/**/*.py"), refuses))


def test_what_serves_imports_along_the_arrows():
    """The rooms of serving share the files beside them, which know none."""
    rooms = tuple(f"kerasrnn.serving.{room}." for room in ROOMS["serving"])
    assert_none(
        refused(
            (PACKAGE / "serving").glob("*.py"),
            lambda _, *names: "{}.{}.".format(*names).startswith(rooms),
        )
    )


def test_a_pipeline_answers_without_matplotlib():
    """Only a run, which draws, needs what is not in the extra `text`."""
    assert_none(
        f"{name_of(path)} imports {node.module}"
        for path in (PACKAGE / "pipelines").rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        and node.module.startswith("kerasrnn.plots")
    )


def module_of(path):
    """`kerasrnn.layers.softmax`, or `kerasrnn.layers` for its `__init__`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def test_no_two_modules_need_each_other():
    """Not even inside functions, and not by way of others."""
    files = {module_of(path): path for path in FILES}
    waits = {
        module: {
            name
            for found in imports(path)
            for name in (found[0], ".".join(map(str, found)))
            if name in files and files[name].name != "__init__.py"
        }
        for module, path in files.items()
    }
    while free := {name for name, others in waits.items() if not others}:
        waits = {
            name: others - free
            for name, others in waits.items()
            if name not in free
        }
    assert not waits


def test_nobody_imports_what_keras_keeps_to_itself():
    # The one place for it, guarded by test_recurrent_cell.py.
    door = PACKAGE / "layers" / "recurrent" / "_keras.py"
    others = [path for path in FILES + RECIPES if path != door]
    assert len(others) == len(FILES + RECIPES) - 1
    assert_none(
        refused(
            others,
            lambda _, *names: "{}.{}.".format(*names).startswith("keras.src."),
        )
    )


def test_private_methods_of_keras_are_used_where_they_are_listed():
    classes = (
        keras.layers.RNN,
        keras.Model,
        keras.layers.Dense,
        keras.layers.Embedding,
        keras.optimizers.Adam,
        keras.metrics.Mean,
        keras.losses.MeanSquaredError,
    )
    private = {x for y in classes for x in dir(y) if re.match("_[a-z]", x)}
    used = set()
    for path in FILES:
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        names = {x.name for x in nodes if isinstance(x, ast.FunctionDef)}
        names |= {x.attr for x in nodes if isinstance(x, ast.Attribute)}
        if names & private:
            used.add(str(path.relative_to(PACKAGE)))
    door = PACKAGE / "layers" / "recurrent" / "_keras.py"
    listed = re.findall(r"`([\w/]+\.py)`", door.read_text("utf-8"))
    assert used == {x for x in listed if not x.startswith("tests/")}


def test_a_recipe_imports_public_names_only():
    rooms = {f"kerasrnn.{part}" for part in ALLOWED}

    def refuses(path, module, name):
        if module == "kerasrnn":
            return f"kerasrnn.{name}" not in rooms
        if module.startswith("kerasrnn"):
            if module == "kerasrnn_commands.quiet":
                return False
            return module not in rooms or name not in public_names(module)
        # Other recipes are imported as they stand beside one another.
        return module.split(".")[0] in {"recipes", "tests"}

    assert_none(refused(RECIPES, refuses))


def test_no_recipe_imports_a_study():
    recipes = [path for path in RECIPES if path.parent.name != "studies"]
    assert 0 < len(recipes) < len(RECIPES)
    assert_none(
        refused(recipes, lambda _, module, __: module.startswith("studies"))
    )


def test_every_part_of_the_package_has_its_arrows():
    parts = {
        path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES
    }
    assert parts == ALLOWED.keys()


def test_the_table_for_contributors_has_the_same_arrows():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `kerasrnn/(\w+)` \|.*\|(.*)\|$", text, re.M)
    written = {part: set(re.findall(r"\w+", cell)) for part, cell in rows}
    known = written.keys() | {"kerasrnn_commands"}
    assert written == {
        part: {x.removeprefix("kerasrnn.") for x in ALLOWED[part]} & known
        for part in ALLOWED.keys() - {"__init__", *SHARED}
    }


@pytest.mark.slow
def test_layers_load_without_the_heavy_libraries():
    heavy = "tensorflow_text keras_nlp keras_hub matplotlib sacrebleu".split()
    code = (
        # Keras itself loads matplotlib where it finds it.
        "import sys, keras; before = set(sys.modules)\n"
        "import kerasrnn\n"
        f"print(sorted((sys.modules.keys() - before) & set({heavy})))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.strip() == "[]"
