"""Learning from a text while being evaluated on it."""

from typing import Any

import keras

from kerasrnn.arguments import instance
from kerasrnn.models.language.language_model import LanguageModel
from kerasrnn.models.model import Model
from kerasrnn.models.model import give_weights
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class DynamicEvaluation(Model):
    """Lets a language model learn from a text while it is evaluated on it.

    Fit it for one epoch on windows of the text, with a batch size of 1. Each
    window is predicted before the model learns from it, so the metrics of `fit`
    are those of dynamic evaluation. There is no dropout. Fitting changes the
    weights of `model`.

    Compiled with plain gradient descent, it is the method of Mikolov et al.
    2010; with `RMSDynamicEvaluation`, that of Krause et al. 2018.

    Args:
        model: A `LanguageModel`.
        **kwargs: Base model arguments, such as `name`.

    Call arguments:
        inputs: What `model` takes: ids of shape `(batch, time)`, or a
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
