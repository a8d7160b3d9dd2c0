"""Beam search."""

import keras
from keras import ops

from kerasrnn.decoding.beams import flatten_beams
from kerasrnn.decoding.beams import gather
from kerasrnn.decoding.beams import join
from kerasrnn.decoding.beams import split_beams
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.search import Hypotheses
from kerasrnn.decoding.search import Search
from kerasrnn.decoding.search import at_least_one
from kerasrnn.decoding.trace import empty_trace
from kerasrnn.decoding.trace import note
from kerasrnn.decoding.trace import write_out
from kerasrnn.decoding.unfinished import advance_until_done

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
        ValueError: when an argument is out of its range, a coverage penalty
            is asked for without a `source_mask`, or alignments of a step
            without any.

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
            lambda x: ops.repeat(ops.expand_dims(x, 1), self.beam_width, 1),
            (states, memory),
        )
        shape = (batch_size, self.beam_width)
        # Before the first step there is one hypothesis, not `beam_width`.
        first = ops.zeros(shape, "int32") + ops.arange(self.beam_width)
        places = None if source_mask is None else ops.shape(source_mask)[1]
        rows = {
            "done": limits < 1,
            "last": ops.full(shape, self.start_id, dtype="int32"),
            "totals": ops.where(first == 0, 0.0, _IMPOSSIBLE),
            "states": states,
            "trace": empty_trace(
                batch_size, self.max_length, self.beam_width, places
            ),
            "attended": (),
            "finished": {
                "scores": ops.full(shape, _IMPOSSIBLE, dtype="float32"),
                "times": ops.zeros(shape, "int32"),
                "beams": ops.zeros(shape, "int32"),
            },
        }
        given = {"memory": memory, "limits": limits}
        if source_mask is not None:
            given["source_mask"] = source_mask
        if self.coverage_penalty:
            rows["attended"] = ops.zeros((*shape, places))
        steps, rows = advance_until_done(
            lambda *args: self._advance(step, *args), 0, rows, given
        )
        alive = {
            "scores": self._score(
                rows["totals"],
                ops.expand_dims(limits, 1),
                rows["attended"],
                source_mask,
            ),
            "times": ops.zeros_like(first) + ops.expand_dims(limits, 1),
            "beams": first,
        }
        # They lie by their totals, which is no order of coverage.
        _, order = ops.top_k(alive["scores"], self.beam_width)
        alive = {name: gather(x, order) for name, x in alive.items()}
        best, has_end = self._rank(rows["finished"], alive)
        ids, alignments = write_out(
            rows["trace"],
            steps,
            best["times"],
            best["beams"],
            has_end,
            self.end_id,
            self.pad_id,
        )
        return Hypotheses(ids, best["scores"], alignments)

    def _advance(self, step, t, rows, given):
        """Extends the hypotheses by a token each."""
        source_mask = given.get("source_mask")
        done = rows["done"]
        states, memory = keras.tree.map_structure(
            flatten_beams, (rows["states"], given["memory"])
        )
        logits, states, weights = step(
            ops.reshape(rows["last"], (-1,)), states, memory
        )
        best, parents, tokens = self._expand(logits, rows["totals"])
        if source_mask is not None:
            weights = split_beams(self.alignments(weights), self.beam_width)
        attended = rows["attended"]
        if self.coverage_penalty:
            attended = attended + weights
        ended = self._ended(best, parents, tokens, attended, t, source_mask)
        ended["scores"] = ops.where(
            ops.expand_dims(done, 1), _IMPOSSIBLE, ended["scores"]
        )
        finished = self._best(rows["finished"], ended)

        is_end = ops.equal(tokens, self.end_id)
        living, order = ops.top_k(
            ops.where(is_end, _IMPOSSIBLE, best), self.beam_width
        )
        parents, last = gather(parents, order), gather(tokens, order)
        totals = ops.where(ops.expand_dims(done, 1), rows["totals"], living)
        if self.coverage_penalty:
            attended = ops.where(
                ops.expand_dims(done, (1, 2)),
                rows["attended"],
                gather(attended, parents),
            )
        now_done = self._is_done(t, given["limits"], totals, finished)
        return {
            "done": ops.logical_or(done, now_done),
            "last": last,
            "totals": totals,
            "states": keras.tree.map_structure(
                lambda x: gather(split_beams(x, self.beam_width), parents),
                states,
            ),
            "trace": note(
                rows["trace"], t, tokens=last, parents=parents, weights=weights
            ),
            "attended": attended,
            "finished": finished,
        }

    def _expand(self, logits, totals):
        """The best ways to go on.

        Returns:
            Total log-probability, beam it comes from and token of the
            `2 * beam_width` best, each of shape `(batch, candidates)`.
        """
        logits = ops.cast(logits, "float32")
        # The best of a sentence are among the best of its rows, and only
        # those need their log-probability.
        width = min(2 * self.beam_width, logits.shape[-1])
        best, tokens = top_k(logits, width)
        best -= ops.logsumexp(logits, axis=-1, keepdims=True)
        best = ops.expand_dims(totals, 2) + ops.reshape(
            best, (-1, self.beam_width, width)
        )
        shape = (-1, self.beam_width * width)
        best, index = ops.top_k(
            ops.reshape(best, shape),
            min(2 * self.beam_width, self.beam_width * width),
        )
        return best, index // width, gather(ops.reshape(tokens, shape), index)

    def _ended(self, best, parents, tokens, attended, t, source_mask):
        """The candidates that end here, with their final scores."""
        best, parents, tokens = (
            x[:, : self.beam_width] for x in (best, parents, tokens)
        )
        if self.coverage_penalty:
            attended = gather(attended, parents)
        ends = ops.logical_and(
            ops.equal(tokens, self.end_id), best > _IMPOSSIBLE / 2
        )
        scores = self._score(best, t + 1, attended, source_mask)
        return {
            "scores": ops.where(ends, scores, _IMPOSSIBLE),
            "times": ops.zeros_like(parents) + t,
            "beams": parents,
        }

    def _score(self, totals, lengths, attended, source_mask):
        scores = totals / self._penalty(lengths)
        if not self.coverage_penalty:
            return scores
        # A place that was never looked at is as good as hardly looked at.
        logs = ops.log(ops.clip(attended, 1e-6, 1.0))
        logs = ops.where(ops.expand_dims(source_mask, 1), logs, 0.0)
        return scores + self.coverage_penalty * ops.sum(logs, axis=-1)

    def _penalty(self, lengths):
        lengths = ops.cast(lengths, "float32")
        return ((5.0 + lengths) / 6.0) ** self.length_penalty

    def _best(self, finished, ended):
        """The `beam_width` best of two sets of finished hypotheses."""
        both = join(finished, ended)
        _, index = ops.top_k(both["scores"], self.beam_width)
        return {name: gather(x, index) for name, x in both.items()}

    def _is_done(self, t, limits, totals, finished):
        full = ops.all(finished["scores"] > _IMPOSSIBLE / 2, axis=1)
        last = finished["scores"][:, self.num_hypotheses - 1]
        total = ops.max(totals, axis=1)
        behind = total / self._penalty(t + 1) <= last
        # A total can only fall, and is divided by this at the most.
        beaten = total / self._penalty(limits) <= last
        done = ops.logical_or(ops.logical_and(full, behind), beaten)
        return ops.logical_or(done, t + 1 >= limits)

    def _rank(self, finished, alive):
        """The best hypotheses, and which of them are finished."""
        # Both are sorted: take what is finished, then what is not.
        count = ops.sum(
            ops.cast(finished["scores"] > _IMPOSSIBLE / 2, "int32"),
            axis=1,
            keepdims=True,
        )
        rank = ops.expand_dims(ops.arange(self.num_hypotheses), 0)
        has_end = rank < count
        index = ops.where(has_end, rank, self.beam_width + rank - count)
        both = join(finished, alive)
        return {name: gather(x, index) for name, x in both.items()}, has_end
