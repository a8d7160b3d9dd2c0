"""The wheel, and what works where it is installed without TensorFlow."""

import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest
from packaging.requirements import Requirement

from tests import quick_jax

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = "kerasrnn", "kerasrnn_commands"
# All that is installed beside the wheel, with what these depend on.
BESIDE = ["keras", "jax", "h5py", "numpy", "filelock"]

pytestmark = pytest.mark.slow


def run(*command, **environment):
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Path of a wheel, built of a copy: a build leaves files behind it."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in (*PACKAGES, "recipes", "tests"):
        shutil.copytree(ROOT / name, folder / "source" / name)
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / "source")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir"]
    run(*build, str(folder), str(folder / "source"))
    (wheel,) = folder.glob("*.whl")
    return wheel


def distributions(names):
    """Yields installed distributions, and all that they require."""
    seen, names = set(), list(names)
    while names:
        found = importlib.metadata.distribution(names.pop())
        if found.name not in seen:
            seen.add(found.name)
            yield found
            requirements = map(Requirement, found.requires or ())
            names += [
                requirement.name
                for requirement in requirements
                if requirement.marker is None
                or requirement.marker.evaluate({"extra": ""})
            ]


def link(distribution, folder):
    """Makes an installed distribution importable from another folder."""
    tops = {path.parts[0] for path in distribution.files}
    for top in tops - {"..", "__pycache__"}:
        (folder / top).symlink_to(distribution.locate_file(top))


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Path of the interpreter of an environment without TensorFlow."""
    environment = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", str(environment))
    python = str(environment / "bin" / "python")
    paths = "import sysconfig; print(sysconfig.get_path('purelib'))"
    folder = pathlib.Path(run(python, "-c", paths).strip())
    for distribution in distributions(BESIDE):
        link(distribution, folder)
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--no-deps", "--no-index", str(wheel))
    return python


def test_the_wheel_holds_the_packages_alone(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert "kerasrnn/py.typed" in names
    info = {name.split("/")[0] for name in names} - {*PACKAGES}
    assert len(info) == 1 and info.pop().endswith(".dist-info")
    assert [name for name in names if name.endswith("/licenses/LICENSE")]
    modules = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
    }
    assert {name for name in names if name.endswith(".py")} == modules


def test_models_train_and_search_on_jax(python, tmp_path):
    script = ROOT / "tests" / "without_tensorflow.py"
    # Isolated: of the tree that is tested it imports nothing.
    seen = json.loads(
        run(
            *(python, "-I", str(script), str(tmp_path / "model.keras")),
            KERAS_BACKEND="jax",
            # Compiling takes longer than training.
            **quick_jax.ENVIRONMENT,
        )
    )
    assert seen["backend"] == "jax"
    environment = pathlib.Path(python).parent.parent
    assert environment in pathlib.Path(seen["package"]).parents
    for kind, expected in (
        ("language model", [[7, 3, 4, 5]]),
        ("translator", [[3 + i, 2, 0, 0] for i in range(5)]),
    ):
        (first, last), found = seen[kind]
        assert last < 1.5 < first
        assert found == expected
    errors = seen["errors"]
    assert errors["tensorflow"] == "No module named 'tensorflow'"
    for module in ("kerasrnn.data", "kerasrnn.pipelines"):
        assert "pip install 'kerasrnn[text]'" in errors[module]
