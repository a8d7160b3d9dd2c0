"""The settings of a training as a file in its folder."""

import json
import textwrap

from kerasrnn.files import atomic_write
from kerasrnn.training.fingerprints import fingerprint
from kerasrnn.training.fingerprints import plain
from kerasrnn.training.reading import reading

NAME = "settings.json"


def make_training_folder(path, settings):
    """Creates the folder of a new training, with its settings in a file.

    If there is another training beside it, the settings in which the two
    differ are printed, which shows why that one was not resumed.

    Args:
        path: A `pathlib.Path`, the folder to create.
        settings: Dictionary of what the training depends on. Long values,
            such as the data, are written as their fingerprint.
    """
    own = {name: _short(value) for name, value in settings.items()}
    others = path.parent.glob(f"training-*/{NAME}")
    last = max(others, key=lambda x: x.stat().st_mtime, default=None)
    if last is not None:
        with reading(last, "Delete it."):
            theirs = dict(json.loads(last.read_text("utf-8")))
        names = [x for x in own | theirs if own.get(x) != theirs.get(x)]
        print(f"A new training starts in '{path}'.")
        why = f"The last one, in '{last.parent.name}', has other settings: "
        print(textwrap.fill(f"{why}{', '.join(names)}.", 79))
    path.mkdir(parents=True, exist_ok=True)  # A killed process may have.
    with atomic_write(path / NAME) as partial:
        partial.write_text(json.dumps(own, indent=2), "utf-8")


def _short(value):
    """A setting as a JSON value, or the fingerprint of a long one."""
    text = json.dumps(value, default=plain)
    return json.loads(text) if len(text) < 100 else fingerprint(value)
