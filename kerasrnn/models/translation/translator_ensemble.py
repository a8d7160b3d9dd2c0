"""An ensemble of translators."""

import contextlib
import math
from collections.abc import Iterator

import keras
from keras import ops

from kerasrnn.models.ensemble import Ensemble
from kerasrnn.models.translation.translator import Translator
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class TranslatorEnsemble(Ensemble):
    """Decodes with the mean probabilities of several translators.

        P(y_t) = 1 / n sum_i P_i(y_t)

    It takes the place of a `Translator` in the searches of `kerasrnn.decoding`
    and in `kerasrnn.pipelines.TextTranslator`, with the same `encode` and
    `decode_step`. The members may differ in cells and sizes, but share their
    vocabularies.

    Args:
        models: List of `Translator`s, at least one.
        **kwargs: Base layer arguments, such as `name`.

    Call arguments:
        inputs: What each member takes: a dictionary of integer tensors,
            `"source"` of shape `(batch, source_time)` and `"target"` of shape
            `(batch, target_time)`.

    Returns:
        The logarithms of the mean probabilities, of shape
        `(batch, target_time, vocabulary_size)`.

    Raises:
        ValueError: when there is no model, their target vocabularies differ in
            size, or two share a layer.

    Example:

    >>> cell = keras.layers.GRUCell(8)
    >>> models = [Translator(Encoder(20, cell), Decoder(30, cell))] * 2
    >>> states, memory = TranslatorEnsemble(models).encode(np.ones((2, 5)))
    >>> len(states), len(memory)
    (2, 2)

    Reference:
        [Sutskever et al., 2014](https://arxiv.org/abs/1409.3215), section 3.6.
    """

    member = Translator

    def logits_of(self, model: Translator) -> int:
        return model.decoder.vocabulary_size

    def call(self, inputs: dict[str, Tensor]) -> Tensor:
        return self._mean([model(inputs) for model in self.models])

    def encode(
        self, source: Tensor, vocabulary: Tensor | None = None
    ) -> tuple[list[Nest], list[Nest]]:
        """Reads a batch of sources, as `Translator.encode` does.

        Args:
            source: Integer tensor of shape `(batch, source_time)`.
            vocabulary: Integer tensor of shape `(batch, words)`, the ids of the
                words that all members score; `None` for all.

        Returns:
            A tuple `(states, memory)` of lists, an item for each member.
        """
        states, memory = zip(
            *(model.encode(source, vocabulary) for model in self.models),
            strict=True,
        )
        return list(states), list(memory)

    def decode_step(
        self, ids: Tensor, states: list[Nest], memory: list[Nest]
    ) -> tuple[Tensor, list[Nest], Tensor]:
        """Predicts the next token, as `Translator.decode_step` does.

        Returns:
            A tuple `(logits, states, alignments)`: the logarithms of the mean
            probabilities, of shape `(rows, vocabulary_size)`, the states of
            all members, and the mean of their attention weights, of shape
            `(rows, source_time)`.
        """
        logits, new_states, alignments = zip(
            *(
                model.decode_step(ids, *rest)
                for model, *rest in zip(
                    self.models, states, memory, strict=True
                )
            ),
            strict=True,
        )
        weights = sum(ops.cast(x, "float32") for x in alignments)
        weights = weights / len(self.models)
        return self._mean(logits), list(new_states), weights

    @contextlib.contextmanager
    def many_steps(self) -> Iterator[None]:
        """A scope for a loop, as that of `Translator.many_steps`."""
        with contextlib.ExitStack() as stack:
            for model in self.models:
                stack.enter_context(model.many_steps())
            yield

    def _mean(self, logits):
        """The logarithms of the mean probabilities of all members."""
        each = [ops.log_softmax(ops.cast(x, "float32")) for x in logits]
        total = ops.logsumexp(ops.stack(each), axis=0)
        return total - math.log(len(self.models))
