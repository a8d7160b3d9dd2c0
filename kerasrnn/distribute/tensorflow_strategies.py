"""Strategies that work with `Model.fit` of Keras 3.

Only `strategy.py` imports this module, which needs TensorFlow.
"""

import tensorflow as tf


class _Reduce:
    """Corrects what `Model.fit` asks of a strategy.

    * Before the first step, Keras takes the mean of a batch over the replicas,
      for its shapes alone. This fails for several workers, and for replicas
      with different numbers of rows. One of the shares has the shapes, too.
    * In every step, it takes the means of the logs, which are scalars, over
      an axis. This fails for several workers (keras-team/keras#20585).
    """

    def reduce(self, reduce_op, value, axis):
        if tf.nest.is_nested(value):
            return tf.nest.map_structure(self._of_first_device, value)
        if axis is not None and not self._of_first_device(value).shape.rank:
            axis = None
        return super().reduce(reduce_op, value, axis)

    def _of_first_device(self, value):
        return self.experimental_local_results(value)[0]


class Mirrored(_Reduce, tf.distribute.MirroredStrategy):
    """The devices of one machine."""


class Workers(_Reduce, tf.distribute.MultiWorkerMirroredStrategy):
    """The processes in `TF_CONFIG`, on one machine or on several."""


def gpus():
    """Returns the names of the GPUs of this machine."""
    return [
        f"GPU:{i}" for i in range(len(tf.config.list_physical_devices("GPU")))
    ]


def parts_of_the_cpu(count):
    """Divides the CPU into `count` devices, and returns their names.

    Raises:
        RuntimeError: when there are several, and TensorFlow has already set
            the CPU up.
    """
    if count > 1:
        cpu, *_ = tf.config.list_physical_devices("CPU")
        parts = [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
        tf.config.set_logical_device_configuration(cpu, parts)
    return [f"CPU:{i}" for i in range(count)]
