"""Beam search."""

import keras
from keras import ops

from kerasrnn.decoding.search import Hypotheses
from kerasrnn.decoding.search import Search
from kerasrnn.decoding.search import at_least_one

# Below every score, and still finite: sums and products of it stay numbers.
_IMPOSSIBLE = -1e9


class BeamSearch(Search):
    """Keeps the `beam_width` best hypotheses at every step.

    Each step extends every living hypothesis by every token and looks at the
    `2 * beam_width` best results by total log-probability. Those that end,
    if they stand among the first `beam_width`, are finished: they leave the
    beam with their final score, and nothing that comes later can change it.
    The `beam_width` best of the others live on. A hypothesis `Y` of length
    `n` (its end token counted) with alignments `a` scores (Wu et al. 2016,
    equation 14)

        log P(Y) / ((5 + n) / 6)^length_penalty
            + coverage_penalty * sum_i log(min(sum_t a_ti, 1))

    A sentence is done when `beam_width` of its hypotheses are finished and no
    living one is ahead of the best of them, when no living one can still
    reach these, or at its maximum length. A hypothesis that never ended is
    returned only where too few did. With a width of 1 this is greedy search.

    Args:
        start_id: Integer id that every hypothesis starts behind.
        end_id: Integer id that ends one.
        pad_id: Integer id put behind the end.
        max_length: Positive integer, the most tokens of a hypothesis.
        beam_width: Positive integer, how many hypotheses live.
        length_penalty: Float >= 0; 0 prefers short hypotheses, 1 about
            compares means over tokens.
        coverage_penalty: Float >= 0; above 0, hypotheses that leave source
            places unattended are worse. Needs alignments and `source_mask`.
        num_hypotheses: How many hypotheses to return for a sentence, from 1
            to `beam_width`.

    Call arguments:
        step: The step function, `(ids, states, memory) -> (logits, states,
            alignments)`, such as `Translator.decode_step`.
        states: Nest of tensors of shape `(batch, ...)`, the first states.
        memory: Nest of tensors of shape `(batch, ...)` that `step` reads.
        source_mask: Optional boolean tensor of shape `(batch, places)`. With
            it the alignments are returned.
        max_lengths: Optional integer tensor of shape `(batch,)`, the most
            tokens for each sentence, under `max_length`.

    Returns:
        `Hypotheses`, the `num_hypotheses` best of each sentence.

    Raises:
        ValueError: when an argument is out of its range, or a coverage
            penalty is asked for without a `source_mask`.

    Example:

    >>> def step(ids, states, memory):          # counts 1, 2, 3, ...
    ...     return 9 * keras.ops.one_hot(ids + 1, 5), states, None
    >>> search = BeamSearch(start_id=0, end_id=4, pad_id=-1, max_length=6)
    >>> search(step, np.zeros((1, 1)), ()).ids
    [[[ 1,  2,  3,  4, -1, -1]]]

    Reference:
        [Wu et al., 2016](https://arxiv.org/abs/1609.08144), section 7.
    """

    def __init__(
        self,
        start_id=1,
        end_id=2,
        pad_id=0,
        max_length=100,
        beam_width=5,
        length_penalty=1.0,
        coverage_penalty=0.0,
        num_hypotheses=1,
    ):
        super().__init__(start_id, end_id, pad_id, max_length)
        self.beam_width = at_least_one("beam_width", beam_width)
        self.num_hypotheses = at_least_one("num_hypotheses", num_hypotheses)
        if num_hypotheses > beam_width:
            raise ValueError(
                "`num_hypotheses` cannot exceed `beam_width`. Received: "
                f"num_hypotheses={num_hypotheses}, beam_width={beam_width}"
            )
        if length_penalty < 0 or coverage_penalty < 0:
            raise ValueError(
                "Penalties must not be negative. Received: length_penalty="
                f"{length_penalty}, coverage_penalty={coverage_penalty}"
            )
        self.length_penalty = length_penalty
        self.coverage_penalty = coverage_penalty

    def __call__(
        self, step, states, memory, source_mask=None, max_lengths=None
    ):
        if self.coverage_penalty and source_mask is None:
            raise ValueError(
                "A coverage penalty needs to know the source: pass "
                f"`source_mask`. Received: coverage_penalty="
                f"{self.coverage_penalty}, source_mask=None"
            )
        batch_size = ops.shape(keras.tree.flatten(states)[0])[0]
        limits = self.limits(max_lengths, batch_size)
        states, memory = keras.tree.map_structure(
            lambda x: ops.repeat(x, self.beam_width, axis=0), (states, memory)
        )
        alive = self._first(batch_size, source_mask)
        # Before the first step there is one hypothesis, not `beam_width`.
        first = ops.arange(self.beam_width) == 0
        alive["scores"] = ops.where(first, 0.0, alive["scores"])
        finished = self._first(batch_size, source_mask)

        def unfinished(t, done, *rest):
            return ops.any(ops.logical_not(done))

        def advance(t, done, last, states, alive, finished):
            logits, states, weights = step(
                ops.reshape(last, (-1,)), states, memory
            )
            candidates, parents, tokens = self._expand(logits, alive)
            extended = alive
            if source_mask is not None:
                extended = self._record(alive, weights, t)
            ended = self._ended(
                candidates, parents, tokens, extended, t, source_mask
            )
            finished = _where(done, finished, self._best(finished, ended))
            living, order = ops.top_k(
                ops.where(tokens == self.end_id, _IMPOSSIBLE, candidates),
                self.beam_width,
            )
            parents = ops.take_along_axis(parents, order, axis=1)
            last = ops.take_along_axis(tokens, order, axis=1)
            moved = keras.tree.map_structure(
                lambda x: _gather(x, parents), extended
            )
            moved["scores"] = living
            moved["ids"] = self.put(moved["ids"], t, last, axis=2)
            alive = _where(done, alive, moved)
            states = keras.tree.map_structure(
                lambda x: _gather_rows(x, parents), states
            )
            done = ops.logical_or(
                done, self._is_done(t, limits, alive, finished)
            )
            return t + 1, done, last, states, alive, finished

        last = ops.full((batch_size, self.beam_width), self.start_id, "int32")
        start = (0, limits < 1, last, states, alive, finished)
        *_, alive, finished = ops.while_loop(unfinished, advance, start)
        return self._result(alive, finished, limits, source_mask)

    def _first(self, batch_size, source_mask):
        """Hypotheses with no tokens yet and no score to speak of."""
        shape = (batch_size, self.beam_width)
        hypotheses = {
            "scores": ops.full(shape, _IMPOSSIBLE, dtype="float32"),
            "ids": ops.full((*shape, self.max_length), self.pad_id, "int32"),
        }
        if source_mask is not None:
            places = ops.shape(source_mask)[1]
            hypotheses["alignments"] = ops.zeros(
                (*shape, self.max_length, places)
            )
        return hypotheses

    def _expand(self, logits, alive):
        """The best ways to go on.

        Returns:
            Total log-probability, beam it comes from and token of the
            `2 * beam_width` best, each of shape `(batch, candidates)`.
        """
        logits = ops.cast(logits, "float32")
        vocabulary_size = logits.shape[-1]
        # The best of a sentence are among the best of its rows, and only
        # those need their log-probability.
        width = min(2 * self.beam_width, vocabulary_size)
        best, tokens = ops.top_k(logits, width)
        best -= ops.logsumexp(logits, axis=-1, keepdims=True)
        shape = (-1, self.beam_width * width)
        totals = ops.expand_dims(alive["scores"], 2) + ops.reshape(
            best, (-1, self.beam_width, width)
        )
        totals, index = ops.top_k(
            ops.reshape(totals, shape),
            min(2 * self.beam_width, self.beam_width * width),
        )
        tokens = ops.take_along_axis(ops.reshape(tokens, shape), index, axis=1)
        return totals, index // width, tokens

    def _record(self, alive, weights, t):
        """Notes where each living hypothesis looked at this step."""
        shape = ops.shape(alive["alignments"])
        weights = ops.reshape(weights, (*shape[:2], shape[3]))
        alignments = self.put(alive["alignments"], t, weights, axis=2)
        return {**alive, "alignments": alignments}

    def _ended(self, totals, parents, tokens, alive, t, source_mask):
        """The candidates that end here, with their final scores."""
        totals, parents, tokens = (
            x[:, : self.beam_width] for x in (totals, parents, tokens)
        )
        ended = keras.tree.map_structure(lambda x: _gather(x, parents), alive)
        ended["ids"] = self.put(ended["ids"], t, tokens, axis=2)
        ended["scores"] = ops.where(
            ops.logical_and(tokens == self.end_id, totals > _IMPOSSIBLE / 2),
            self._score(totals, t + 1, ended, source_mask),
            _IMPOSSIBLE,
        )
        return ended

    def _score(self, totals, lengths, hypotheses, source_mask):
        scores = totals / self._penalty(lengths)
        if not self.coverage_penalty:
            return scores
        attended = ops.sum(hypotheses["alignments"], axis=2)
        # A place that was never looked at is as good as hardly looked at.
        logs = ops.log(ops.clip(attended, 1e-6, 1.0))
        logs = ops.where(ops.expand_dims(source_mask, 1), logs, 0.0)
        return scores + self.coverage_penalty * ops.sum(logs, axis=-1)

    def _penalty(self, lengths):
        lengths = ops.cast(lengths, "float32")
        return ((5.0 + lengths) / 6.0) ** self.length_penalty

    def _best(self, finished, ended):
        """The `beam_width` best of two sets of finished hypotheses."""
        both = keras.tree.map_structure(
            lambda a, b: ops.concatenate([a, b], axis=1), finished, ended
        )
        _, index = ops.top_k(both["scores"], self.beam_width)
        return keras.tree.map_structure(lambda x: _gather(x, index), both)

    def _is_done(self, t, limits, alive, finished):
        full = ops.all(finished["scores"] > _IMPOSSIBLE / 2, axis=1)
        last = finished["scores"][:, self.num_hypotheses - 1]
        total = ops.max(alive["scores"], axis=1)
        behind = total / self._penalty(t + 1) <= last
        # A total can only fall, and is divided by this at the most.
        beaten = total / self._penalty(limits) <= last
        at_limit = t + 1 >= limits
        full = ops.logical_and(full, behind)
        return ops.logical_or(ops.logical_or(full, beaten), at_limit)

    def _result(self, alive, finished, limits, source_mask):
        alive["scores"] = self._score(
            alive["scores"], ops.expand_dims(limits, 1), alive, source_mask
        )
        both = keras.tree.map_structure(
            lambda a, b: ops.concatenate([a, b], axis=1), finished, alive
        )
        # Both are sorted: take what is finished, then what is not.
        rank = ops.expand_dims(ops.arange(self.num_hypotheses), 0)
        count = ops.sum(
            ops.cast(finished["scores"] > _IMPOSSIBLE / 2, "int32"),
            axis=1,
            keepdims=True,
        )
        index = ops.where(rank < count, rank, self.beam_width + rank - count)
        best = keras.tree.map_structure(lambda x: _gather(x, index), both)
        return Hypotheses(best["ids"], best["scores"], best.get("alignments"))


def _gather(x, index):
    """`x[b, index[b, k]]`, for `x` of shape `(batch, beams, ...)`."""
    batch_size, beams = ops.shape(x)[0], x.shape[1]
    rows = ops.expand_dims(ops.arange(batch_size) * beams, 1) + index
    flat = ops.reshape(x, (-1, *ops.shape(x)[2:]))
    return ops.take(flat, rows, axis=0)


def _gather_rows(x, index):
    """The same for `x` of shape `(batch * beams, ...)`."""
    beams = index.shape[1]
    rows = ops.expand_dims(ops.arange(ops.shape(index)[0]) * beams, 1) + index
    return ops.take(x, ops.reshape(rows, (-1,)), axis=0)


def _where(done, old, new):
    """Keeps the old hypotheses of the sentences that are done."""

    def select(a, b):
        shape = (-1,) + (1,) * (len(a.shape) - 1)
        return ops.where(ops.reshape(done, shape), a, b)

    return keras.tree.map_structure(select, old, new)
