"""Sampling."""

import keras
from keras import ops

from kerasrnn.decoding.arguments import integer
from kerasrnn.decoding.arguments import number
from kerasrnn.decoding.beams import gather
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.independent_search import IndependentSearch


@keras.saving.register_keras_serializable("kerasrnn")
class SamplingSearch(IndependentSearch):
    """Draws every token at random, as likely as the model holds it.

    A token with the logit `z` is drawn with the probability

        P(y) = softmax(z / temperature)

    among the `top_k` likeliest, and of these among the fewest whose
    probabilities make up `top_p` (nucleus sampling, Holtzman et al. 2020).
    The samplers of `keras_nlp` are not used: they write into a prompt of a
    fixed length, and know neither the states of a step nor its alignments.

    Args:
        start_id: Integer id that every hypothesis starts behind.
        end_id: Integer id that ends one.
        pad_id: Integer id put behind the end.
        max_length: Positive integer, the most tokens of a hypothesis.
        num_samples: Positive integer, how many hypotheses are drawn for a
            sentence, each by itself.
        temperature: Float > 0. Below 1 likely tokens become likelier, and
            above 1 unlikely ones do.
        top_k: Positive integer, or `None` for all tokens.
        top_p: Float in `(0, 1]`; 1 for all tokens.
        seed: Integer. With it, the same call draws the same; `None` draws
            anew at each call.
        min_length: Integer from 0 to `max_length`, the fewest tokens before
            the end token.
        forbidden_ids: List of integer ids that are never produced.
        no_repeat_ngram: Integer n >= 0: no n-gram comes twice in a
            hypothesis. 0 allows all.

    The last three choose among tokens, and the scores stay those of the
    model. Where they leave a hypothesis no token at all, it may end.

    Call arguments:
        step: The step function, `(ids, states, memory) -> (logits, states,
            alignments)`, such as `Translator.decode_step`. See `Search`.
        states: Nest of tensors of shape `(batch, ...)`, the first states.
        memory: Nest of tensors of shape `(batch, ...)` that `step` reads, or
            `None`.
        source_mask: Optional boolean tensor of shape `(batch, places)`. With
            it the alignments are returned.
        max_lengths: Optional integer tensor of shape `(batch,)`, the most
            tokens for each sentence, under `max_length`.
        vocabulary: Optional integer tensor of shape `(batch, columns)`, for a
            step that scores a shortlist: the ids that the columns of its
            logits stand for, all different and `end_id` among them.

    Returns:
        `Hypotheses` with `num_samples` hypotheses a sentence, in the order in
        which they were drawn. Their scores are their total log-probabilities
        under the model, whatever they were drawn from.

    Raises:
        ValueError: when an argument is out of its range, `states` holds no
            tensor, or alignments are asked for of a step without any.

    Without a seed, `seed_generator` says what is drawn. Inside `jax.jit` it
    needs a `keras.StatelessScope`, as everywhere in Keras.

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
        start_id=1,
        end_id=2,
        pad_id=0,
        max_length=100,
        num_samples=1,
        temperature=1.0,
        top_k=None,
        top_p=1.0,
        seed=None,
        min_length=0,
        forbidden_ids=(),
        no_repeat_ngram=0,
    ):
        super().__init__(
            start_id,
            end_id,
            pad_id,
            max_length,
            min_length,
            forbidden_ids,
            no_repeat_ngram,
        )
        self.num_samples = integer("num_samples", num_samples, 1)
        self.temperature = number("temperature", temperature, above=0)
        self.top_k = None if top_k is None else integer("top_k", top_k, 1)
        self.top_p = number("top_p", top_p, above=0)
        if top_p > 1:
            raise ValueError(
                f"`top_p` must be in (0, 1]. Received: top_p={top_p!r}"
            )
        self.seed = None if seed is None else integer("seed", seed, 0)
        self.count = self.num_samples
        self.seed_generator = None
        if seed is None:
            self.seed_generator = keras.random.SeedGenerator()

    def draw_noise(self, batch_size):
        # All at once: inside a loop, Keras cannot draw anew on JAX.
        return keras.random.uniform(
            (batch_size, self.max_length, self.num_samples),
            dtype="float32",
            seed=self.seed_generator or self.seed,
        )

    def choose(self, logits, noise):
        logits = logits / self.temperature
        if self.top_k is None and self.top_p == 1:
            return draw(ops.softmax(logits, axis=1), noise)
        logits, columns = top_k(logits, self.top_k or ops.shape(logits)[1])
        probabilities = ops.softmax(logits, axis=1)
        # Those go that the likelier ones make up `top_p` without.
        before = ops.cumsum(probabilities, axis=1) - probabilities
        probabilities = ops.where(before < self.top_p, probabilities, 0.0)
        drawn = ops.expand_dims(draw(probabilities, noise), 1)
        return ops.squeeze(gather(columns, drawn), 1)

    def get_config(self):
        return {
            **super().get_config(),
            "num_samples": self.num_samples,
            "temperature": self.temperature,
            "top_k": self.top_k,
            "top_p": self.top_p,
            "seed": self.seed,
        }


def draw(probabilities, noise):
    """Returns where the cumulated probabilities pass the noise.

    Args:
        probabilities: Float tensor of shape `(rows, columns)`. Their sums
            need not be 1.
        noise: Float tensor of shape `(rows,)`, uniform in `[0, 1)`.

    Returns:
        Integer tensor of shape `(rows,)`.
    """
    cumulated = ops.cumsum(probabilities, axis=1)
    passed = cumulated > ops.expand_dims(noise, 1) * cumulated[:, -1:]
    # The first, and whatever the rounding, none without probability.
    rank = ops.where(probabilities > 0, 1.0 + ops.cast(passed, "float32"), 0.0)
    return ops.squeeze(top_k(rank, 1)[1], 1)
