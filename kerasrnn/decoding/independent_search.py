"""Greedy search and sampling, which extend hypotheses independently."""

import abc
import dataclasses
import functools

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.arguments import optional_positive_integer
from kerasrnn.decoding.beams import blank
from kerasrnn.decoding.beams import flatten_beams
from kerasrnn.decoding.beams import note
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.phrases import advanced
from kerasrnn.decoding.phrases import begun
from kerasrnn.decoding.phrases import continuing
from kerasrnn.decoding.phrases import in_prefix
from kerasrnn.decoding.phrases import missing
from kerasrnn.decoding.phrases import needed
from kerasrnn.decoding.search import Search
from kerasrnn.decoding.search import Step
from kerasrnn.tensors import gather
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor


@dataclasses.dataclass(frozen=True, eq=False)
class IndependentSearch(Search):
    """Base class of searches whose hypotheses are independent.

    The score of a hypothesis is its total log-probability.
    """

    @abc.abstractmethod
    def choose(self, logits: Tensor, noise: Tensor | None) -> Tensor:
        """Chooses the next token of each hypothesis.

        Args:
            logits: Float tensor of shape `(rows, columns)`, minus infinity
                where a token is not allowed.
            noise: The noise of this step from `draw_noise`, of shape `(rows,)`,
                or `None`.

        Returns:
            The chosen columns, an integer tensor of shape `(rows,)`.
        """

    def draw_noise(self, batch_size: int) -> Tensor | None:
        """Returns noise of shape `(batch, max_length, hypotheses)`."""
        return None

    def begin(self, rows: dict[str, Nest], given: dict[str, Nest]) -> None:
        batch_size, count = ops.shape(rows["last"])
        given["noise"] = self.draw_noise(batch_size)
        rows["written"] = blank(
            (batch_size, self.max_length, count),
            given["source_mask"],
            ids=self.pad_id,
        )
        rows["ended"] = ops.zeros_like(rows["last"]) >= given["limits"][:, None]
        rows["urged"] = ops.zeros_like(rows["ended"])
        rows["scores"] = ops.zeros((batch_size, count), "float32")

    def found(
        self, steps: Tensor, rows: dict[str, Nest], given: Nest, lacks: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        scores = ops.where(lacks, NEVER, rows["scores"])
        written = rows["written"]
        return scores, written["ids"], written.get("alignments")

    def advance(
        self, step: Step, t: Tensor, rows: dict[str, Nest], given: Nest
    ) -> dict[str, Nest]:
        # Append a token to each hypothesis that has not ended.
        logits, allowed, states, weights = self.predict(step, t, rows, given)
        columns, urged = self._choose(t, allowed, rows, given)
        gain = gather(flatten_beams(allowed), ops.reshape(columns, (-1, 1)))
        gain = ops.reshape(gain, (-1, self.beams)) - ops.logsumexp(
            logits, axis=2
        )
        ended = rows["ended"]
        ids = ops.where(ended, self.pad_id, self.ids(columns, given))
        chosen = {"ids": ids}
        if weights is not None:
            chosen["alignments"] = ops.where(ended[:, :, None], 0.0, weights)
        now_ended = ops.logical_or(ended, ops.equal(ids, self.end_id))
        progress = advanced(rows["progress"], ids, given["phrases"])
        at_limit = ops.expand_dims(t + 1 >= given["limits"], 1)
        now_ended = ops.logical_or(now_ended, at_limit)
        return {
            "done": ops.all(now_ended, axis=1),
            "ended": now_ended,
            # Ended hypotheses read the end token.
            "last": ops.where(now_ended, self.end_id, ids),
            "states": states,
            "history": self.remember(rows["history"], t, columns, ids),
            "progress": {
                kind: ops.where(ended[:, :, None], rows["progress"][kind], x)
                for kind, x in progress.items()
            },
            "urged": urged,
            "scores": rows["scores"] + ops.where(ended, 0.0, gain),
            "written": note(rows["written"], t, **chosen),
        }

    def _choose(self, t, allowed, rows, given):
        """Returns the next columns, and whether phrases forced them.

        If a hypothesis would end without a required phrase, or its remaining
        length is just enough for the phrases, it must write the next token of a
        phrase, and then complete that phrase.
        """
        noise = given["noise"]
        if noise is not None:
            noise = flatten_beams(noise[:, t])

        def choose(logits):
            return ops.reshape(
                self.choose(flatten_beams(logits), noise), (-1, self.beams)
            )

        columns, progress = choose(allowed), rows["progress"]
        if "required" not in progress:
            return columns, rows["urged"]
        phrases = given["phrases"]
        left = missing(progress, phrases)
        # Plus one position for the end token.
        room = given["limits"][:, None] - t
        no_room = room <= needed(progress, phrases) + 1
        ends = ops.equal(columns, self.end_id)
        is_begun = ops.any(begun(progress, phrases), axis=2)
        goes_on = ops.logical_and(rows["urged"], is_begun)
        urged = ops.logical_or(ops.logical_or(ends, no_room), goes_on)
        is_free = ops.logical_or(ops.equal(left, 0), in_prefix(t, phrases))
        urged = ops.logical_and(urged, ops.logical_not(is_free))
        urged_columns = choose(continuing(allowed, progress, phrases))
        return ops.where(urged, urged_columns, columns), urged


@keras.saving.register_keras_serializable("kerasrnn")
@dataclasses.dataclass(frozen=True, eq=False)
class GreedySearch(IndependentSearch):
    """Greedy search: takes the most likely token at every step.

    See `Search` for the arguments of a call.

    Args:
        start_id: Integer id of the start token.
        end_id: Integer id of the end token.
        pad_id: Integer id of padding, which only follows the end token.
        max_length: Positive integer, maximum number of tokens in a hypothesis.
        min_length: Integer from 0 to `max_length`, minimum number of tokens
            before the end token.
        forbidden_ids: List of integer ids that are never generated.
        no_repeat_ngram: Integer n >= 0: no n-gram may occur twice in a
            hypothesis. 0 means no limit.
        repeatable_ids: List of integer ids that stand for different words, such
            as that of `<unk>`. An n-gram with one of them may be repeated.

    Returns:
        `Hypotheses` with one hypothesis per sentence. Its score is its total
        log-probability.

    Example:

    >>> def step(ids, states, memory):          # counts 1, 2, 3, ...
    ...     return keras.ops.one_hot(ids + 1, 5), states, None
    >>> search = GreedySearch(start_id=0, end_id=4, pad_id=-1, max_length=6)
    >>> found = search(step, np.zeros((1, 1)))
    >>> ops.convert_to_numpy(found.ids).tolist()
    [[[1, 2, 3, 4, -1, -1]]]
    """

    def choose(self, logits: Tensor, noise: Tensor | None) -> Tensor:
        # The same as `argmax`, but faster on a CPU.
        _, columns = top_k(logits, 1)
        return ops.squeeze(columns, 1)


@keras.saving.register_keras_serializable("kerasrnn")
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SamplingSearch(IndependentSearch):
    """Samples every token from the distribution of the model.

    A token with the logit `z` is drawn with the probability

        P(y) = softmax(z / temperature)

    among the `top_k` most likely allowed tokens, and of these among the
    smallest set whose probabilities sum to at least `top_p` (nucleus sampling,
    Holtzman et al. 2020).

    See `Search` for the arguments of a call.

    Args:
        start_id: Integer id of the start token.
        end_id: Integer id of the end token.
        pad_id: Integer id of padding, which only follows the end token.
        max_length: Positive integer, maximum number of tokens in a hypothesis.
        min_length: Integer from 0 to `max_length`, minimum number of tokens
            before the end token.
        forbidden_ids: List of integer ids that are never generated.
        no_repeat_ngram: Integer n >= 0: no n-gram may occur twice in a
            hypothesis. 0 means no limit.
        repeatable_ids: List of integer ids that stand for different words, such
            as that of `<unk>`. An n-gram with one of them may be repeated.
        num_samples: Positive integer, number of independent samples for each
            sentence.
        temperature: Float > 0. Below 1, likely tokens become more likely; above
            1, unlikely tokens do.
        top_k: Positive integer, or `None` for all tokens.
        top_p: Float in `(0, 1]`; 1 for all tokens.
        seed: Integer, with which every call returns the same samples for the
            same inputs; `None` for different samples in each call. The random
            numbers then come from `seed_generator`, which needs a
            `keras.StatelessScope` inside `jax.jit`, as everywhere in Keras.

    Returns:
        `Hypotheses` with `num_samples` hypotheses per sentence, in the order of
        sampling. Their scores are total log-probabilities under the model,
        without temperature, `top_k` and `top_p`.

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

    num_samples: int = 1
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("num_samples", self.num_samples, 1)
        number("temperature", self.temperature, above=0)
        optional_positive_integer("top_k", self.top_k)
        number("top_p", self.top_p, above=0, maximum=1)
        if self.seed is not None:
            integer("seed", self.seed, 0)
        # Created now, because it would be lost in a graph that is being traced.
        _ = self.seed_generator

    @functools.cached_property
    def seed_generator(self) -> keras.random.SeedGenerator | None:
        """The random number generator, or `None` with a `seed`."""
        return keras.random.SeedGenerator() if self.seed is None else None

    @property
    def beams(self) -> int:
        return self.num_samples

    def draw_noise(self, batch_size: int) -> Tensor:
        # Drawn before the loop, because Keras cannot draw inside a loop on JAX.
        return keras.random.uniform(
            (batch_size, self.max_length, self.num_samples),
            dtype="float32",
            seed=self.seed_generator or self.seed,
        )

    def choose(self, logits: Tensor, noise: Tensor | None) -> Tensor:
        # With a smaller divisor, logits may become infinite.
        logits = logits / max(self.temperature, 1e-6)
        if self.top_k is None and self.top_p == 1:
            return draw(ops.softmax(logits, axis=1), noise)
        logits, columns = top_k(logits, self.top_k or ops.shape(logits)[1])
        if columns.shape[1] == 1:
            # Keras warns about the softmax of a single column.
            return ops.squeeze(columns, 1)
        probabilities = ops.softmax(logits, axis=1)
        # Drop a token if more likely tokens already sum to `top_p`.
        before = ops.cumsum(probabilities, axis=1) - probabilities
        probabilities = ops.where(before < self.top_p, probabilities, 0.0)
        drawn = ops.expand_dims(draw(probabilities, noise), 1)
        return ops.squeeze(gather(columns, drawn), 1)


def draw(probabilities, noise):
    """Samples a column of each row by its cumulative probabilities.

    Args:
        probabilities: Float tensor of shape `(rows, columns)`. They need not
            sum to 1.
        noise: Float tensor of shape `(rows,)`, uniform in `[0, 1)`.

    Returns:
        Integer tensor of shape `(rows,)`.
    """
    cumulated = ops.cumsum(probabilities, axis=1)
    passed = cumulated > ops.expand_dims(noise, 1) * cumulated[:, -1:]
    # The first column whose sum exceeds the noise. Despite rounding, none with
    # probability 0 is chosen.
    rank = ops.where(probabilities > 0, 1.0 + ops.cast(passed, "float32"), 0.0)
    return ops.squeeze(top_k(rank, 1)[1], 1)
