"""Random sampling."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.independent_search import IndependentSearch
from kerasrnn.gathering import gather
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class SamplingSearch(IndependentSearch):
    """Draws every token at random from the distribution of the model.

    A token with the logit `z` is drawn with the probability

        P(y) = softmax(z / temperature)

    among the `top_k` most likely that are allowed, and of these among the
    fewest whose probabilities sum to `top_p` or more (nucleus sampling,
    Holtzman et al. 2020). The samplers of `keras_nlp` are not used: they write
    into a prompt of a fixed length, and know neither the states of a step nor
    its alignments.

    Args:
        num_samples: Positive integer, the number of hypotheses that are drawn
            independently for each sentence.
        temperature: Float > 0. Below 1 likely tokens become more likely, above
            1 unlikely ones do.
        top_k: Positive integer, or `None` for all tokens.
        top_p: Float in `(0, 1]`; 1 for all tokens.
        seed: Integer, with which every call draws the same from the same
            inputs; `None` to draw anew at each call. Then the random numbers
            come from `seed_generator`, which inside `jax.jit` needs a
            `keras.StatelessScope`, as everywhere in Keras.

    Returns:
        `Hypotheses` with `num_samples` hypotheses a sentence, in the order in
        which they were drawn. Their scores are their total log-probabilities
        under the model, before temperature, `top_k` and `top_p`.

    Example:

    >>> def step(ids, states, memory):          # heads or tails, or the end
    ...     return keras.ops.zeros((ids.shape[0], 3)), states, None
    >>> ids = {"start_id": 2, "end_id": 2, "pad_id": -1}
    >>> search = SamplingSearch(**ids, max_length=5, num_samples=3)
    >>> search(step, np.zeros((1, 1))).ids.shape
    (1, 3, 5)

    Reference:
        [Holtzman et al., 2020](https://arxiv.org/abs/1904.09751).
    """

    def __init__(
        self,
        *args: Any,
        num_samples: int = 1,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.num_samples = integer("num_samples", num_samples, 1)
        self.temperature = number("temperature", temperature, above=0)
        self.top_k = None if top_k is None else integer("top_k", top_k, 1)
        self.top_p = number("top_p", top_p, above=0, maximum=1)
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
        if columns.shape[1] == 1:
            # Keras warns of the softmax of a single column.
            return ops.squeeze(columns, 1)
        probabilities = ops.softmax(logits, axis=1)
        # Drops tokens whose more likely ones already sum to `top_p`.
        before = ops.cumsum(probabilities, axis=1) - probabilities
        probabilities = ops.where(before < self.top_p, probabilities, 0.0)
        drawn = ops.expand_dims(draw(probabilities, noise), 1)
        return ops.squeeze(gather(columns, drawn), 1)


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
