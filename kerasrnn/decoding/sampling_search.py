"""Random sampling."""

from collections.abc import Iterable

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.decoding.beams import gather
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.independent_search import IndependentSearch
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class SamplingSearch(IndependentSearch):
    """Draws every token at random from the distribution of the model.

    A token with the logit `z` is drawn with the probability

        P(y) = softmax(z / temperature)

    among the `top_k` most likely, and of these among the fewest whose
    probabilities sum to `top_p` or more (nucleus sampling, Holtzman et al.
    2020). The samplers of `keras_nlp` are not used: they write into a prompt of
    a fixed length, and know neither the states of a step nor its alignments.

    Args:
        start_id: Integer id of the start token.
        end_id: Integer id of the end token.
        pad_id: Integer id of padding, which follows the end token.
        max_length: Positive integer, the maximum number of tokens of a
            hypothesis.
        num_samples: Positive integer, the number of hypotheses that are drawn
            independently for each sentence.
        temperature: Float > 0. Below 1 likely tokens become more likely, above
            1 unlikely ones do.
        top_k: Positive integer, or `None` for all tokens.
        top_p: Float in `(0, 1]`; 1 for all tokens.
        seed: Integer, with which every call draws the same from the same
            inputs; `None` to draw anew at each call.
        min_length: Integer from 0 to `max_length`, the minimum number of tokens
            before the end token.
        forbidden_ids: List of integer ids that are never produced.
        no_repeat_ngram: Integer n >= 0: no n-gram occurs twice in a hypothesis.
            0 allows all.
        repeatable_ids: List of integer ids that stand for different words, such
            as that of `<unk>`: an n-gram with one of them may occur again.

    `min_length`, `forbidden_ids` and `no_repeat_ngram` restrict the choice of
    tokens; the scores remain those of the model. A hypothesis left without any
    allowed token may end.

    Call arguments:
        step: The step function, `(ids, states, memory) -> (logits, states,
            alignments)`, such as `Translator.decode_step`. See `Search`.
        states: Nest of tensors of shape `(batch, ...)`, the first states.
        memory: Nest of tensors of shape `(batch, ...)` that `step` reads, or
            `None`.
        source_mask: Optional boolean tensor of shape `(batch, positions)`. With
            it the alignments are returned.
        max_lengths: Optional integer tensor of shape `(batch,)`, the maximum
            number of tokens for each sentence, if below `max_length`.
        vocabulary: Optional integer tensor of shape `(batch, columns)`, for a
            step that scores a shortlist: the ids of the columns of its logits,
            all different and including `end_id`.
        static_sizes: Whether all sizes must follow from those of the
            arguments. XLA needs that in a graph for batches of any size.
        prefix: Optional integer tensor of shape `(batch, tokens)`, with which
            the hypotheses of each sentence begin, whatever else is refused.
            A prefix longer than the maximum length leaves its sentence without
            a hypothesis. Here and below, negative ids are padding, on the
            right.
        required: Optional integer tensor of shape `(batch, phrases, tokens)`:
            phrases that occur in each hypothesis. If a hypothesis lacks one, it
            is not returned.
        forbidden: Optional integer tensor of that shape: phrases of which none
            occurs after the prefix.

    Returns:
        `Hypotheses` with `num_samples` hypotheses a sentence, in the order in
        which they were drawn. Their scores are their total log-probabilities
        under the model, before temperature, `top_k` and `top_p`.

    Raises:
        ValueError: when an argument is out of its range, `states` holds no
            tensor, with `source_mask` the step returns no alignments, or there
            are phrases and a `vocabulary`.

    Without a seed, the random numbers come from `seed_generator`. Inside
    `jax.jit` it needs a `keras.StatelessScope`, as everywhere in Keras.

    Example:

    >>> def step(ids, states, memory):          # heads or tails, or the end
    ...     return keras.ops.zeros((ids.shape[0], 3)), states, None
    >>> search = SamplingSearch(end_id=2, max_length=5, num_samples=3)
    >>> search(step, np.zeros((1, 1))).ids.shape
    (1, 3, 5)

    Reference:
        [Holtzman et al., 2020](https://arxiv.org/abs/1904.09751).
    """

    def __init__(
        self,
        start_id: int = 1,
        end_id: int = 2,
        pad_id: int = 0,
        max_length: int = 100,
        num_samples: int = 1,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        seed: int | None = None,
        min_length: int = 0,
        forbidden_ids: Iterable[int] = (),
        no_repeat_ngram: int = 0,
        repeatable_ids: Iterable[int] = (),
    ) -> None:
        super().__init__(
            start_id,
            end_id,
            pad_id,
            max_length,
            min_length,
            forbidden_ids,
            no_repeat_ngram,
            repeatable_ids,
        )
        self.num_samples = integer("num_samples", num_samples, 1)
        self.temperature = number("temperature", temperature, above=0)
        self.top_k = None if top_k is None else integer("top_k", top_k, 1)
        self.top_p = number("top_p", top_p, above=0, most=1)
        self.seed = None if seed is None else integer("seed", seed, 0)
        self.count = self.num_samples
        self.seed_generator = None
        if seed is None:
            self.seed_generator = keras.random.SeedGenerator()

    def draw_noise(self, batch_size: int) -> Tensor:
        # Drawn before the loop: inside one, Keras cannot draw anew on JAX.
        return keras.random.uniform(
            (batch_size, self.max_length, self.num_samples),
            dtype="float32",
            seed=self.seed_generator or self.seed,
        )

    def choose(self, logits: Tensor, noise: Tensor | None) -> Tensor:
        # Divided by less, logits may become infinite.
        logits = logits / max(self.temperature, 1e-6)
        if self.top_k is None and self.top_p == 1:
            return draw(ops.softmax(logits, axis=1), noise)
        logits, columns = top_k(logits, self.top_k or ops.shape(logits)[1])
        probabilities = ops.softmax(logits, axis=1)
        # Drops tokens whose more likely ones already sum to `top_p`.
        before = ops.cumsum(probabilities, axis=1) - probabilities
        probabilities = ops.where(before < self.top_p, probabilities, 0.0)
        drawn = ops.expand_dims(draw(probabilities, noise), 1)
        return ops.squeeze(gather(columns, drawn), 1)

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "num_samples": self.num_samples,
            "temperature": self.temperature,
            "top_k": self.top_k,
            "top_p": self.top_p,
            "seed": self.seed,
        }


def draw(probabilities, noise):
    """Draws a column of each row: where the cumulative sum passes the noise.

    Args:
        probabilities: Float tensor of shape `(rows, columns)`. Their sums
            need not be 1.
        noise: Float tensor of shape `(rows,)`, uniform in `[0, 1)`.

    Returns:
        Integer tensor of shape `(rows,)`.
    """
    cumulated = ops.cumsum(probabilities, axis=1)
    passed = cumulated > ops.expand_dims(noise, 1) * cumulated[:, -1:]
    # The first that passes; despite rounding, none with probability 0.
    rank = ops.where(probabilities > 0, 1.0 + ops.cast(passed, "float32"), 0.0)
    return ops.squeeze(top_k(rank, 1)[1], 1)
