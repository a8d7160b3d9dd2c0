import os

import pytest
from matplotlib.figure import Figure

from kerasrnn.plots import save_figure


def some_figure():
    figure = Figure(figsize=(1.0, 1.0))
    figure.add_subplot().plot([1.0, 2.0])
    return figure


def test_writes_a_png_and_nothing_else(tmp_path):
    path = save_figure(some_figure(), str(tmp_path / "a" / "b" / "loss.png"))
    assert path == tmp_path / "a" / "b" / "loss.png"
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert os.listdir(path.parent) == ["loss.png"]


@pytest.mark.parametrize(
    ("suffix", "start"), [(".pdf", b"%PDF"), (".svg", b"<?xml")]
)
def test_the_suffix_is_the_format(tmp_path, suffix, start):
    path = save_figure(some_figure(), tmp_path / f"loss{suffix}")
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["loss", "loss.weights"])
def test_unknown_formats_write_nothing(tmp_path, name):
    with pytest.raises(ValueError, match="format"):
        save_figure(some_figure(), tmp_path / name)
    assert not os.listdir(tmp_path)
