"""An encoder-decoder with attention, and ensembles of them."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import keras
from keras import ops
from keras.optimizers.schedules import LearningRateSchedule

from kerasrnn.arguments import number
from kerasrnn.arguments import rate
from kerasrnn.distribute import sum_over_replicas
from kerasrnn.distribute.replicas import share_of_added_loss
from kerasrnn.layers.loop import cells
from kerasrnn.models.decoder import Decoder
from kerasrnn.models.encoder import Encoder
from kerasrnn.models.model import Ensemble
from kerasrnn.models.model import Model
from kerasrnn.saving import build_once
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class Translator(Model):
    """Recurrent encoder-decoder with attention.

    `fit` trains it by teacher forcing: the inputs are the source and the target
    with a start token, and the labels are the target shifted by one
    (`kerasrnn.data.translation_batches` makes both). The searches of
    `kerasrnn.decoding` call `encode` and `decode_step`.

    Args:
        encoder: An `Encoder`.
        decoder: A `Decoder`.
        sampling_rate: Float in `[0, 1)`, the rate of scheduled sampling: how
            often, in training, the decoder reads the model's most likely token
            instead of the true one. All positions are sampled at once
            (Duckworth et al. 2019), with a second pass of the decoder unless
            the rate is 0. It may be a schedule from `kerasrnn.training` or
            `keras.optimizers.schedules`, a function of the number of training
            batches so far.
        alignment_weight: Float >= 0. If a batch has word alignments, their
            cross-entropy with the attention weights, times this weight, is
            added to the loss (Chen et al. 2016).
        **kwargs: Base model arguments, such as `name`.

    Call arguments:
        inputs: A dictionary of integer tensors: `"source"` of shape
            `(batch, source_time)` and `"target"` of shape
            `(batch, target_time)`. In training, it may also have `"alignment"`,
            a float tensor of shape `(batch, target_time, source_time)`: how
            much each step should attend to each source token. A row sums to 1,
            or to 0 if the alignment is unknown.
        training: Whether to behave as in training (dropout).

    Returns:
        Logits of shape `(batch, target_time, vocabulary_size)`.

    Masking: padding of the source is never attended to. Padding of the target
    is on the right, where it affects no token before it; mask it in the loss
    (`kerasrnn.training.TokenCrossentropy`).

    Example:

    >>> cell = keras.layers.GRUCell(8)
    >>> model = Translator(Encoder(20, cell), Decoder(30, cell))
    >>> source, target = np.ones((2, 5), "int32"), np.ones((2, 4), "int32")
    >>> model({"source": source, "target": target}).shape
    (2, 4, 30)

    Raises:
        ValueError: when the sampling rate is not in `[0, 1)`, the weight is
            negative, states to copy differ from those of the decoder in number
            or width, the decoder's lexicon has another source vocabulary, or
            there are alignments but no attention.

    References:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473),
        [Bengio et al., 2015](https://arxiv.org/abs/1506.03099),
        [Chen et al., 2016](https://arxiv.org/abs/1607.01628),
        [Duckworth et al., 2019](https://arxiv.org/abs/1906.04331),
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025).
    """

    axes_of_ids = {"source": 2, "target": 2}

    def __init__(
        self,
        encoder: Encoder,
        decoder: Decoder,
        sampling_rate: float | LearningRateSchedule = 0.0,
        alignment_weight: float = 0.1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if isinstance(sampling_rate, LearningRateSchedule):
            # Counted here, because JAX treats the optimizer's count as a
            # constant.
            self.steps = self.add_weight(
                dtype="int",
                trainable=False,
                aggregation="only_first_replica",
                name="steps",
            )
        else:
            rate("sampling_rate", sampling_rate)
        self.sampling_rate = sampling_rate
        self.alignment_weight = number(
            "alignment_weight", alignment_weight, minimum=0
        )
        self.seed_generator = keras.random.SeedGenerator()
        if decoder.bridge.kind == "copy":
            sizes = cells.flat_state_sizes(encoder.cell)
            if encoder.bidirectional:
                # The states of two directions are concatenated to one state.
                sizes = [2 * sizes[0]] if len(sizes) == 1 else []
            expected = decoder.bridge.state_sizes
            if encoder.depth * sizes != expected:
                raise ValueError(
                    "bridge='copy' needs equal states in encoder and decoder. "
                    "Expected: layers whose states have the widths "
                    f"{expected} (the states of two directions count as one), "
                    f"or bridge='dense'. Received: depth={encoder.depth}, "
                    f"bidirectional={encoder.bidirectional}, "
                    f"cell={encoder.cell!r}"
                )
        # Otherwise a source token could be outside the lexicon.
        lexicon, size = decoder.lexicon, encoder.vocabulary_size
        if lexicon is not None and lexicon.source_size != size:
            raise ValueError(
                "The decoder's lexicon must have the encoder's vocabulary. "
                f"Expected: source_size={size}. Received: "
                f"source_size={lexicon.source_size}"
            )
        self.encoder = encoder
        self.decoder = decoder
        # All sizes are known, so the weights can be created now.
        build_once(encoder, (None, None))
        memory = (None, None, encoder.memory_dim)
        build_once(decoder, (None, None), memory, (None, encoder.final_dim))
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> Tensor:
        source, target = inputs["source"], inputs["target"]
        memory = self.encoder(source, training=training)
        if training and self.sampling_rate:
            # Without the argument, Keras would pass on `training=True`.
            guesses = self.decoder(
                target, *memory, source=source, training=False
            )
            target = self._mix(target, ops.argmax(guesses, axis=-1))
        logits, weights = self.decoder(
            target,
            *memory,
            source=source,
            training=training,
            return_attention_scores=True,
        )
        if training and "alignment" in inputs:
            if self.decoder.rnn.cell.attention is None:
                raise ValueError(
                    "Alignments need a decoder with attention. Expected: an "
                    "`attention`. Received: attention=None"
                )
            cost = alignment_cost(weights, inputs["alignment"])
            self.add_loss(share_of_added_loss(self.alignment_weight * cost))
        return logits

    def _mix(self, target, guesses):
        """Replaces some tokens after the first one by guesses."""
        share = self.sampling_rate
        if isinstance(share, LearningRateSchedule):
            share = share(ops.convert_to_tensor(self.steps))
            self.steps.assign_add(1)
        first, rest = target[:, :1], target[:, 1:]
        guesses = ops.cast(guesses[:, :-1], target.dtype)
        noise = keras.random.uniform(ops.shape(rest), seed=self.seed_generator)
        rest = ops.where(ops.less(noise, share), guesses, rest)
        return ops.concatenate([first, rest], axis=1)

    def encode(
        self, source: Tensor, vocabulary: Tensor | None = None
    ) -> tuple[Nest, Nest]:
        """Encodes a batch of sources, for decoding.

        Args:
            source: Integer tensor of shape `(batch, source_time)`.
            vocabulary: Integer tensor of shape `(batch, words)`, the ids of the
                words to score, as a `Shortlist` chooses them; `None` for all.

        Returns:
            A tuple `(states, memory)`: the initial states and the memory for
            `decode_step`.
        """
        memory, mask, final = self.encoder(source)
        return self.decoder.start(memory, mask, final, source, vocabulary)

    def decode_step(
        self, ids: Tensor, states: Nest, memory: Nest
    ) -> tuple[Tensor, Nest, Tensor]:
        """Predicts the next token of each hypothesis.

        Args:
            ids: Integer tensor of shape `(rows,)`, the last token of each
                hypothesis. Every sentence has the same number of hypotheses, in
                adjacent rows.
            states: The states before this step, from `encode` or the previous
                step.
            memory: The memory that `encode` returned.

        Returns:
            A tuple `(logits, states, alignments)`: logits of shape
            `(rows, vocabulary_size)`, or with a column for each word of the
            `vocabulary` that `encode` was given; the new states; and attention
            weights of shape `(rows, source_time)`.
        """
        return self.decoder.step(ids, states, memory)

    def many_steps(self) -> contextlib.AbstractContextManager[None]:
        """Returns a scope in which steps share what does not change.

        It may only contain a loop that is traced as a whole, such as a search
        in a graph.
        """
        return self.decoder.output_projection.many_calls()


_LEAST = 1e-7  # smaller attention weights count as 0


def alignment_cost(weights: Tensor, alignment: Tensor) -> Tensor:
    """Returns the cross-entropy of attention weights and alignments.

        cost = - 1/n sum_t sum_i A_ti log a_ti            (Chen et al. 2016)

    Args:
        weights: Attention weights `a`, of shape
            `(batch, target_time, source_time)`.
        alignment: Float tensor `A` of the same shape. A row sums to 1, or to 0
            if the token is not aligned. `n` is the number of aligned tokens (of
            all replicas).

    Returns:
        A scalar; 0 if no token is aligned.

    Reference:
        [Chen et al., 2016](https://arxiv.org/abs/1607.01628).
    """
    weights, alignment = (ops.cast(x, "float32") for x in (weights, alignment))
    cost = -ops.sum(alignment * ops.log(ops.maximum(weights, _LEAST)))
    count = ops.sum(ops.cast(ops.any(alignment > 0, axis=-1), "float32"))
    cost, count = (sum_over_replicas(x) for x in (cost, count))
    return cost / ops.maximum(count, 1.0)


@keras.saving.register_keras_serializable("kerasrnn")
class TranslatorEnsemble(Ensemble):
    """Decodes with the mean probabilities of several translators.

        P(y_t) = 1 / n sum_i P_i(y_t)

    It can replace a `Translator` in the searches of `kerasrnn.decoding` and in
    `kerasrnn.pipelines.TextTranslator`, because it has the same `encode` and
    `decode_step`. The members must have the same vocabularies, and may differ
    in cells and sizes.

    Args:
        models: List of `Translator`s, at least one.
        **kwargs: Base layer arguments, such as `name`.

    Call arguments:
        inputs: The inputs of each member: a dictionary of integer tensors,
            `"source"` of shape `(batch, source_time)` and `"target"` of shape
            `(batch, target_time)`.

    Returns:
        The logarithms of the mean probabilities, of shape
        `(batch, target_time, vocabulary_size)`.

    Raises:
        ValueError: when there is no model, the sizes of the target vocabularies
            differ, or two models share a layer.

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
        """Encodes a batch of sources, as `Translator.encode` does.

        Args:
            source: Integer tensor of shape `(batch, source_time)`.
            vocabulary: Integer tensor of shape `(batch, words)`, the ids of the
                words that all members score; `None` for all words.

        Returns:
            A tuple `(states, memory)` of lists with an item for each member.
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
        """Returns a scope for a loop, as `Translator.many_steps` does."""
        with contextlib.ExitStack() as stack:
            for model in self.models:
                stack.enter_context(model.many_steps())
            yield

    def _mean(self, logits):
        """Returns the log of the mean probabilities of all members."""
        each = [ops.log_softmax(ops.cast(x, "float32")) for x in logits]
        total = ops.logsumexp(ops.stack(each), axis=0)
        return total - math.log(len(self.models))
