"""The gallery of the site has a picture of every function."""

import pathlib
import re

from kerasrnn import plots

DOCS = pathlib.Path(__file__).parents[2] / "docs"
FIGURES = {name for name in vars(plots) if re.search("_(figure|grid)$", name)}


def test_every_figure_is_in_the_gallery():
    page = (DOCS / "gallery.md").read_text("utf-8")
    shown = re.findall(r"\]\(images/gallery/(\w+)\.png\)", page)
    assert sorted(shown) == sorted(FIGURES - {"save_figure"})
    named = {name for name in FIGURES if f"`{name}`" in page}
    assert named == FIGURES
    script = (DOCS / "images" / "gallery.py").read_text("utf-8")
    pictures = (DOCS / "images" / "gallery").glob("*.png")
    assert {path.stem for path in pictures} == set(shown)
    assert set(re.findall(r'"(\w+)": plots\.\1\(', script)) == set(shown)
