"""Models that predict a label of each step, which Keras cannot weigh."""

from typing import Any

import keras


class LabelsOfSteps:
    """Base of models whose labels have an axis of time.

    Keras takes labels of several columns for one-hot vectors. It would weigh a
    row by the position of its largest label.
    """

    def fit(
        self, *args: Any, class_weight: Any = None, **kwargs: Any
    ) -> keras.callbacks.History:
        """Trains the model; see `keras.Model.fit`.

        Raises:
            ValueError: when there is a `class_weight`.
        """
        if class_weight is not None:
            raise ValueError(
                "The labels of steps have no class weights: Keras would weigh "
                "a row by the position of its largest label. Expected: "
                "`sample_weight`, if the loss takes it. "
                f"Received: class_weight={class_weight!r}"
            )
        return super().fit(*args, **kwargs)  # type: ignore[misc]
