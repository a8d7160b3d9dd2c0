"""The examples of the pages run, and the site builds without a warning."""

import os
import re
import subprocess
import sys

import jupytext
import keras
import pytest

from tests import quick_jax
from tests.pages import ROOT
from tests.pages import examples
from tests.pages import run_page
from tests.pages import without_varying
from tests.test_layering import public_names

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = [
    page
    for page in sorted((ROOT / "docs" / "notebooks").glob("*.md"))
    if page.stem != "index"
]
# In a process of its own: the backend is chosen when Keras is imported.
OTHER_BACKEND = "docs/guides/jax.md"
PARTS = {path.parent.name for path in (ROOT / "kerasrnn").glob("*/__init__.py")}
SLOW = {
    OTHER_BACKEND,
    "README.md",
    "docs/guides/better_translations.md",
    "docs/guides/distribute.md",
    "docs/guides/litert.md",
    "docs/guides/own_labels.md",
    "docs/guides/own_text.md",
    "docs/guides/porting.md",
    "docs/guides/precision.md",
    "docs/guides/series.md",
    "docs/guides/tags.md",
    "docs/index.md",
    "docs/notebooks/translate.md",
}
# Each trains like the notebook that CI runs.
THOROUGH = {
    "docs/notebooks/attention.md",
    "docs/notebooks/classify.md",
    "docs/notebooks/language_model.md",
    "docs/notebooks/tag.md",
}


def case(page):
    name = page.relative_to(ROOT).as_posix()
    slow = [pytest.mark.slow] if name in SLOW else []
    thorough = [pytest.mark.thorough] if name in THOROUGH else []
    return pytest.param(page, id=name, marks=slow + thorough)


@pytest.fixture
def defaults():
    """What a page sets for all that follows is put back."""
    policy = keras.config.dtype_policy()
    yield
    keras.config.set_dtype_policy(policy)


@pytest.mark.parametrize(
    "page",
    [case(page) for page in PAGES if examples(page.read_text("utf-8")).strip()],
)
def test_a_page_runs_and_prints_what_it_shows(
    page, tmp_path, monkeypatch, defaults
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    if page == ROOT / OTHER_BACKEND:
        script = (
            "import pathlib, sys; from tests.test_docs import check_page; "
            "check_page(pathlib.Path(sys.argv[1]))"
        )
        monkeypatch.setenv("KERAS_BACKEND", "jax")
        for name, value in quick_jax.ENVIRONMENT.items():
            monkeypatch.setenv(name, value)
        check([sys.executable, "-c", script, str(page)], cwd=tmp_path)
    else:
        check_page(page)


def check_page(page):
    text = page.read_text("utf-8")
    assert without_varying(run_page(page)) == without_varying(text)


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_a_notebook_opens_in_jupyter(page):
    notebook = jupytext.read(page)
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert "\n".join(cell.source for cell in code).split() == (
        examples(page.read_text("utf-8")).split()
    )


@pytest.mark.slow
def test_the_site_builds_and_has_every_public_name(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    check([*command, "--site-dir", str(tmp_path)], cwd=ROOT)
    parts = [path.stem for path in (ROOT / "docs" / "api").glob("*.md")]
    assert set(parts) == PARTS
    for part in parts:
        page = api_pages(tmp_path, part)
        for name in public_names(f"kerasrnn.{part}"):
            # Where a module has the name of its function, or in a table.
            place = rf'id="kerasrnn\.{part}\.({name}\.)?{name}"'
            assert re.search(rf"{place}|<td><code>{name}</code>", page), name
        # Markdown would quote an example that is in no block of code.
        assert "<blockquote>" not in page
    assert api_pages(tmp_path, "layers").count("<math ") >= 20
    cells = (tmp_path / "guides" / "cells" / "index.html").read_text("utf-8")
    assert '/#kerasrnn.layers.FastGRU"' in cells
    # Nothing is fetched from elsewhere, no equation is left as text.
    for path in tmp_path.rglob("*.html"):
        page = path.read_text("utf-8")
        # A reference to a link that is not defined stays in its brackets.
        assert "[arXiv:" not in page, path
        assert not re.search(r'(src|rel="stylesheet" href)="http', page), path
        assert "language-equation" not in page, path


def api_pages(site, part):
    """Returns the page of a part, and those of its families below it."""
    pages = sorted((site / "api" / part).rglob("index.html"))
    return "\n".join(page.read_text("utf-8") for page in pages)


def check(command, cwd):
    """Runs a command that must succeed."""
    paths = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
