"""Recurrent states that a model carries from one batch to the next."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasrnn")
class CarriedStates(keras.layers.Layer):
    """Keeps the recurrent states of training, and those of evaluation.

    They are apart, so that a validation in the middle of a training leaves
    its states alone. Where replicas train together (`tf.distribute`), each
    keeps the states of its own rows of the batch.

    Args:
        batch_size: Positive integer, rows of a batch.
        sizes: List of integers, widths of the states.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        initial: List of tensors of shape `(batch, size)`, what a row starts
            from where it is fresh. There may be fewer rows than `batch_size`:
            those of one replica.
        fresh: Boolean or integer tensor of shape `(batch,)`, which rows start
            anew.
        training: Which of the states.

    Returns:
        The states, a list of tensors of shape `(batch, size)`.

    Example:

    >>> carried = CarriedStates(2, [3])
    >>> zeros, ones = np.zeros((2, 3)), np.ones((2, 3))
    >>> _ = carried([zeros], np.array([True, True]))
    >>> carried.keep([ones])
    >>> (states,) = carried([zeros], np.array([False, True]))
    >>> ops.convert_to_numpy(states).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    """

    def __init__(self, batch_size, sizes, **kwargs):
        super().__init__(**kwargs)
        self.batch_size = batch_size
        self.sizes = list(sizes)

    def build(self, *shapes):
        self.of_training, self.of_evaluation = (
            [
                self._add_state(size, f"{name}_state_{i}")
                for i, size in enumerate(self.sizes)
            ]
            for name in ("training", "evaluation")
        )

    def _add_state(self, size, name):
        # `add_weight` has no `synchronization`. The first replica is saved.
        with keras.name_scope(self.name, caller=self):
            return keras.Variable(
                shape=(self.batch_size, size),
                initializer="zeros",
                dtype=self.variable_dtype,
                trainable=False,
                autocast=False,
                aggregation="only_first_replica",
                synchronization="on_read",
                name=name,
            )

    def call(self, initial, fresh, training=False):
        rows = ops.shape(fresh)[0]
        fresh = ops.expand_dims(ops.cast(fresh, "bool"), -1)
        return [
            ops.where(fresh, start, ops.cast(variable[:rows], start.dtype))
            for start, variable in zip(
                initial, self._states(training), strict=True
            )
        ]

    def keep(self, states, training=False):
        """Takes the states that the next batch goes on from."""
        for variable, state in zip(self._states(training), states, strict=True):
            state = ops.cast(state, variable.dtype)
            rest = variable[ops.shape(state)[0] :]
            variable.assign(ops.concatenate([state, rest]))

    def _states(self, training):
        return self.of_training if training else self.of_evaluation

    def get_config(self):
        return {
            **super().get_config(),
            "batch_size": self.batch_size,
            "sizes": self.sizes,
        }
