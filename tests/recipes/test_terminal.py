"""What a recipe shows in a terminal of 80 columns."""

import errno
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import termios

import pytest

ROOT = pathlib.Path(__file__).parents[2]
COLUMNS = 80


def shown(command, folder):
    """The rows that a terminal shows, each a list of what stood in it."""
    terminal, inside = pty.openpty()
    size = struct.pack("HHHH", 24, COLUMNS, 0, 0)
    fcntl.ioctl(inside, termios.TIOCSWINSZ, size)
    own = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
    # An editable installation may be that of another tree.
    own |= {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=own, stdout=inside, stderr=inside
    )
    os.close(inside)
    text = b"".join(iter(lambda: chunk(terminal), b""))
    assert process.wait() == 0, text.decode()
    lines = text.decode().replace("\r\n", "\n").split("\n")
    return [line.split("\r") for line in lines]


def chunk(terminal):
    """What a terminal is told; nothing when its process has ended."""
    try:
        return os.read(terminal, 4096)
    except OSError as error:
        assert error.errno == errno.EIO
        return b""


@pytest.mark.slow
def test_a_run_fits_a_terminal_and_writes_progress_over_itself(tmp_path):
    recipe = [sys.executable, str(ROOT / "recipes" / "tag.py")]
    flags = "--limit 60 --epochs 2 --output models/out".split()
    rows = shown([*recipe, *flags], tmp_path)
    assert max(len(text) for row in rows for text in row) <= COLUMNS
    # No row of a library stands above the first of ours.
    said = "The tags mark phrases (IOB2). The model predicts BIOES."
    assert rows[0][-1] == said
    ends = [row for row in rows if row[-1].startswith("Epoch ")]
    assert [row[-1][:10] for row in ends] == ["Epoch 1/2:", "Epoch 2/2:"]
    for row in ends:
        progress = [text for text in row[:-1] if text.strip()]
        assert len(progress) > 1 and " of 3 batches" in progress[0]
    assert any(" left" in text for row in ends for text in row)
    assert "best so far" in ends[0][-1] and " val_f1 " in ends[0][-1]
    last = [row[-1] for row in rows if row[-1]][-4:]
    begins = "Result (dev): ", "Try it", "Serve it: ", "Train further: "
    assert all(map(str.startswith, last, begins)), last
