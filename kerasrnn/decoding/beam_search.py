"""Beam search."""

import keras
from keras import ops

from kerasrnn.decoding.arguments import integer
from kerasrnn.decoding.arguments import number
from kerasrnn.decoding.beams import best
from kerasrnn.decoding.beams import flatten_beams
from kerasrnn.decoding.beams import gather
from kerasrnn.decoding.beams import join
from kerasrnn.decoding.beams import keep
from kerasrnn.decoding.beams import split_beams
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.search import Search
from kerasrnn.decoding.trace import empty_trace
from kerasrnn.decoding.trace import note
from kerasrnn.decoding.trace import write_out
from kerasrnn.decoding.unfinished import advance_until_done


@keras.saving.register_keras_serializable("kerasrnn")
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
            + coverage_penalty sum_i log(min(sum_t a_{t,i}, 1))

    A sentence is done when `beam_width` of its hypotheses are finished and no
    living one is ahead of the `num_hypotheses`-th best of them, when no
    living one can still reach that one, or at its maximum length. With a
    width of 1 and no coverage penalty this is greedy search.

    The hypotheses that ended come first, best score first; behind them, where
    too few ended, those that were cut at the maximum length, best score
    first; behind them, where there are no more, ones that do not exist.

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
        min_length: Integer from 0 to `max_length`, the fewest tokens before
            the end token.
        forbidden_ids: List of integer ids that are never produced.
        no_repeat_ngram: Integer n >= 0: no n-gram comes twice in a
            hypothesis. 0 allows all.

    The last three choose among hypotheses, and the scores stay those of the
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
            logits stand for, all different and `end_id` among them, at least
            `2 * beam_width`.

    Returns:
        `Hypotheses`, the `num_hypotheses` best of each sentence.

    Raises:
        ValueError: when an argument is out of its range, `states` holds no
            tensor, a coverage penalty is asked for without a `source_mask`,
            or alignments of a step without any.

    Example:

    >>> def step(ids, states, memory):          # counts 1, 2, 3, ...
    ...     return 9 * keras.ops.one_hot(ids + 1, 5), states, None
    >>> search = BeamSearch(start_id=0, end_id=4, pad_id=-1, max_length=6)
    >>> found = search(step, np.zeros((1, 1)))
    >>> ops.convert_to_numpy(found.ids).tolist()
    [[[1, 2, 3, 4, -1, -1]]]

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
        self.beam_width = integer("beam_width", beam_width, 1)
        self.length_penalty = number("length_penalty", length_penalty)
        self.coverage_penalty = number("coverage_penalty", coverage_penalty)
        self.num_hypotheses = integer("num_hypotheses", num_hypotheses, 1)
        if num_hypotheses > beam_width:
            raise ValueError(
                "`num_hypotheses` cannot exceed `beam_width`. Received: "
                f"num_hypotheses={num_hypotheses}, beam_width={beam_width}"
            )

    def __call__(
        self,
        step,
        states,
        memory=None,
        source_mask=None,
        max_lengths=None,
        vocabulary=None,
    ):
        if self.coverage_penalty and source_mask is None:
            raise ValueError(
                "A coverage penalty needs to know the source: pass "
                f"`source_mask`. Received: coverage_penalty="
                f"{self.coverage_penalty}, source_mask=None"
            )
        rows, given = self.begin(
            states,
            memory,
            source_mask,
            max_lengths,
            vocabulary,
            self.beam_width,
        )
        rows.update(self._first_beams(ops.shape(rows["last"]), source_mask))
        steps, rows = advance_until_done(
            lambda *args: self._advance(step, *args), 0, rows, given
        )
        found, has_end = self._rank(given, **rows["hypotheses"])
        written = write_out(
            rows["trace"],
            steps,
            found["times"],
            found["beams"],
            has_end,
            self.end_id,
            self.pad_id,
        )
        return self.hypotheses(found["scores"], **written)

    def _first_beams(self, shape, source_mask):
        """What beams of shape `(batch, beams)` hold before the first step."""
        places = None if source_mask is None else ops.shape(source_mask)[1]
        # There is one hypothesis yet, not `beam_width`.
        is_first = ops.equal(ops.arange(self.beam_width), 0)
        living = {"totals": ops.zeros(shape) + ops.where(is_first, 0.0, NEVER)}
        if self.coverage_penalty:
            living["attended"] = ops.zeros((*shape, places))
        finished = {
            "scores": ops.full(shape, NEVER, dtype="float32"),
            "times": ops.zeros(shape, "int32"),
            "beams": ops.zeros(shape, "int32"),
        }
        return {
            "hypotheses": {"living": living, "finished": finished},
            "trace": empty_trace(*shape, self.max_length, places),
        }

    def _advance(self, step, t, rows, given):
        """Extends the living hypotheses by a token each."""
        logits, allowed, states, weights = self.predict(step, t, rows, given)
        living, finished = (
            rows["hypotheses"][name] for name in ("living", "finished")
        )
        candidates = self._expand(logits, allowed, living["totals"])
        if self.coverage_penalty:
            candidates["attended"] = gather(
                living["attended"] + weights, candidates["parents"]
            )
        is_end = ops.equal(self.ids(candidates["columns"], given), self.end_id)
        ended = self._ended(t, candidates, is_end, given["source_mask"])
        finished = best(join(finished, ended), "scores", self.beam_width)
        candidates["totals"] = ops.where(is_end, NEVER, candidates["totals"])
        living = best(candidates, "totals", self.beam_width)
        parents, columns = living.pop("parents"), living.pop("columns")

        hypotheses = keep(
            rows["done"],
            rows["hypotheses"],
            {"living": living, "finished": finished},
        )
        now_done = self._is_done(t, given["limits"], **hypotheses)
        last = self.ids(columns, given)
        states, history = keras.tree.map_structure(
            lambda x: gather(x, parents), (states, rows["history"])
        )
        return {
            "done": ops.logical_or(rows["done"], now_done),
            "last": last,
            "states": states,
            "history": self.constraints.note(history, t, columns),
            "hypotheses": hypotheses,
            "trace": note(
                rows["trace"], t, tokens=last, parents=parents, weights=weights
            ),
        }

    def _expand(self, logits, allowed, totals):
        """The `2 * beam_width` best ways to go on.

        Returns:
            Dictionary of their total log-probabilities, the beams that they
            extend, and the columns of the logits that they choose, each of
            shape `(batch, candidates)`.
        """
        # The best of a sentence are among the best of its beams, and only
        # those need their log-probability.
        gains, columns = top_k(flatten_beams(allowed), 2 * self.beam_width)
        gains -= ops.logsumexp(flatten_beams(logits), axis=1, keepdims=True)
        totals = totals[:, :, None] + split_beams(gains, self.beam_width)
        width = totals.shape[2]
        shape = (-1, self.beam_width * width)
        totals, index = top_k(ops.reshape(totals, shape), 2 * self.beam_width)
        return {
            "totals": totals,
            "parents": index // width,
            "columns": gather(ops.reshape(columns, shape), index),
        }

    def _ended(self, t, candidates, is_end, source_mask):
        """Scores of those of the `beam_width` best candidates that end."""
        first = {
            name: x[:, : self.beam_width] for name, x in candidates.items()
        }
        scores = self._score(
            t + 1, source_mask, first["totals"], first.get("attended")
        )
        return {
            "scores": ops.where(is_end[:, : self.beam_width], scores, NEVER),
            "times": ops.zeros_like(first["parents"]) + t,
            "beams": first["parents"],
        }

    def _score(self, lengths, source_mask, totals, attended=None):
        scores = totals / self._penalty(lengths)
        if attended is None:
            return scores
        # A place that was never looked at is as good as hardly looked at.
        logs = ops.log(ops.clip(attended, 1e-6, 1.0))
        logs = ops.where(ops.expand_dims(source_mask, 1), logs, 0.0)
        return scores + self.coverage_penalty * ops.sum(logs, axis=-1)

    def _penalty(self, lengths):
        lengths = ops.cast(lengths, "float32")
        return ((5.0 + lengths) / 6.0) ** self.length_penalty

    def _is_done(self, t, limits, living, finished):
        full = ops.all(finished["scores"] > NEVER, axis=1)
        last = finished["scores"][:, self.num_hypotheses - 1]
        total = ops.max(living["totals"], axis=1)
        behind = total / self._penalty(t + 1) <= last
        # A total can only fall, and is divided by this at the most.
        beaten = total / self._penalty(limits) <= last
        done = ops.logical_or(ops.logical_and(full, behind), beaten)
        return ops.logical_or(done, t + 1 >= limits)

    def _rank(self, given, living, finished):
        """The hypotheses to return, and which of them ended."""
        lengths = ops.expand_dims(given["limits"], 1)
        beams = ops.zeros_like(finished["beams"]) + ops.arange(self.beam_width)
        cut = {
            "scores": self._score(lengths, given["source_mask"], **living),
            "times": ops.zeros_like(beams) + lengths,
            "beams": beams,
        }
        # They are sorted by their totals, not by coverage.
        cut = best(cut, "scores", self.beam_width)
        count = ops.sum(
            ops.cast(finished["scores"] > NEVER, "int32"), axis=1, keepdims=True
        )
        rank = ops.expand_dims(ops.arange(self.num_hypotheses), 0)
        has_end = rank < count
        index = ops.where(has_end, rank, self.beam_width + rank - count)
        both = join(finished, cut)
        return {name: gather(x, index) for name, x in both.items()}, has_end

    def get_config(self):
        return {
            **super().get_config(),
            "beam_width": self.beam_width,
            "length_penalty": self.length_penalty,
            "coverage_penalty": self.coverage_penalty,
            "num_hypotheses": self.num_hypotheses,
        }
