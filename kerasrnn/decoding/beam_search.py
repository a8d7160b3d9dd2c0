"""Beam search."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.decoding.beam_scores import BeamScores
from kerasrnn.decoding.beams import best
from kerasrnn.decoding.beams import join
from kerasrnn.decoding.beams import keep
from kerasrnn.decoding.candidates import expanded
from kerasrnn.decoding.candidates import in_order
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.hypotheses import Hypotheses
from kerasrnn.decoding.phrases import advanced
from kerasrnn.decoding.phrases import arranged
from kerasrnn.decoding.phrases import unmet
from kerasrnn.decoding.search import Search
from kerasrnn.decoding.search import Step
from kerasrnn.decoding.trace import empty_trace
from kerasrnn.decoding.trace import note
from kerasrnn.decoding.trace import write_out
from kerasrnn.decoding.unfinished import advance_until_done
from kerasrnn.gathering import gather
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

    where attention below 1e-6 counts as 1e-6. A sentence is done when
    `beam_width` of its hypotheses are finished and no live one, without its
    penalty for coverage, scores better than the `num_hypotheses`-th best of
    them; when no live one can still reach that score; or at its maximum
    length. With a width of 1 and no coverage penalty this is greedy search.

    Finished hypotheses come first, best score first. If they are too few, those
    cut at the maximum length follow, best score first; if these are too few as
    well, the last hypotheses are empty (see `Hypotheses`).

    Args:
        beam_width: Positive integer, the number of live hypotheses. A
            shortlist in `vocabulary` needs at least `2 * beam_width` columns.
        length_penalty: Float >= 0; 0 prefers short hypotheses, 1 roughly
            compares means over tokens.
        coverage_penalty: Float >= 0; above 0, hypotheses that leave source
            positions unattended score lower. Needs alignments and
            `source_mask`.
        num_hypotheses: How many hypotheses to return for a sentence, from 1
            to `beam_width`.

    Returns:
        `Hypotheses`, the `num_hypotheses` best of each sentence.

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
        *args: Any,
        beam_width: int = 5,
        length_penalty: float = 1.0,
        coverage_penalty: float = 0.0,
        num_hypotheses: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.beam_width = integer("beam_width", beam_width, 1)
        self.length_penalty = number(
            "length_penalty", length_penalty, minimum=0
        )
        self.coverage_penalty = number(
            "coverage_penalty", coverage_penalty, minimum=0
        )
        self.num_hypotheses = integer("num_hypotheses", num_hypotheses, 1)
        self._scores = BeamScores(
            beam_width, length_penalty, coverage_penalty, num_hypotheses
        )
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
        lacks = unmet(rows["progress"], given["phrases"], given["limits"])
        living["totals"] = ops.where(lacks, NEVER, living["totals"])
        found, has_end = self._scores.ranked(given, **rows["hypotheses"])
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
        positions = None if source_mask is None else ops.shape(source_mask)[1]
        # At first there is one hypothesis, not `beam_width`.
        is_first = ops.equal(ops.arange(self.beam_width, dtype="int32"), 0)
        totals = ops.cast(ops.where(is_first, 0.0, NEVER), "float32")
        living = {"totals": ops.zeros(shape, "float32") + totals}
        if self.coverage_penalty:
            living["attended"] = ops.zeros((*shape, positions), "float32")
        finished = {
            "scores": ops.full(shape, NEVER, dtype="float32"),
            "times": ops.zeros(shape, "int32"),
            "beams": ops.zeros(shape, "int32"),
        }
        return {
            "hypotheses": {"living": living, "finished": finished},
            "trace": empty_trace(*shape, self.max_length, positions),
        }

    def _advance(self, step, t, rows, given):
        """Extends each live hypothesis by a token."""
        logits, allowed, states, weights = self.predict(step, t, rows, given)
        living, finished = (
            rows["hypotheses"][name] for name in ("living", "finished")
        )
        progress, phrases = rows["progress"], given["phrases"]
        candidates = expanded(
            logits,
            allowed,
            living["totals"],
            progress,
            phrases,
            self.beam_width,
        )
        if self.coverage_penalty:
            candidates["attended"] = gather(
                living["attended"] + weights, candidates["parents"]
            )
        ids = self.ids(candidates["columns"], given)
        finishes, candidates["order"] = in_order(
            candidates, ids, self.end_id, progress, phrases, self.beam_width
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
        now_done = self._scores.is_done(t, given["limits"], **hypotheses)
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

    def _ended(self, t, candidates, finishes, source_mask):
        """The scores of the candidates that are finished, `NEVER` of others."""
        scores = self._scores.of(
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
