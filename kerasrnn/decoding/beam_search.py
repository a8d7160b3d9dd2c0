"""Beam search."""

from collections.abc import Iterable

import keras
from keras import ops

from kerasrnn.decoding.arguments import integer
from kerasrnn.decoding.arguments import number
from kerasrnn.decoding.banks import shared_out
from kerasrnn.decoding.banks import with_next_tokens
from kerasrnn.decoding.beams import best
from kerasrnn.decoding.beams import flatten_beams
from kerasrnn.decoding.beams import gather
from kerasrnn.decoding.beams import join
from kerasrnn.decoding.beams import keep
from kerasrnn.decoding.beams import split_beams
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.phrases import advanced
from kerasrnn.decoding.phrases import arranged
from kerasrnn.decoding.phrases import missing
from kerasrnn.decoding.search import Hypotheses
from kerasrnn.decoding.search import Search
from kerasrnn.decoding.search import Step
from kerasrnn.decoding.trace import empty_trace
from kerasrnn.decoding.trace import note
from kerasrnn.decoding.trace import write_out
from kerasrnn.decoding.unfinished import advance_until_done
from kerasrnn.typing import Config
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class BeamSearch(Search):
    """Keeps the `beam_width` best hypotheses at every step.

    Each step extends every live hypothesis by every token and takes the
    `2 * beam_width` best candidates by total log-probability. Those among the
    first `beam_width` that end are finished: they leave the beam, and their
    score is final. Candidates that end but rank lower are discarded. The
    `beam_width` best of those that do not end stay live. The score of a
    hypothesis `Y` of length `n` (including its end token) with alignments `a`
    is (Wu et al. 2016, equation 14)

        log P(Y) / ((5 + n) / 6)^length_penalty
            + coverage_penalty sum_i log(min(sum_t a_{t,i}, 1))

    A sentence is done when `beam_width` of its hypotheses are finished and no
    live one scores better than the `num_hypotheses`-th best of them, when no
    live one can still reach that score, or at its maximum length. With a width
    of 1 and no coverage penalty this is greedy search.

    Finished hypotheses come first, best score first. If they are too few, those
    cut at the maximum length follow, best score first; if these are too few as
    well, the last hypotheses are empty (see `Hypotheses`).

    Args:
        start_id: Integer id of the start token.
        end_id: Integer id of the end token.
        pad_id: Integer id of padding, which follows the end token.
        max_length: Positive integer, the maximum number of tokens of a
            hypothesis.
        beam_width: Positive integer, the number of live hypotheses.
        length_penalty: Float >= 0; 0 prefers short hypotheses, 1 roughly
            compares means over tokens.
        coverage_penalty: Float >= 0; above 0, hypotheses that leave source
            places unattended score lower. Needs alignments and `source_mask`.
        num_hypotheses: How many hypotheses to return for a sentence, from 1
            to `beam_width`.
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
        source_mask: Optional boolean tensor of shape `(batch, places)`. With
            it the alignments are returned.
        max_lengths: Optional integer tensor of shape `(batch,)`, the maximum
            number of tokens for each sentence, if below `max_length`.
        vocabulary: Optional integer tensor of shape `(batch, columns)`, for a
            step that scores a shortlist: the ids of the columns of its logits,
            all different and including `end_id`, at least `2 * beam_width`.
        static_sizes: Whether all sizes must follow from those of the
            arguments. XLA needs that in a graph for batches of any size.
        prefix: Optional integer tensor of shape `(batch, tokens)`, with which
            the hypotheses of each sentence begin, whatever else is refused.
            Here and below, negative ids are padding, on the right.
        required: Optional integer tensor of shape `(batch, phrases, tokens)`:
            phrases that occur in each hypothesis. If a hypothesis lacks one, it
            is not returned.
        forbidden: Optional integer tensor of that shape: phrases of which none
            occurs after the prefix.

    Returns:
        `Hypotheses`, the `num_hypotheses` best of each sentence.

    Raises:
        ValueError: when an argument is out of its range, `states` holds no
            tensor, there is a coverage penalty but no `source_mask`, or with
            `source_mask` the step returns no alignments.

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
        start_id: int = 1,
        end_id: int = 2,
        pad_id: int = 0,
        max_length: int = 100,
        beam_width: int = 5,
        length_penalty: float = 1.0,
        coverage_penalty: float = 0.0,
        num_hypotheses: int = 1,
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
        step: Step,
        states: Nest,
        memory: Nest | None = None,
        source_mask: Tensor | None = None,
        max_lengths: Tensor | None = None,
        vocabulary: Tensor | None = None,
        static_sizes: bool = False,
        prefix: Tensor | None = None,
        required: Tensor | None = None,
        forbidden: Tensor | None = None,
    ) -> Hypotheses:
        if self.coverage_penalty and source_mask is None:
            raise ValueError(
                "A coverage penalty needs `source_mask`. Received: "
                f"coverage_penalty={self.coverage_penalty}, source_mask=None"
            )
        rows, given = self.begin(
            states,
            memory,
            source_mask,
            max_lengths,
            vocabulary,
            arranged(prefix, required, forbidden),
            self.beam_width,
        )
        rows.update(self._first_beams(ops.shape(rows["last"]), source_mask))
        steps, rows = advance_until_done(
            lambda *args: self._advance(step, *args),
            0,
            rows,
            given,
            static_sizes,
        )
        living = rows["hypotheses"]["living"]
        if required is not None:
            lacks = missing(rows["progress"], given["phrases"]) > 0
            living["totals"] = ops.where(lacks, NEVER, living["totals"])
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
        """The beams of shape `(batch, beams)` before the first step."""
        places = None if source_mask is None else ops.shape(source_mask)[1]
        # At first there is one hypothesis, not `beam_width`.
        is_first = ops.equal(ops.arange(self.beam_width, dtype="int32"), 0)
        totals = ops.cast(ops.where(is_first, 0.0, NEVER), "float32")
        living = {"totals": ops.zeros(shape, "float32") + totals}
        if self.coverage_penalty:
            living["attended"] = ops.zeros((*shape, places), "float32")
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
        """Extends each live hypothesis by a token."""
        logits, allowed, states, weights = self.predict(step, t, rows, given)
        living, finished = (
            rows["hypotheses"][name] for name in ("living", "finished")
        )
        progress, phrases = rows["progress"], given["phrases"]
        candidates = self._expand(
            logits, allowed, living["totals"], progress, phrases
        )
        if self.coverage_penalty:
            candidates["attended"] = gather(
                living["attended"] + weights, candidates["parents"]
            )
        finishes, candidates["order"] = self._ordered(
            candidates, progress, given
        )
        ended = self._ended(t, candidates, finishes, given["source_mask"])
        finished = best(join(finished, ended), "scores", self.beam_width)
        living = best(candidates, "order", self.beam_width)
        living["totals"] = ops.where(
            living.pop("order") > NEVER, living["totals"], NEVER
        )
        parents, columns = living.pop("parents"), living.pop("columns")

        hypotheses = keep(
            rows["done"],
            rows["hypotheses"],
            {"living": living, "finished": finished},
        )
        now_done = self._is_done(t, given["limits"], **hypotheses)
        last = self.ids(columns, given)
        states, history, progress = keras.tree.map_structure(
            lambda x: gather(x, parents), (states, rows["history"], progress)
        )
        progress = advanced(progress, last, phrases)
        return {
            "done": ops.logical_or(rows["done"], now_done),
            "last": last,
            "states": states,
            "history": self.constraints.note(history, t, columns, last),
            "progress": keep(rows["done"], rows["progress"], progress),
            "hypotheses": hypotheses,
            "trace": note(
                rows["trace"], t, tokens=last, parents=parents, weights=weights
            ),
        }

    def _expand(self, logits, allowed, totals, progress, phrases):
        """The `2 * beam_width` best extensions of the live hypotheses.

        If they need phrases, it is so many of each beam, and the next token of
        each phrase.

        Returns:
            Dictionary of their total log-probabilities, the beams that they
            extend, and the columns of the logits that they choose, each of
            shape `(batch, candidates)`.
        """
        # The best of a sentence are among the best of its beams, and only
        # those need their log-probability.
        gains, columns = (
            split_beams(x, self.beam_width)
            for x in top_k(flatten_beams(allowed), 2 * self.beam_width)
        )
        if "required" in progress:
            gains, columns = with_next_tokens(
                gains, columns, allowed, progress, phrases
            )
        gains = gains - ops.logsumexp(logits, axis=2, keepdims=True)
        beams = ops.arange(self.beam_width, dtype="int32")[:, None]
        candidates = {
            "totals": totals[:, :, None] + gains,
            "parents": ops.zeros_like(columns) + beams,
            "columns": columns,
        }
        shape = (-1, self.beam_width * ops.shape(columns)[2])
        candidates = {
            name: ops.reshape(x, shape) for name, x in candidates.items()
        }
        if "required" in progress:
            return candidates
        return best(candidates, "totals", 2 * self.beam_width)

    def _ordered(self, candidates, progress, given):
        """Which candidates are finished, and the order of those that live."""
        totals = candidates["totals"]
        ids = self.ids(candidates["columns"], given)
        is_end = ops.equal(ids, self.end_id)
        if "required" in progress:
            progress = {
                kind: gather(x, candidates["parents"])
                for kind, x in progress.items()
            }
            progress = advanced(progress, ids, given["phrases"])
            return shared_out(
                totals, is_end, progress, given["phrases"], self.beam_width
            )
        place = ops.arange(ops.shape(totals)[1], dtype="int32")
        finishes = ops.logical_and(is_end, place < self.beam_width)
        return finishes, ops.where(is_end, NEVER, totals)

    def _ended(self, t, candidates, finishes, source_mask):
        """The scores of the candidates that are finished, `NEVER` of others."""
        scores = self._score(
            t + 1,
            source_mask,
            candidates["totals"],
            candidates.get("attended"),
        )
        return {
            "scores": ops.where(finishes, scores, NEVER),
            "times": ops.zeros_like(candidates["parents"]) + t,
            "beams": candidates["parents"],
        }

    def _score(self, lengths, source_mask, totals, attended=None):
        scores = totals / self._penalty(lengths)
        if attended is None:
            return scores
        # Bounded below: an unattended place must not cost an infinite score.
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
        beams = ops.arange(self.beam_width, dtype="int32")
        beams = ops.zeros_like(finished["beams"]) + beams
        cut = {
            "scores": self._score(lengths, given["source_mask"], **living),
            "times": ops.zeros_like(beams) + lengths,
            "beams": beams,
        }
        # The live hypotheses are sorted by their totals, without coverage.
        cut = best(cut, "scores", self.beam_width)
        count = ops.sum(
            ops.cast(finished["scores"] > NEVER, "int32"), axis=1, keepdims=True
        )
        rank = ops.arange(self.num_hypotheses, dtype="int32")
        rank = ops.expand_dims(rank, 0)
        has_end = rank < count
        index = ops.where(has_end, rank, self.beam_width + rank - count)
        both = join(finished, cut)
        return {name: gather(x, index) for name, x in both.items()}, has_end

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "beam_width": self.beam_width,
            "length_penalty": self.length_penalty,
            "coverage_penalty": self.coverage_penalty,
            "num_hypotheses": self.num_hypotheses,
        }
