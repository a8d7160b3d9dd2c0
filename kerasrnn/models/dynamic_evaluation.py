"""Dynamic evaluation of language models."""

from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops
from keras.optimizers.schedules import LearningRateSchedule

from kerasrnn.arguments import instance
from kerasrnn.arguments import number
from kerasrnn.models.language_model import LanguageModel
from kerasrnn.models.model import Model
from kerasrnn.models.model import give_weights
from kerasrnn.typing import Config
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class DynamicEvaluation(Model):
    """Trains a language model on a text while it is evaluated on it.

    Call `fit` for one epoch on windows of the text, with a batch size of 1.
    Each window is predicted before the model learns from it, so the metrics of
    `fit` are those of dynamic evaluation. There is no dropout. Note that `fit`
    changes the weights of `model`.

    With plain gradient descent as the optimizer, this is the method of Mikolov
    et al. 2010. With `RMSDynamicEvaluation`, it is that of Krause et al. 2018.

    Args:
        model: A `LanguageModel`.
        **kwargs: Base model arguments, such as `name`.

    Call arguments:
        inputs: The inputs of `model`: ids of shape `(batch, time)`, or a
            dictionary with `"fresh"`.

    Returns:
        Logits of shape `(batch, time, vocabulary_size)`.

    Example:

    >>> model = LanguageModel(50, RHNCell(8), batch_size=20)
    >>> dynamic = DynamicEvaluation(model.with_batch_size(1))
    >>> dynamic.compile("sgd", TokenCrossentropy(-1), metrics=[Perplexity(-1)])
    >>> windows = text_windows(np.arange(40), batch_size=1, window=20)
    >>> history = dynamic.fit(windows, shuffle=False, verbose=0)
    >>> sorted(history.history)
    ['loss', 'perplexity']

    References:
        [Mikolov et al., 2010](https://doi.org/10.21437/Interspeech.2010-343),
        [Krause et al., 2018](https://arxiv.org/abs/1709.07432).
    """

    def __init__(self, model: LanguageModel, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.model = instance("model", model, LanguageModel)

    def build(self, input_shape: Shape | None = None) -> None:
        give_weights(self.model)

    def call(self, inputs: Tensor | dict[str, Tensor]) -> Tensor:
        return self.model(inputs, training=False)


@keras.saving.register_keras_serializable("kerasrnn")
class RMSDynamicEvaluation(keras.optimizers.Optimizer):
    """Gradient descent with RMS scaling and decay towards trained weights.

    `g` is the gradient of a window, `MS` the mean of the squared gradients on
    the training set, `w` a weight and `w_0` its value after training:

        RMS = sqrt(MS)
        decay = min(1, d RMS / mean(RMS))
        w = w - learning_rate g / (RMS + epsilon) + decay (w_0 - w)

    `mean(RMS)` is the mean over all weight tensors of the mean of each, as in
    the authors' code. `mean_squared_gradients` computes `MS`. Without it, every
    `RMS` is 1, which is plain gradient descent with a decay towards the trained
    weights.

    The best `learning_rate` and `d` grow with the window. For the Penn
    Treebank, the authors use 5e-5 and 0.002 for windows of 5 words, and 1.2e-4
    and 0.02 for windows of 20, with `MS` measured in batches of 100 rows. A
    larger `epsilon` allows larger steps. For an RHN of 492 units and windows of
    20 words, the best of five settings was a learning rate of 5e-4, a decay of
    0.02 and an epsilon of 1e-3. A learning rate of 1.2e-4 with the default
    epsilon of 2e-5 diverged.

    Args:
        learning_rate: Float or a Keras schedule.
        decay: Non-negative float, `d` above.
        epsilon: Positive float that keeps the steps small where the training
            gradients were close to 0.
        mean_squares: List of arrays, `MS` of each trainable weight. It is not
            part of the configuration, but saved with the variables of the
            optimizer.
        name: Name of the optimizer.
        **kwargs: Base optimizer arguments, such as `global_clipnorm`.

    Raises:
        ValueError: when `decay` is negative.

    Example:

    >>> model, loss = LanguageModel(50, RHNCell(8)), TokenCrossentropy(-1)
    >>> squares = mean_squared_gradients(
    ...     model.with_batch_size(4),
    ...     text_windows(np.arange(40), batch_size=4, window=5),
    ...     loss,
    ... )
    >>> dynamic = DynamicEvaluation(model.with_batch_size(1))
    >>> optimizer = RMSDynamicEvaluation(5e-5, 2e-3, mean_squares=squares)
    >>> dynamic.compile(optimizer, loss, metrics=[Perplexity(-1)])
    >>> windows = text_windows(np.arange(20), batch_size=1, window=5)
    >>> history = dynamic.fit(windows, shuffle=False, verbose=0)

    Reference:
        [Krause et al., 2018](https://arxiv.org/abs/1709.07432), section 5,
        and [its code](https://github.com/benkrause/dynamic-evaluation).
    """

    def __init__(
        self,
        learning_rate: float | LearningRateSchedule = 5e-5,
        decay: float = 2e-3,
        epsilon: float = 2e-5,
        mean_squares: Sequence[Tensor] | None = None,
        name: str = "rms_dynamic_evaluation",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name=name, **kwargs)
        self.decay = number("decay", decay, minimum=0)
        self.epsilon = number("epsilon", epsilon, above=0)
        self.mean_squares = mean_squares

    def build(self, variables: list[keras.Variable]) -> None:
        if self.built:
            return
        super().build(variables)
        mean: Any = 1.0
        values: list[Any] = [mean] * len(variables)
        if self.mean_squares is not None:
            values = [square**0.5 for square in self.mean_squares]
            mean = sum(float(root.mean()) for root in values) / len(values)
        constant = keras.initializers.Constant
        self.rms = [
            self.add_variable_from_reference(variable, "rms", constant(value))
            for variable, value in zip(variables, values, strict=True)
        ]
        self.mean_rms = self.add_variable((), constant(mean), name="mean_rms")
        # w - w0 starts at 0, so w0 need not be known.
        self.shifts = self.add_optimizer_variables(variables, "shift")

    def update_step(
        self, gradient: Tensor, variable: keras.Variable, learning_rate: Tensor
    ) -> None:
        i = self._get_variable_index(variable)
        rms, shift = self.rms[i], self.shifts[i]
        gradient = _dense(gradient, rms)
        learning_rate = ops.cast(learning_rate, rms.dtype)
        decay = self.decay * ops.divide_no_nan(rms, self.mean_rms)
        step = ops.add(
            learning_rate * gradient / (rms + self.epsilon),
            ops.minimum(decay, 1.0) * shift,
        )
        self.assign_sub(variable, step)
        self.assign_sub(shift, step)

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "decay": self.decay,
            "epsilon": self.epsilon,
        }


def mean_squared_gradients(
    model: LanguageModel,
    windows: Iterable[tuple[Any, Tensor]],
    loss: keras.losses.Loss,
) -> list[Tensor]:
    """Returns the mean squared gradients over a training set.

    There is no dropout, and the weights do not change.

    Args:
        model: A `LanguageModel`.
        windows: Batches of inputs and labels, such as the dataset that
            `text_windows` makes. Their window should be that of the dynamic
            evaluation. The more rows a batch has, the smaller its gradients
            are.
        loss: The loss, such as `TokenCrossentropy(-1)`.

    Returns:
        A list of float arrays, one for each trainable weight: the mean over the
        batches of the squared gradient.

    Example:

    >>> model = LanguageModel(50, RHNCell(8), batch_size=4)
    >>> windows = text_windows(np.arange(40), batch_size=4, window=5)
    >>> squares = mean_squared_gradients(model, windows, TokenCrossentropy(-1))
    >>> len(squares) == len(model.trainable_weights)
    True
    """
    optimizer = _MeanSquares(0.0, name="mean_squares")
    collector = DynamicEvaluation(model)
    collector.compile(optimizer, loss)
    collector.fit(windows, shuffle=False, verbose=0)
    return [ops.convert_to_numpy(x) for x in optimizer.mean_squares]


class _MeanSquares(keras.optimizers.Optimizer):
    """Averages the squared gradients without changing the weights."""

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.mean_squares = self.add_optimizer_variables(
            variables, "mean_square"
        )

    def update_step(self, gradient, variable, learning_rate):
        mean = self.mean_squares[self._get_variable_index(variable)]
        square = ops.square(_dense(gradient, mean))
        count = ops.cast(self.iterations + 1, mean.dtype)
        self.assign_add(mean, (square - mean) / count)


def _dense(gradient, like):
    """Returns a dense gradient; that of an embedding may be sparse."""
    return ops.add(ops.zeros(like.shape, like.dtype), gradient)
