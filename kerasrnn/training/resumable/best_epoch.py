"""Which epoch of a training is best."""

import math

from kerasrnn.arguments import one_of


class BestEpoch:
    """Tells which epoch is best, by a logged value.

    An epoch where it is NaN is worse than any other.

    Args:
        monitor: String, the name of the value.
        mode: `"min"` or `"max"`: whether the lowest or the highest is best.

    Raises:
        ValueError: when `mode` is something else.
    """

    def __init__(self, monitor, mode):
        one_of("mode", mode, ("min", "max"))
        self.monitor, self._sign = monitor, -1 if mode == "max" else 1

    def is_best(self, row, earlier):
        """Whether the row of an epoch in the log is better than all earlier.

        Raises:
            ValueError: when the value is not logged.
        """
        if self.monitor not in row:
            raise ValueError(
                "`monitor` must be one of the logged values, "
                f"{', '.join(list(row)[1:])}. "
                f"Received: monitor={self.monitor!r}"
            )
        new = self._sign * row[self.monitor]
        others = [self._sign * other[self.monitor] for other in earlier]
        return all(new < value or math.isnan(value) for value in others)

    def number(self, rows):
        """Returns the number of the best of the logged epochs, from 1.

        Raises:
            ValueError: when there is none.
        """
        best = [self.is_best(row, rows[:i]) for i, row in enumerate(rows)]
        if not best:
            raise ValueError(
                "There is no best epoch yet. Expected: an epoch in the log. "
                "Received: none"
            )
        return len(best) - best[::-1].index(True)
