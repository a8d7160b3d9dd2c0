"""What a training is, written in its folder for people and for comparisons."""

import json
import os

from kerasrnn.training.files import reading
from kerasrnn.training.files import whole
from kerasrnn.training.fingerprints import fingerprint

_NAME = "settings.json"


def make_training_folder(path, settings):
    """Makes the folder of a new training, with its settings in a file.

    Where another training is beside it, prints in which settings the two
    differ: who meant to go on with that one sees why this one is new.

    Args:
        path: A `pathlib.Path`, the folder to make.
        settings: Dictionary of what the training depends on. What is long,
            such as the data, is written as its fingerprint.
    """
    own = {name: _short(value) for name, value in settings.items()}
    others = path.parent.glob(f"training-*/{_NAME}")
    last = max(others, key=lambda x: x.stat().st_mtime, default=None)
    if last is not None:
        with reading(last, "Delete it."):
            theirs = dict(json.loads(last.read_text("utf-8")))
        names = [x for x in own | theirs if own.get(x) != theirs.get(x)]
        print(
            f"A training begins in '{path}'. The last one, in "
            f"'{last.parent.name}', has other settings: {', '.join(names)}."
        )
    path.mkdir(parents=True)
    with whole(path / _NAME) as partial:
        partial.write_text(json.dumps(own, indent=2), "utf-8")


def _short(value):
    """A setting as JSON has it, or what stands for one that is long."""
    text = json.dumps(value, default=os.fspath)
    return json.loads(text) if len(text) < 100 else fingerprint(value)
