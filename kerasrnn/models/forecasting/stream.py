"""A forecaster that is fed step by step, with what it remembers carried on."""

from typing import Any

from keras import ops

from kerasrnn.arguments import instance
from kerasrnn.arguments import positive_integer
from kerasrnn.models.forecasting.forecaster import Forecaster
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class ForecastStream:
    """Feeds a `Forecaster` step by step.

    After each step it forecasts what the whole series would give. Without a
    `window` it carries recurrent states, so the cost of a step does not grow
    with the series. Since a segment may end at any step, it keeps `segment`
    interleaved state sequences and advances one per step. Where a window is
    scaled by its own values, each new one changes all of it: then the last
    `lookback` steps are carried on, and read anew.

    Args:
        model: The `Forecaster`.
        lookback: Positive integer, steps of a window that is read anew.

    Attributes:
        steps: Integer, how many steps are remembered as they were.

    Example:

    >>> stream = ForecastStream(
    ...     Forecaster(FastGRUCell(8), horizon=6, segment=4, window=None)
    ... )
    >>> states = stream.first_states(batch_size=1)
    >>> for value in (5.0, 6.0, 7.0):
    ...     forecast, states = stream.step(np.array([[value]]), states)
    >>> forecast.shape, [state.shape for state in states]
    ((1, 6, 1), [(1, 4, 1), (1, 1, 4, 8)])
    """

    def __init__(self, model: Forecaster, lookback: int = 1) -> None:
        if not instance("model", model, Forecaster).built:
            model.build()
        self.model = model
        self.steps = model.segment
        if model.window is not None:
            self.steps = positive_integer("lookback", lookback)

    def first_states(self, batch_size: int | Tensor) -> States:
        """Returns what is remembered before the first step, a flat list.

        Args:
            batch_size: Integer or scalar tensor, the number of series.
        """
        model = self.model
        shape = batch_size, self.steps, model.columns
        past = ops.full(shape, float("nan"), "float32")
        if model.window is not None:
            return [past]
        rows = model.columns if model.shared else 1
        carried = (
            ops.reshape(x, (-1, rows, 1, *x.shape[1:]))
            for x in model.stack.initial_states(batch_size * rows)
        )
        return [past, *(ops.repeat(x, self.steps, axis=2) for x in carried)]

    def step(
        self, inputs: Tensor | dict[str, Tensor], states: States
    ) -> tuple[Tensor, States]:
        """Forecasts after one more step of each series.

        Args:
            inputs: Tensor of shape `(batch, columns)`, NaN where a value is
                missing; or a dictionary of it as `"past"`, and of the other
                inputs of the model: `"known"` has the shape
                `(batch, steps + horizon, known)`, this step and those
                remembered before it included.
            states: What the step before returned, or `first_states`.

        Returns:
            The forecast, and the states after this step.
        """
        if not isinstance(inputs, dict):
            inputs = {"past": inputs}
        past, *carried = states
        now = ops.expand_dims(ops.cast(inputs["past"], past.dtype), 1)
        past = ops.concatenate([past[:, 1:], now], axis=1)
        window: dict[str, Any] = {**inputs, "past": past}
        if self.model.window is not None:
            return self.model(window), [past]
        turn = [ops.reshape(x[:, :, 0], (-1, *x.shape[3:])) for x in carried]
        forecast, turn = self.model.run(window, turn)
        return forecast, [past, *map(_after_turn, carried, turn)]


def _after_turn(carried, new):
    """The states of all sequences, the newest of them the last."""
    new = ops.reshape(new, (-1, carried.shape[1], 1, *carried.shape[3:]))
    return ops.concatenate([carried[:, :, 1:], new], axis=2)
