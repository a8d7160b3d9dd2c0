"""What a forecaster serves: windows, and streams step by step."""

import tensorflow as tf

from kerasrnn.models.forecaster import ForecastStream
from kerasrnn.pipelines.graphs import flat_specs
from kerasrnn.pipelines.graphs import named
from kerasrnn.pipelines.served_checks import check_same_rows


class ForecastingFunctions:
    """The graph functions that a `SeriesForecaster` serves.

    Each takes tensors and returns a dictionary of tensors.

    Args:
        forecaster: The `SeriesForecaster`.
    """

    def __init__(self, forecaster):
        self.model, self.levels = forecaster.model, forecaster.levels
        self.lookback = forecaster.lookback
        self.stream = ForecastStream(self.model, self.lookback)
        self.states = self.stream.first_states(1)

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
        model, steps = self.model, self.stream.steps
        window = _spec("past", self.lookback, model.columns)
        now = _spec("past", model.columns)
        states = flat_specs("state", self.states)
        count = tf.TensorSpec([], tf.int32, name="count")
        return {
            "serving_default": [
                self.forecast,
                window,
                *self._others(self.lookback),
            ],
            "start": [self.start, count],
            "step": [self.step, now, *self._others(steps), *states],
        }

    def _others(self, steps):
        """The inputs beside the past, of this many steps."""
        model, specs = self.model, []
        if model.known:
            size = steps + model.horizon, model.known
            specs.append(_spec("known", *size))
        if model.static:
            specs.append(_spec("static", model.static))
        return specs

    def forecast(self, *inputs):
        """Forecasts what follows windows of raw values."""
        return self._answer(self.model(self._by_name(inputs), training=False))

    def start(self, count):
        """Returns the states of this many streams before their first step."""
        return named("state", self.stream.first_states(count))

    def step(self, *inputs):
        """Forecasts after one more step of streams."""
        count = len(inputs) - len(self.states)
        inputs, states = inputs[:count], list(inputs[count:])
        given = self._by_name(inputs, **named("state", states))
        forecast, states = self.stream.step(given, states)
        return {**self._answer(forecast), **named("state", states)}

    def _by_name(self, inputs, **others):
        names = self.model.scaling.names
        given = dict(zip(names, inputs, strict=True))
        with tf.control_dependencies([check_same_rows(**given, **others)]):
            return {name: tf.identity(x) for name, x in given.items()}

    def _answer(self, forecast):
        head = self.model.head
        answer = {"forecast": head.point(forecast)}
        if self.levels:
            answer["quantiles"] = head.quantiles(forecast, self.levels)
        return answer


def _spec(name, *shape):
    return tf.TensorSpec([None, *shape], tf.float32, name=name)
