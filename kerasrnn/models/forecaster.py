"""A forecaster of time series."""

from typing import Any
from typing import Literal

import keras
from keras import ops

from kerasrnn.arguments import instance
from kerasrnn.arguments import integer
from kerasrnn.arguments import one_of
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.layers import _backend
from kerasrnn.layers.loop import cells
from kerasrnn.models.forecast_heads import ForecastHead
from kerasrnn.models.forecast_heads import PointHead
from kerasrnn.models.model import Model
from kerasrnn.models.rnn_stack import HasStack
from kerasrnn.models.rnn_stack import RNNStack
from kerasrnn.models.segment_embedding import SegmentEmbedding
from kerasrnn.models.series_scaling import ForecastInputs
from kerasrnn.saving import build_once
from kerasrnn.typing import States
from kerasrnn.typing import Tensor

_OF_EMBEDDING = ("shared", "known", "static", "missing")


@keras.saving.register_keras_serializable("kerasrnn")
class Forecaster(HasStack, Model):
    """Forecasts the next steps of one or more columns of numbers.

    The recurrent layers read segments of `segment` steps. All segments of the
    horizon are then forecast in parallel, each by one step from the final state
    h_n (SegRNN):

        e_i = ReLU(W x_i + b)
        h_i = cell(e_i, h_{i-1})
        y_j = V cell([p_j; c], h_n) + v

    where `p_j` is an embedding of the position of a segment and `c` an
    embedding of the column. With `parallel=False`, each forecast segment is fed
    back as the next input:

        y_j = V h_{n+j-1} + v

    Inputs and forecasts have the units of the series. The model scales them
    with weights that `adapt` sets.

    Args:
        cell: A recurrent cell. It is a template: every layer runs a copy of it.
        horizon: Positive integer, number of steps to forecast.
        columns: Positive integer, number of values in a step.
        segment: Positive integer, steps in a segment.
        head: `"mae"` or `"mse"`, a point forecast that minimizes absolute or
            squared errors; or a `QuantileHead`, `GaussianHead`, `StudentHead`
            or `NegativeBinomialHead`.
        window: How each window is scaled: relative to its `"last"` value, by
            its `"mean"` and standard deviation, or by its `"size"`, the mean
            absolute value plus 1. `None` scales all windows in the same way
            (see `SeriesScaling`).
        shared: Whether each column is a separate sequence, all with the same
            weights. Otherwise the columns are read together.
        parallel: Whether to forecast all segments in parallel instead of one
            after the other.
        known: Integer, number of values of each step that are known in advance.
        static: Integer, number of static features of a series.
        missing: Whether the model also reads which values are missing.
        embedding_dim: Positive integer, width of the cell's input; `None` for
            that of its output.
        depth: Positive integer, number of recurrent layers.
        dropout: Dropout rate of the outputs of the recurrent layers.
        **kwargs: Base model arguments, such as `name` and `dtype`, by default
            that of `cell`.

    Call arguments:
        inputs: Tensor of shape `(batch, time, columns)`, the past, NaN where a
            value is missing; or a dictionary of this `"past"` and, if the model
            has them, `"known"` of shape `(batch, time + horizon, known)` and
            `"static"` of shape `(batch, static)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The forecast in float32: a point forecast of shape
        `(batch, horizon, columns)`, or parameters of shape
        `(batch, horizon, columns, head.size)`.

    Masking: missing values have no influence and make no gradient NaN.

    Raises:
        ValueError: when `cell` is not a recurrent cell, a size or rate is
            invalid, the head does not support `window`, inputs are missing, or
            the number of their steps is unknown while a graph is traced.

    Example:

    >>> model = Forecaster(FastGRUCell(16), horizon=24, columns=3, segment=12)
    >>> model.adapt(np.arange(300.0).reshape(100, 3))
    >>> model(np.ones((2, 48, 3))).shape
    (2, 24, 3)

    Reference:
        [Lin et al., 2023](https://arxiv.org/abs/2308.11200).
    """

    axes_of_ids = None
    returns_logits = False

    def __init__(
        self,
        cell: keras.layers.Layer,
        horizon: int,
        columns: int = 1,
        segment: int = 1,
        head: ForecastHead | Literal["mae", "mse"] = "mae",
        window: str | None = "last",
        shared: bool = True,
        parallel: bool = True,
        known: int = 0,
        static: int = 0,
        missing: bool = False,
        embedding_dim: int | None = None,
        depth: int = 1,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        # In half precision, values in units of the series would lose digits.
        kwargs["autocast"] = False
        super().__init__(**cells.options_of(cell, "Forecaster", kwargs))
        self.horizon = positive_integer("horizon", horizon)
        self.columns = positive_integer("columns", columns)
        self.segment = positive_integer("segment", segment)
        self.head: ForecastHead = (
            head if isinstance(head, ForecastHead) else PointHead(head)
        )
        self.window = one_of("window", window, self.head.windows)
        self.shared, self.parallel = shared, parallel
        self.known = integer("known", known, 0)
        self.static = integer("static", static, 0)
        self.missing = missing
        if embedding_dim is None:
            embedding_dim = cells.output_size(cell)
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.dropout = rate("dropout", dropout)
        options = {"dtype": self.dtype_policy}
        self.stack = RNNStack(
            cell, depth, dropout=self.dropout, name="stack", **options
        )
        self.scaling = ForecastInputs(
            self.columns,
            self.segment,
            self.horizon,
            known=known,
            static=static,
            window=window,
            name="scaling",
        )
        self.segments = -(-self.horizon // self.segment)
        self.embedding = SegmentEmbedding(
            self.embedding_dim,
            self.segment,
            self.columns,
            self.segments if parallel else 0,
            name="embedding",
            **{name: getattr(self, name) for name in _OF_EMBEDDING},
            **options,
        )
        self.projection = keras.layers.Dense(
            self.segment * (1 if shared else self.columns) * self.head.size,
            name="projection",
            **options,
        )

    def build(self, inputs_shape: Any = None) -> None:
        self.scaling.build()
        self.embedding.build()
        self.stack.build((None, None, self.embedding_dim))
        self.projection.build((None, None, self.stack.output_size))

    def adapt(self, past: Any, known: Any = None, static: Any = None) -> None:
        """Sets the scaling from the training data.

        Args:
            past: Array of shape `(time, columns)`, the steps of all series.
            known: Array of shape `(time, known)`, if the model has them.
            static: Array of shape `(series, static)`, if the model has them.
        """
        build_once(self)
        self.scaling.adapt(past=past, known=known, static=static)

    @property
    def adapted(self) -> bool:
        """Whether `adapt` has set the scaling."""
        return self.scaling.scalings["past"].adapted

    @property
    def units(self) -> list[float]:
        """The standard deviation of each column of the training data."""
        return self._of_columns("deviation")

    @property
    def means(self) -> list[float]:
        """The mean of each column of the training data."""
        return self._of_columns("mean")

    def _of_columns(self, name):
        if not self.adapted:
            raise ValueError(
                f"The {name} of each column is unknown. Expected: a call of "
                "`adapt` with the training data, before `compile` and scores. "
                "Received: a model that was not adapted to data"
            )
        weight = getattr(self.scaling.scalings["past"], name)
        return [float(x) for x in ops.convert_to_numpy(weight)]

    def call(
        self, inputs: Tensor | dict[str, Tensor], training: bool = False
    ) -> Tensor:
        return self.run(inputs, None, training)[0]

    def run(
        self,
        inputs: Tensor | dict[str, Tensor],
        states: States | None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        """Forecasts from given initial states.

        Args:
            inputs: As in a call.
            states: List of tensors of shape `(rows, size)`, with a row for each
                series, or for each column of each series if columns are
                `shared`; `None` for the default initial states.
            training: Whether to behave as in training (dropout).

        Returns:
            The forecast, and the states after the past.
        """
        given = self.scaling(inputs)
        count = given["values"].shape[1] // self.segment
        ahead, known = 1 - self.parallel, given["known"]
        if self.known and ahead and self.horizon < self.segment:
            # Only the first `horizon` steps of the next segment are known. The
            # other steps are set to 0, like missing values, in the past as
            # well, so that all segments look the same.
            step = ops.arange(known.shape[1]) % self.segment
            is_known = ops.reshape(step < self.horizon, (1, -1, 1))
            known = ops.where(is_known, known, 0.0)
        read = rest = self.embedding.given(known, given["static"])
        if self.known:
            end = count + ahead
            read, rest = read[:, ahead:end], read[:, end:]
        x = self.embedding(given["values"], given["missing"], read)
        x, states = self.stack(x, initial_state=states, training=training)
        x = (
            parallel_outputs(self, states, rest, training)
            if self.parallel
            else recurrent_outputs(self, x[:, -1], states, rest)
        )
        raw = self.values(x)[:, : self.horizon]
        units = (given[name][..., None] for name in ("location", "scale"))
        return self.head.forecast(raw, *units), states

    def values(self, x: Tensor) -> Tensor:
        """Converts the outputs of segments to those of their values.

        Args:
            x: Tensor of shape `(rows, segments, units)`.

        Returns:
            Float32 tensor of shape `(batch, time, columns, head.size)`.
        """
        x = ops.cast(self.projection(x), "float32")
        return self.embedding.columns_of(x, self.head.size)


def parallel_outputs(model, states, given, training):
    """Makes one step from the same states for each future segment.

    Args:
        model: A `Forecaster`.
        states: The states after the past, a flat list.
        given: Tensor to add to the embeddings of the future segments.
        training: Whether to behave as in training.

    Returns:
        Tensor of shape `(rows, segments, units)`.
    """
    x = model.embedding.ahead(ops.shape(states[0])[0], given)
    x = ops.reshape(x, (-1, 1, model.embedding_dim))
    states = [ops.repeat(state, model.segments, axis=0) for state in states]
    x, _ = model.stack(x, initial_state=states, training=training)
    return ops.reshape(x, (-1, model.segments, model.stack.output_size))


def recurrent_outputs(model, last, states, given):
    """Feeds each forecast segment back, to forecast the next one.

    There is no dropout, because noise cannot be drawn inside a loop.

    Args:
        model: A `Forecaster`.
        last: The output of the last segment of the past, `(rows, units)`.
        states: The states after it, a flat list.
        given: Tensor to add to the embeddings of the segments to read.

    Returns:
        Tensor of shape `(rows, segments, units)`.
    """
    if model.segments == 1:
        return last[:, None]
    given = ops.swapaxes(given, 0, 1)

    def advance(carry, index):
        output, states = carry
        raw = model.values(output[:, None])
        point = model.head.point(model.head.forecast(raw, 0.0, 1.0))
        here = given[index if model.known else 0]
        x = model.embedding(point, ops.zeros_like(point), here[:, None])
        x, states = model.stack(x, initial_state=states)
        return (x[:, 0], states), output

    (last, _), outputs = _backend.scan(
        advance, (last, states), model.segments - 1
    )
    return ops.swapaxes(ops.concatenate([outputs, last[None]]), 0, 1)


class ForecastStream:
    """Feeds a `Forecaster` step by step.

    Each step returns the forecast that the whole series would give. With
    `window=None`, recurrent states are carried, so the cost of a step does not
    grow with the series. Since a segment may end at any step, there are
    `segment` interleaved state sequences, and each step advances one of them.
    If windows are scaled by their own values, each new value changes the whole
    window. Then the last `lookback` steps are kept and read again.

    Args:
        model: The `Forecaster`.
        lookback: Positive integer, number of steps of a window that is read
            again.

    Attributes:
        steps: Integer, number of steps that are kept.

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
        build_once(instance("model", model, Forecaster))
        self.model = model
        self.steps = (
            model.segment
            if model.window is None
            else positive_integer("lookback", lookback)
        )

    def first_states(self, batch_size: int | Tensor) -> States:
        """Returns the states before the first step, as a flat list.

        Args:
            batch_size: Integer or scalar tensor, the number of series.
        """
        model = self.model
        past = ops.full(
            (batch_size, self.steps, model.columns), float("nan"), "float32"
        )
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
                missing; or a dictionary of this `"past"` and the other inputs
                of the model. `"known"` has the shape
                `(batch, steps + horizon, known)` and includes this step and the
                steps kept before it.
            states: The states that the previous step or `first_states`
                returned.

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
    """Returns the states of all sequences, with the newest last."""
    new = ops.reshape(new, (-1, carried.shape[1], 1, *carried.shape[3:]))
    return ops.concatenate([carried[:, :, 1:], new], axis=2)
