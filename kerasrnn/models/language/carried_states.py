"""Recurrent states that a model carries from one batch to the next."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasrnn.saving import Configured
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class CarriedStates(Configured, keras.layers.Layer):
    """Stores recurrent states between the batches of `fit` and `evaluate`.

    Training and evaluation have separate states, so that validation between
    epochs does not change those of training. Under `tf.distribute`, each
    replica stores the states of its own rows of the batch.

    Args:
        batch_size: Positive integer, the number of rows in a batch.
        sizes: List of integers, widths of the states.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        initial: List of tensors of shape `(batch, size)`, the states that fresh
            rows start from. There may be fewer rows than `batch_size`: those of
            one replica.
        fresh: Boolean or integer tensor of shape `(batch,)`, which rows start
            from `initial`.
        training: Whether to use the states of training or of evaluation.

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

    def __init__(
        self, batch_size: int, sizes: Sequence[int], **kwargs: Any
    ) -> None:
        # Half precision would round the states of each batch.
        super().__init__(**{**kwargs, "autocast": False})
        self.batch_size = batch_size
        self.sizes = list(sizes)

    def build(self, *shapes: Any) -> None:
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

    def call(
        self, initial: States, fresh: Tensor, training: bool = False
    ) -> States:
        rows = ops.shape(fresh)[0]
        fresh = ops.expand_dims(ops.cast(fresh, "bool"), -1)
        return [
            ops.where(fresh, start, ops.cast(variable[:rows], start.dtype))
            for start, variable in zip(
                initial, self._states(training), strict=True
            )
        ]

    def keep(self, states: States, training: bool = False) -> None:
        """Stores the states that the next batch continues from."""
        for variable, state in zip(self._states(training), states, strict=True):
            state = ops.cast(state, variable.dtype)
            rest = variable[ops.shape(state)[0] :]
            variable.assign(ops.concatenate([state, rest]))

    def _states(self, training):
        return self.of_training if training else self.of_evaluation


def check_rows(ids, fresh, batch_size, replicas):
    """Checks that a batch fits the states which a model carries.

    Args:
        ids: Integer tensor of shape `(batch, time)`.
        fresh: Tensor of shape `(batch,)`, which rows start anew.
        batch_size: Integer, the rows that have states; `None` for a model
            without any.
        replicas: Positive integer, among how many the rows are shared.

    Raises:
        ValueError: when the batch has more rows than a replica carries, the
            two tensors do not agree, or the rows cannot be shared equally.
    """
    if batch_size and batch_size % replicas:
        raise ValueError(
            "Each replica carries the states of the same number of rows, so "
            "that `batch_size` must be a multiple of the number of replicas. "
            f"Received: batch_size={batch_size}, {replicas} replicas"
        )
    most = batch_size // replicas if batch_size else -1
    # A number is `None` while a graph is traced.
    found = {ids.shape[0], *fresh.shape[:1]} - {None}
    if (
        len(fresh.shape) != 1
        or len(found) > 1
        or max(found, default=most) > most
    ):
        raise ValueError(
            "To carry its states, a LanguageModel must be made with "
            "`batch_size`, the number of rows of each batch, which may be "
            "fewer in the last one, and `fresh` must have one entry for "
            "each; under `tf.distribute`, each replica has its share of "
            f"the rows. Received: batch_size={batch_size}, ids of shape "
            f"{ids.shape}, fresh of shape {fresh.shape}"
        )
