"""What there is to train, in files: for a machine without TensorFlow."""

import io
import json
import lzma
import math

import numpy as np

from kerasrnn.files import atomic_write

# Machines may limit the size of a file that comes back from them.
MOST = 15 * 2**20
SIDES = "source", "target"


def write_json(path, facts):
    with atomic_write(path) as partial:
        partial.write_text(json.dumps(facts, indent=1), "utf-8")


def read_json(path):
    return json.loads(path.read_text("utf-8"))


def write_arrays(path, arrays):
    """Writes integer and float arrays, in fewer bytes than NumPy does."""
    with io.BytesIO() as file:
        np.savez(file, **arrays)
        content = lzma.compress(file.getvalue())
    with atomic_write(path) as partial:
        partial.write_bytes(content)


def read_arrays(path):
    content = lzma.decompress(path.read_bytes())
    return dict(np.load(io.BytesIO(content)))


def pairs_of(batches, source_pad_id, target_pad_id):
    """The ids of pairs, from the batches of a pipeline.

    Args:
        batches: `tf.data.Dataset` of inputs and labels.
        source_pad_id: Integer.
        target_pad_id: Integer.

    Returns:
        A dictionary of arrays of the smallest type: of each side all ids, and
        the lengths of the sentences. Targets have an end token, but no start.
    """
    sides = {side: [] for side in SIDES}
    for inputs, labels in batches.as_numpy_iterator():
        for side, ids, pad_id in (
            (SIDES[0], inputs["source"], source_pad_id),
            (SIDES[1], labels, target_pad_id),
        ):
            ends = [np.flatnonzero(row != pad_id)[-1] + 1 for row in ids]
            sides[side] += [x[:end] for x, end in zip(ids, ends, strict=True)]
    found = {}
    for side, rows in sides.items():
        found[side] = np.concatenate(rows)
        found[f"{side}_lengths"] = np.array([len(row) for row in rows])
    return {name: smallest(x) for name, x in found.items()}


def smallest(x):
    """An array of integers from 0 as one of the smallest type."""
    return x.astype(np.min_scalar_type(x.max()))


def write_weights(folder, values):
    """Writes arrays of weights in float16, as one sequence of numbers.

    Returns:
        The names of the files.

    Raises:
        ValueError: when one is too large for float16.
    """
    flat = np.concatenate([np.ravel(x) for x in values])
    if (largest := np.abs(flat).max()) > np.finfo("float16").max:
        raise ValueError(f"A weight is too large for float16: {largest}")
    flat = flat.astype("<f2")
    content, names = flat.tobytes(), []
    for number, start in enumerate(range(0, len(content), MOST)):
        names.append(f"weights.{number}.bin")
        with atomic_write(folder / names[-1]) as partial:
            partial.write_bytes(content[start : start + MOST])
    return names


def read_weights(folder, names, variables):
    """Gives variables the weights of some files.

    Raises:
        ValueError: when the files have more or fewer numbers.
    """
    content = b"".join((folder / name).read_bytes() for name in names)
    flat = np.frombuffer(content, "<f2").astype("float32")
    sizes = [math.prod(x.shape) for x in variables]
    if len(flat) != sum(sizes):
        raise ValueError(
            f"The files in '{folder}' are not those of this model. "
            f"Expected: {sum(sizes):,} weights. Received: {len(flat):,}"
        )
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    for variable, part in zip(variables, parts, strict=True):
        variable.assign(part.reshape(variable.shape))
