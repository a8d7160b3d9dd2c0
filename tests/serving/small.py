"""A SavedModel that needs no training: it answers in capitals."""

import pathlib
import shutil

import tensorflow as tf


class Shout(tf.Module):
    """Strings, ids that must be in a table of four, and scalars.

    Args:
        mark: String at the end of every answer, to tell versions apart.
    """

    def __init__(self, mark=""):
        super().__init__()
        self.mark = tf.Variable(mark)
        self.table = tf.Variable([0.0, 1.0, 4.0, 9.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def shout(self, text):
        return {"loud": tf.strings.upper(text, "utf-8") + self.mark}

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32, "ids")])
    def square(self, ids):
        found = tf.gather(self.table, ids)
        return {"square": found, "total": tf.reduce_sum(found, axis=1)}

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, "text"),
            tf.TensorSpec([], tf.int32, "times"),
        ]
    )
    def repeat(self, text, times):
        return {"text": tf.repeat(text, times)}


def export_small_model(path, version=1, mark=""):
    """Writes `path/version`, complete or not at all, and returns `path`."""
    path = pathlib.Path(path)
    shutil.rmtree(path / str(version), ignore_errors=True)
    module = Shout(mark)
    partial = path / f".partial-{version}"
    tf.saved_model.save(
        module,
        str(partial),
        signatures={
            "serving_default": module.shout,
            "square": module.square,
            "repeat": module.repeat,
        },
    )
    partial.rename(path / str(version))
    return path
